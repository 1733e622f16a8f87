"""Bind: the arguments of a call to the parameters of the function, whatever way they were passed."""

from __future__ import absolute_import, division, print_function

import functools

from . import compat
from . import errors


class Signature(object):
  """How a function is called; made once, when it is decorated."""

  __slots__ = ("_spec", "_simple", "count", "_first_args", "_first_kwargs", "target")

  def __init__(self, f):
    # A partial is bound through: what it has frozen is an argument like any other, so that the gradient function of
    # the frozen function, which returns a gradient for each of its parameters, stays right.
    self._first_args, self._first_kwargs = (), {}
    while isinstance(f, functools.partial):
      self._first_args = f.args + self._first_args
      self._first_kwargs = dict(f.keywords or {}, **self._first_kwargs)
      f = f.func
    self.target = f
    self._spec = spec = compat.argspec(f)
    self.count = -1 if spec is None else len(spec.names)  # of the parameters that can be passed by position
    self._simple = (spec is not None and not spec.keyword_only and
                    not self._first_args and not self._first_kwargs)

  def bind(self, function, args, kwargs):
    """Returns `(args, kwargs)` with which to call `target`: each parameter once, defaults filled in.

    Raises:
      TypeError: the arguments do not bind; the text says which parameter and shows the signature.
    """
    if not kwargs and self._simple and len(args) == self.count:
      return args, kwargs
    if self._first_args or self._first_kwargs:
      args = self._first_args + args
      kwargs = dict(self._first_kwargs, **kwargs)
    spec = self._spec
    if spec is None:
      return args, kwargs
    if len(args) > self.count and not spec.varargs:
      self._fail(function, "takes %d positional argument%s but %d were given" %
                 (self.count, "" if self.count == 1 else "s", len(args)))
    bound, rest = list(args), dict(kwargs)
    for name in spec.names[:len(args)]:
      if name in rest and not spec.varkw:
        self._fail(function, "got two values for argument '%s'" % name)
    for name in spec.names[len(args):]:
      if name in rest:
        bound.append(rest.pop(name))
      elif name in spec.defaults:
        bound.append(spec.defaults[name])
      else:
        self._fail(function, "argument '%s' is missing" % name)
    keywords = {}
    for name in spec.keyword_only:
      if name in rest:
        keywords[name] = rest.pop(name)
      elif name in spec.keyword_defaults:
        keywords[name] = spec.keyword_defaults[name]
      else:
        self._fail(function, "keyword-only argument '%s' is missing" % name)
    if rest and not spec.varkw:
      self._fail(function, "got an unexpected keyword argument '%s'" % sorted(rest)[0])
    twice = sorted(set(rest).intersection(spec.names))
    if twice:
      self._fail(function, "got two values for argument '%s'" % twice[0])
    keywords.update(rest)
    return tuple(bound), keywords

  def names(self, count, kwargs):
    """The names of `count` bound positional arguments and of the keywords `kwargs`, in signature order."""
    spec = self._spec
    named = list(spec.names) if spec else []
    more = (spec.varargs if spec else None) or "args"
    positional = ["'%s'" % n for n in named[:count]]
    positional += ["'*%s'[%d]" % (more, i) for i in range(count - len(positional))]
    return positional + ["'%s'" % n for n in self.ordered(kwargs)]

  def ordered(self, kwargs):
    """The names in `kwargs` in signature order: keyword-only parameters as declared, then `**kwargs` sorted by name."""
    if not kwargs:
      return []
    declared = self._spec.keyword_only if self._spec else ()
    return [n for n in declared if n in kwargs] + sorted(n for n in kwargs if n not in declared)

  def _fail(self, function, what):
    raise errors.make(TypeError, function, "%s. Expected arguments %s. Call it as you would call the function without "
                      "the decorator." % (what, self._spec))
