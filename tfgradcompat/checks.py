"""What the ready-made functions ask of their arguments.

A value is looked at where it is known without running anything: numbers, constants, and tensors of eager mode.
"""

from __future__ import absolute_import, division, print_function

from . import compat
from . import errors
from . import leaves
from . import nests


def differentiable(api, who, name, x, complex_allowed=True):
  """The leaves of `x` that are tensors, among them at least one of floating or complex numbers.

  Raises:
    TypeError: there is none, so that no gradient can flow; or a complex one where they are not allowed.
  """
  found, held = False, tensors(api, x)
  for tensor in held:
    dtype = tensor.dtype
    if dtype.is_complex and not complex_allowed:
      raise errors.make(TypeError, None, "%s: argument '%s' holds a complex tensor (%s); expected real ones, since complex "
                        "numbers have no order. Clip by norm, or its real and imaginary part apart." %
                        (who, name, dtype.name))
    found = found or api.is_differentiable(dtype)
  if not found:
    got = "a tensor of %s" % x.dtype.name if isinstance(x, api.Tensor) else errors.kind_of(x)
    raise errors.make(TypeError, None, "%s: argument '%s' must hold a tensor of floating or complex numbers, or no gradient "
                      "flows through it; got %s. Pass a tensor, a variable, a numpy array or a nest of them, cast to a "
                      "floating dtype." % (who, name, got))
  return held


def tensors(api, x):
  """The tensors in `x`; of variables and arrays their values, of sparse and ragged tensors too."""
  if isinstance(x, api.Tensor):
    return [x]
  found = []

  def visit(leaf):
    kind = api.kind(leaf)
    if kind in (leaves.SPARSE, leaves.RAGGED, leaves.SLICES):
      leaf = api.values_of(leaf, kind)
      kind = leaves.TENSOR
    if kind in (leaves.TENSOR, leaves.VARIABLE, leaves.ARRAY):
      found.append(leaf if kind is leaves.TENSOR else api.convert_to_tensor(leaf))
    return leaf
  nests.rebuild(x, visit)
  return found


def number(api, who, name, value, complex_allowed=False, negative_allowed=True, infinite_allowed=False):
  """Whether `value` is a number or a tensor of numbers, and which one, as far as that is known. Returns its known value.

  Raises:
    TypeError: it is neither, or complex where that is not allowed.
    ValueError: it is NaN, or infinite or negative where that is not allowed.
  """
  np = api.np
  kind = api.kind(value)
  if kind in (leaves.VARIABLE, leaves.ARRAY, leaves.TENSOR):
    dtype = api.tf.as_dtype(value.dtype).base_dtype
    good, is_complex = dtype.is_integer or api.is_differentiable(dtype), dtype.is_complex
  else:
    good = isinstance(value, (float, complex, np.number) + compat.integer_types) and not isinstance(value, bool)
    is_complex = isinstance(value, (complex, np.complexfloating))
  if not good or is_complex and not complex_allowed:
    raise errors.make(TypeError, None, "%s: %s must be a %snumber, or a tensor or variable of numbers; got %s. Pass a float "
                      "or a tensor." % (who, name, "" if complex_allowed else "real ", errors.kind_of(value)))
  known = _known(api, kind, value)
  if known is None:
    return None
  expected = None
  if np.isnan(known).any():
    expected = "not be NaN"
  elif not infinite_allowed and np.isinf(known).any():
    expected = "be finite"
  elif not negative_allowed and (known < 0).any():
    expected = "not be negative"
  if expected:
    raise errors.make(ValueError, None, "%s: %s must %s; got %s. Pass another number." % (who, name, expected, errors.kind_of(value)))
  return known


def _known(api, kind, value):
  if kind is leaves.VARIABLE:
    return None
  if kind is leaves.TENSOR:
    value = api.constant_value(value)
  if value is None:
    return None
  known = api.np.asarray(value)
  return known.astype(api.np.float64) if known.dtype.kind not in "iufc" else known  # bfloat16


def scalar(api, who, name, value):
  """Raises ValueError where `value` has a shape that is known and not ()."""
  shape = shape_of(api, value)
  if shape:
    raise errors.make(ValueError, None, "%s: %s must be a number or a scalar tensor; got shape (%s). Reduce it to one number." %
                      (who, name, ", ".join("?" if n is None else str(n) for n in shape)))


def norm(api, who, value):
  """Raises TypeError or ValueError where `value` is no norm."""
  number(api, who, "norm", value, negative_allowed=False)
  scalar(api, who, "norm", value)


def bounds(api, who, lo, hi):
  """The known values of `lo` and `hi`; raises TypeError or ValueError where they are no bounds."""
  known = [number(api, who, name, bound, infinite_allowed=True) for name, bound in (("lo", lo), ("hi", hi))]
  if all(k is not None for k in known) and api.np.any(known[0] > known[1]):
    raise errors.make(ValueError, None, "%s: lo must not be greater than hi; got lo=%s and hi=%s. Exchange them." %
                      (who, errors.kind_of(lo), errors.kind_of(hi)))
  return known


def shape_of(api, value):
  """The static shape of a number or tensor, None if it is not known."""
  if isinstance(value, api.Tensor):
    return api.shape(value)
  return list(getattr(value, "shape", ()))


def broadcasts(api, who, name, value, held):
  """Whether `value` takes the shape of each tensor in `held` for sure; if not, the run must tell.

  Raises:
    ValueError: it cannot.
  """
  small = shape_of(api, value)
  if small == []:
    return True
  certain = True
  for tensor in held:
    big = api.shape(tensor)
    if small is None or big is None:
      certain = False
      continue
    pairs = list(zip(small[::-1], big[::-1]))
    if len(small) > len(big) or any(s not in (1, None, b) and b is not None for s, b in pairs):
      raise errors.make(ValueError, None, "%s: %s has shape (%s), which does not broadcast to (%s), the shape of a tensor whose "
                        "gradient it changes. Pass a number or a tensor of that shape." % (
                            who, name, _text(small), _text(big)))
    certain = certain and all(s == 1 or s is not None and s == b for s, b in pairs)
  return certain


def _text(shape):
  return ", ".join("?" if n is None else str(n) for n in shape)


def text(who, name, value):
  """Raises TypeError where `value` is no string."""
  if not isinstance(value, compat.string_types):
    raise errors.make(TypeError, None, "%s: %s must be a string; got %s." % (who, name, errors.kind_of(value)))


def integer(who, name, value):
  """Raises TypeError where `value` is no integer."""
  if not isinstance(value, compat.integer_types) or isinstance(value, bool):
    raise errors.make(TypeError, None, "%s: %s must be an integer; got %s." % (who, name, errors.kind_of(value)))


def name_of(variable):
  """How errors name a variable, or what stands in its place."""
  return "variable '%s'" % variable.name if hasattr(variable, "name") else errors.kind_of(variable)


def function(who, name, value):
  """Raises TypeError where `value` cannot be called."""
  if not callable(value):
    raise errors.make(TypeError, None, "%s: %s must be a function; got %s." % (who, name, errors.kind_of(value)))
