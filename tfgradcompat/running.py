"""Run: the user's function, and whether it returned what it must."""

from __future__ import absolute_import, division, print_function

from . import errors


def run(api, function, taken):
  """Calls the user's function and looks at what it returned."""
  returned = api.converted(function.signature.target)(*taken.args, **taken.kwargs)
  if not isinstance(returned, tuple) and not isinstance(returned, list) or len(returned) != 2:
    got = "%d values" % len(returned) if isinstance(returned, (tuple, list)) else errors.kind_of(returned)
    raise errors.make(TypeError, function, "must return a pair (result, gradient function); it returned %s. End it with "
                      "`return result, in_grad`." % got)
  result, in_grad = returned
  if not callable(in_grad):
    raise errors.make(TypeError, function, "must return a pair (result, gradient function); the second of the two is "
                      "not callable but %s. Return a function that takes the upstream gradients." %
                      errors.kind_of(in_grad))
  return result, api.converted(in_grad)
