"""A decorated function: its signature, and the names by which errors and the gradient registry know it."""

from __future__ import absolute_import, division, print_function

import re
import sys

from . import signature

# What AutoGraph puts in front of the names of functions that it has converted.
_CONVERTED = re.compile(r"^.*\btf__")


def unconverted(f):
  """`f`, which AutoGraph leaves as it is, and with it all of this package that `f` calls."""
  # `autograph_info__` from 1.13 on, `__ag_compiled` in 1.14 to 2.2.
  f.autograph_info__ = None
  setattr(f, "__ag_compiled", True)
  return f


class Function(object):
  """A decorated function."""

  __slots__ = ("signature", "name", "qualified_name", "registered", "_place")

  def __init__(self, f):
    self.signature = signature.Signature(f)
    target = self.signature.target
    if not hasattr(target, "__name__"):  # an object with __call__
      target = type(target)
    self.name = target.__name__
    qualified_name = _CONVERTED.sub("", getattr(target, "__qualname__", target.__name__))
    self.qualified_name = "%s.%s" % (target.__module__, qualified_name)
    self._place = _place(getattr(target, "__code__", None) or getattr(
        getattr(target, "__call__", None), "__code__", None))
    self.registered = None  # the attribute that names its entry in TensorFlow's gradient registry

  def describe(self):
    """`module.qualname (file:line)`, with which every error begins."""
    return "%s (%s:%d)" % ((self.qualified_name,) + self._place) if self._place else self.qualified_name


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
