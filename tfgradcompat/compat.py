"""What differs between Python 2.7 and 3, once."""

from __future__ import absolute_import, division, print_function

import functools
import types

try:
  from collections.abc import Mapping  # Python 3.3 and newer
except ImportError:
  from collections import Mapping  # Python 2

import six

integer_types = six.integer_types
string_types = six.string_types
_VARARGS, _VARKW = 0x04, 0x08  # flags of code, on every Python


class ArgSpec(object):
  """The parameters of a function: `inspect.getfullargspec` on every Python."""

  __slots__ = ("names", "varargs", "varkw", "defaults", "keyword_only", "keyword_defaults")

  def __init__(self, names, varargs, varkw, defaults, keyword_only=(), keyword_defaults=None):
    self.names = tuple(names)
    self.varargs = varargs
    self.varkw = varkw
    # {name: default} of the last positional parameters.
    self.defaults = dict(zip(self.names[len(self.names) - len(defaults or ()):], defaults or ()))
    self.keyword_only = tuple(keyword_only)
    self.keyword_defaults = dict(keyword_defaults or {})

  def count(self):
    """The number of positional parameters, `variables` not counted."""
    return len([n for n in self.names if n != "variables"])

  def takes(self, count):
    """Whether it can be called with `count` positional arguments, the rest by keyword or default."""
    required = [n for n in self.names if n not in self.defaults and n != "variables"]
    return len(required) <= count and (bool(self.varargs) or count <= len(self.names))

  def __str__(self):
    parts = ["%s=%r" % (n, self.defaults[n]) if n in self.defaults else n for n in self.names]
    if self.varargs or self.keyword_only:
      parts.append("*%s" % (self.varargs or ""))
    parts += ["%s=%r" % (n, self.keyword_defaults[n]) if n in self.keyword_defaults else n
              for n in self.keyword_only]
    if self.varkw:
      parts.append("**%s" % self.varkw)
    return "(%s)" % ", ".join(parts)


class NoContext(object):
  """A context that does nothing: `contextlib.nullcontext` on every Python."""

  def __enter__(self):
    return self

  def __exit__(self, *unused):
    return False


def argspec(f):
  """The parameters with which `f` is called (without a bound `self`), or None where Python cannot tell.

  `__wrapped__` is not followed: what counts is how `f` itself can be called.
  """
  if isinstance(f, six.class_types):
    return None
  if not isinstance(f, (types.FunctionType, types.MethodType)):
    if isinstance(f, types.BuiltinFunctionType) or not isinstance(getattr(f, "__call__", None), types.MethodType):
      return None
    f = f.__call__
  function = getattr(f, "__func__", f)
  try:
    spec = _written(function) if isinstance(function, types.FunctionType) and not hasattr(
        function, "__signature__") else _inspected(f)
  except TypeError:  # a callable written in C
    return None
  if any(not isinstance(name, str) or name.startswith(".") for name in spec.names):
    return None  # Python 2's `def f(a, (b, c))`
  if isinstance(f, types.MethodType) and f.__self__ is not None:
    spec.names = spec.names[1:]
  return spec


def _written(function):
  """The parameters of a function written in Python, as they stand in its code: ten times as fast as `inspect`."""
  code = function.__code__
  names, count, only = code.co_varnames, code.co_argcount, getattr(code, "co_kwonlyargcount", 0)
  rest = iter(names[count + only:])
  varargs = next(rest) if code.co_flags & _VARARGS else None
  varkw = next(rest) if code.co_flags & _VARKW else None
  return ArgSpec(names[:count], varargs, varkw, function.__defaults__, names[count:count + only],
                 getattr(function, "__kwdefaults__", None))


def _inspected(f):
  import inspect  # not at the top: that takes longer than all of this package
  if six.PY2:
    return ArgSpec(*inspect.getargspec(f))
  s = inspect.getfullargspec(f)
  return ArgSpec(s.args, s.varargs, s.varkw, s.defaults, s.kwonlyargs, s.kwonlydefaults)


def accepts_keyword(f, name):
  """Whether `f(..., name=...)` can be called."""
  while isinstance(f, functools.partial):
    f = f.func
  spec = argspec(f)
  return spec is None or bool(spec.varkw) or name in spec.names or name in spec.keyword_only


def raise_bare(error):
  """Raises `error` as if from here: without the frames and the context that led to it."""
  error.__traceback__ = None
  error.__cause__ = None
  error.__suppress_context__ = True
  raise error


def closure(f):
  """What the function `f` took from its closure."""
  found = []
  for cell in getattr(f, "__closure__", None) or ():
    try:
      found.append(cell.cell_contents)
    except ValueError:  # empty: assigned on a branch that was not taken
      pass
  return found
