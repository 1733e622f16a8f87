"""Run: the user's function, and whether it returned what it must."""

from __future__ import absolute_import, division, print_function

from . import compat
from . import errors


class Gradient(object):
  """The user's gradient function, as it was given and as AutoGraph converted it."""

  __slots__ = ("given", "_function", "_converted")

  def __init__(self, api, function, in_grad):
    self.given = in_grad
    self._function = function
    self._converted = api.converted(in_grad)

  def __call__(self, dys, variables):
    """Raises TypeError where it takes another number of upstream gradients than the function has results."""
    try:
      return self._converted(*dys, variables=variables) if variables else self._converted(*dys)
    except TypeError:
      spec = compat.argspec(self.given)
      if spec is None or spec.takes(len(dys)):
        raise
      raise errors.make(
          TypeError, self._function, "its gradient function takes %d upstream gradient%s, %s; expected %d, one for each "
          "tensor of the result. Let it take %d." % (
              spec.count(), "" if spec.count() == 1 else "s", spec, len(dys), len(dys)))


def run(api, function, args, kwargs):
  """Calls the user's function and looks at what it returned."""
  returned = api.converted(function.signature.target)(*args, **kwargs)
  if not isinstance(returned, (tuple, list)) or len(returned) != 2:
    got = "%d values" % len(returned) if isinstance(returned, (tuple, list)) else errors.kind_of(returned)
    raise errors.make(TypeError, function, "must return a pair (result, gradient function); it returned %s. End it with "
                      "`return result, in_grad`." % got)
  result, in_grad = returned
  if not callable(in_grad):
    raise errors.make(TypeError, function, "must return a pair (result, gradient function); the second of the two is "
                      "not callable but %s. Return a function that takes the upstream gradients." %
                      errors.kind_of(in_grad))
  return result, in_grad
