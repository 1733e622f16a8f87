"""Errors: who, where, expected, got, remedy.

Every error is of the built-in type that the contract names, almost never of a subclass: AutoGraph re-raises an exception
from a converted function as its own type only when that type is a built-in one.
"""

from __future__ import absolute_import, division, print_function

from . import compat

#: The types in which this package's errors come.
TYPES = (ImportError, LookupError, RuntimeError, TypeError, ValueError)


class NoGradientError(LookupError):
  """A gradient was asked for of something that has none."""

  __init__ = Exception.__init__  # by which AutoGraph knows an exception that it can raise again; LookupError it cannot


_MARK = "_raised_by_custom_grad"


def make(kind, function, message):
  """An exception of type `kind` about the decorated `function` (None where there is none yet)."""
  error = kind(message if function is None else "%s: %s" % (function.describe(), message))
  setattr(error, _MARK, True)
  return error


def is_ours(error):
  """Whether `make` made this exception; others come from the user's function and pass unchanged."""
  return getattr(error, _MARK, False)


def reraise(error):
  """Raises one of our errors without our own frames, so that the traceback ends at the user's call."""
  compat.raise_bare(error)


def kind_of(value):
  """How an error names a value that should have been something else."""
  if value is None:
    return "None"
  text = repr(value)
  if len(text) > 80:
    text = text[:77] + "..."
  return "%s %s" % (type(value).__name__, text)
