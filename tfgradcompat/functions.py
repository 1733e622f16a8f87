"""A decorated function: its signature, and the names by which errors and the gradient registry know it."""

from __future__ import absolute_import, division, print_function

import functools
import sys

from . import imported
from . import signature

# What AutoGraph puts in front of the names of functions that it has converted, and of lambdas.
_CONVERTED, _CONVERTED_LAMBDA = "tf__", "outer_factory.<locals>.inner_factory.<locals>."

# What names of scopes may hold. (No regular expressions in what is imported at once: they take half of its time.)
_IN_SCOPES = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")


# Where a decorated function has its `Function`.
ATTRIBUTE = "_custom_grad_function"


def of(decorated):
  """The `Function` of a decorated function; None if this copy of the package has not decorated it."""
  function = getattr(decorated, ATTRIBUTE, None)
  return function if isinstance(function, Function) else None


def unconverted(f):
  """`f`, which AutoGraph leaves as it is, and with it all of this package that `f` calls."""
  # `autograph_info__` from 1.13 on, `__ag_compiled` in 1.14 to 2.2.
  f.autograph_info__ = None
  setattr(f, "__ag_compiled", True)
  return f


class Function(object):
  """A decorated function."""

  __slots__ = ("signature", "name", "qualified_name", "registered", "can_be_found", "suffix", "scope", "_place", "__weakref__")

  def __init__(self, f):
    self.signature = signature.Signature(f)
    self.registered = None  # the attribute that names its entry in TensorFlow's gradient registry
    self._name_after(self.signature.target)

  def _name_after(self, target):
    if not hasattr(target, "__name__"):  # an object with __call__
      target = type(target)
    self.name = target.__name__
    qualified_name = _name_before_conversion(getattr(target, "__qualname__", target.__name__))
    module = getattr(target, "__module__", None) or type(target).__module__  # functions written in C may have none
    self.qualified_name = "%s.%s" % (module, qualified_name)
    self._place = _place(getattr(target, "__code__", None) or getattr(
        getattr(target, "__call__", None), "__code__", None))
    # What its operations are called, so that TensorFlow's own errors name it too.
    self.scope = "".join([c for c in self.qualified_name if c in _IN_SCOPES]).lstrip("_-") or "custom_grad"
    # Whether it can be found by its name where its graph has been imported, and what tells it from others of the name.
    self.can_be_found = imported.can_be_found(target)
    number = imported.number(self.qualified_name, target.__code__) if self.can_be_found else 1
    self.suffix = "" if number == 1 else "#%d" % number

  def shown_as(self, f):
    """The same function, known by the name and place of the user's function `f`, for which it stands."""
    other = Function.__new__(Function)
    other.signature, other.registered = self.signature, None
    while isinstance(f, functools.partial):
      f = f.func
    other._name_after(f)
    other.can_be_found, other.suffix = False, "#" + self.qualified_name  # `f` may be decorated itself
    return other

  def describe(self):
    """`module.qualname (file:line)`, with which every error begins."""
    return "%s (%s:%d)" % ((self.qualified_name,) + self._place) if self._place else self.qualified_name


def _name_before_conversion(name):
  """The qualified name that a function had before AutoGraph converted it."""
  names = name.split(".")
  for i in reversed(range(len(names))):
    if names[i].startswith(_CONVERTED):
      return ".".join([names[i][len(_CONVERTED):]] + names[i + 1:])
  return name[len(_CONVERTED_LAMBDA):] if name.startswith(_CONVERTED_LAMBDA) else name


def _place(code):
  """`(file, line)` of a function; of the user's own where AutoGraph converted the code that defines it."""
  if code is None:
    return None
  place = code.co_filename, code.co_firstlineno
  frame = sys._getframe(1)
  while frame is not None:
    # The frame of AutoGraph that runs converted code knows where each of its lines came from.
    if "autograph" in frame.f_code.co_filename:
      lines = getattr(frame.f_locals.get("converted_f"), "ag_source_map", None) or {}
      for generated, origin in lines.items():
        if (generated.filename, generated.lineno) == place:
          return origin.loc.filename, origin.loc.lineno
    frame = frame.f_back
  return place
