"""What differs between Python 2.7 and 3, once."""

from __future__ import absolute_import, division, print_function

import functools
import inspect

try:
  from collections.abc import Mapping  # Python 3.3 and newer
except ImportError:
  from collections import Mapping  # Python 2

import six

integer_types = six.integer_types
string_types = six.string_types


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


def argspec(f):
  """The parameters with which `f` is called (without a bound `self`), or None where Python cannot tell.

  `__wrapped__` is not followed: what counts is how `f` itself can be called.
  """
  if inspect.isclass(f):
    return None
  if not (inspect.isfunction(f) or inspect.ismethod(f)):
    if inspect.isbuiltin(f) or not inspect.ismethod(getattr(f, "__call__", None)):
      return None
    f = f.__call__
  try:
    if six.PY2:
      spec = ArgSpec(*inspect.getargspec(f))
    else:
      s = inspect.getfullargspec(f)
      spec = ArgSpec(s.args, s.varargs, s.varkw, s.defaults, s.kwonlyargs, s.kwonlydefaults)
  except TypeError:  # a callable written in C
    return None
  if any(not isinstance(name, str) for name in spec.names):
    return None  # Python 2's `def f(a, (b, c))`
  if inspect.ismethod(f) and f.__self__ is not None:
    spec.names = spec.names[1:]
  return spec


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
