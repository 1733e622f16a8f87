"""Check: what goes into the user's gradient function, and what comes back from it.

`upstream` prepares the `dy`s, `downstream` turns whatever `in_grad` returned into one gradient per input, of the
input's dtype and shape, or raises. Both run where the gradient is built: at `tape.gradient` or `tf.gradients`.
"""

from __future__ import absolute_import, division, print_function

import itertools

from . import compat
from . import errors
from . import leaves
from . import nests


_LATER = object()


class Port(object):
  """One tensor that enters or leaves a decorated function, as far as its gradient must match it.

  In a graph it holds the tensor, which the graph holds anyway; in eager mode it would keep the tensor's memory. In a
  plain graph the shape is asked for only when the gradient is built, since old releases infer shapes when they are
  asked; in the body of a function those cannot any more once it has been built.
  """

  __slots__ = ("dtype", "tensor", "_api", "_shape")

  def __init__(self, api, tensor, graph):
    self._api = api
    if graph is None:  # a tuple then: to read the shape of an eager tensor otherwise takes longer
      self.dtype, self.tensor, self._shape = tensor.dtype, None, tensor._shape_tuple()
    else:
      self.dtype, self.tensor = tensor.dtype.base_dtype, tensor
      self._shape = api.shape(tensor) if api.is_capturing(graph) else _LATER

  @property
  def shape(self):
    """A list with None for unknown dimensions, or None for an unknown rank."""
    if self._shape is _LATER:
      return self._api.shape(self.tensor)
    return list(self._shape) if self.tensor is None else self._shape

  def is_like(self, value):
    """Whether `value` is an eager tensor of the same dtype and shape: most gradients are, and a closer look takes its time."""
    return type(value) is self._api.EagerTensor and value.dtype is self.dtype and value._shape_tuple() == self._shape

  def __str__(self):
    return "%s %s" % (self.dtype.name, shape_text(self.shape))


def shape_text(shape):
  if shape is None:
    return "of unknown shape"
  return "(%s%s)" % (", ".join("?" if n is None else str(n) for n in shape), "," if len(shape) == 1 else "")


def upstream(api, outputs, dys):
  """The upstream gradients as `in_grad` gets them, one per output.

  Dense, of the output's dtype and static shape; zeros where the loss does not use the output; None for an output that
  is not differentiable.

  Args:
    outputs: the `Port`s of the results.
    dys: what TensorFlow hands over, one per differentiable output.
  """
  prepared, dys = [], iter(dys)
  for port in outputs:
    if not api.is_differentiable(port.dtype):
      prepared.append(None)
      continue
    dy = next(dys)
    if dy is None or api.is_stale_zero(dy, port.dtype):
      dy = api.tf.zeros(port.shape, port.dtype) if port.tensor is None else api.tf.zeros_like(port.tensor)
    else:
      if not isinstance(dy, api.Tensor):
        dy = api.convert_to_tensor(dy)  # IndexedSlices
      if port.tensor is not None and port.shape is not None:
        dy.set_shape(port.shape)
    prepared.append(dy)
  return prepared


def downstream(api, call, returned):
  """One gradient per input and per variable of `call` from what `in_grad` returned.

  Raises:
    ValueError: wrong number, structure or shape.
    TypeError: a gradient of a wrong kind.
  """
  if call.variables:
    returned, for_variables = _split(call, returned)
  per_input = _one_per_input(call, returned)
  matched = [_matched(api, call, i, port, gradient) for i, (port, gradient) in enumerate(zip(call.inputs, per_input))]
  for port, gradient in zip(call.variable_ports, for_variables if call.variables else ()):
    matched.append(_matched(api, call, len(matched), port, gradient))
  return matched


def _split(call, returned):
  """`(input_grads, variable_grads)` of a function that read variables."""
  names = ", ".join("'%s'" % v.name for v in call.variables)
  if not isinstance(returned, (list, tuple)) or len(returned) != 2:
    got = ("%d values" % len(returned)) if isinstance(returned, (list, tuple)) else errors.kind_of(returned)
    raise errors.make(ValueError, call.function, "its gradient function was called with variables=[%s] and must return "
                      "a pair (input_grads, variable_grads); got %s. Return (input_grads, variable_grads), the second a "
                      "list with one gradient per variable." % (names, got))
  input_grads, variable_grads = returned
  if not isinstance(variable_grads, (list, tuple)):
    variable_grads = [variable_grads]
  if len(variable_grads) != len(call.variables):
    raise errors.make(ValueError, call.function, "its gradient function returned %d variable gradients; expected %d, "
                      "one for each of variables=[%s]. Return a list in that order, with None for one that gets none." %
                      (len(variable_grads), len(call.variables), names))
  return input_grads, variable_grads


# ---- number and structure

def _one_per_input(call, returned):
  """The gradients in the order of the inputs, whichever of the allowed forms they were returned in."""
  count = len(call.inputs)
  if not nests.is_nest(returned):
    if count == 1:
      return [returned]
    if count == 0 and returned is None:
      return []
    _fail_count(call, 1, errors.kind_of(returned))
  if isinstance(returned, (list, tuple)) and not any(nests.is_nest(g) for g in returned):
    if len(returned) == count:
      return list(returned)
    if len(returned) == call.leaf_count:  # native's habit: numbers and objects count too
      return [returned[position] for position in call.positions]
  # In the structure of the arguments: of all, of those that hold tensors, or of the only one that does.
  holding = [node for node in call.skeleton if nests.holds_numbers(node)]
  for node in [_list(call.skeleton), _list(holding)] + holding[:1]:
    found = [None] * count
    if nests.match(node, returned, found):
      return found
  numbers = itertools.count()
  got = nests.outline(returned, numbers)
  if next(numbers) != count:
    _fail_count(call, next(numbers) - 1, "in the structure %s" % got)
  raise errors.make(
      ValueError, call.function, "its gradient function returned gradients in the structure %s; expected a flat list "
      "with one gradient for each of its %d inputs (%s), or the structure of these arguments, %s. Return a flat list." %
      (got, count, call.input_names(), _list(holding)))


def _list(nodes):
  return nests.Node("list", list(range(len(nodes))), nodes)


def _fail_count(call, got, what):
  count = len(call.inputs)
  expected = "%d, one for each tensor among its arguments (%s)" % (count, call.input_names()) if count else \
      "none, since it takes no tensors"
  raise errors.make(
      ValueError, call.function, "its gradient function returned %d gradient%s (%s); expected %s. Return one per input, "
      "in this order, and None for an input that gets none." % (got, "" if got == 1 else "s", what, expected))


# ---- kind, dtype and shape

def _matched(api, call, i, port, gradient):
  """`gradient` as a tensor of the dtype and shape of `port`; None stays None."""
  if gradient is None or not api.is_differentiable(port.dtype):
    return None
  if port.is_like(gradient):
    return gradient
  kind = api.kind(gradient)
  if kind is leaves.SLICES:
    return _matched_slices(api, call, i, port, gradient)
  if kind in (leaves.SPARSE, leaves.RAGGED):
    gradient = api.values_of(gradient, kind)
  elif kind is leaves.VARIABLE:
    gradient = api.read(gradient)
  elif kind is not leaves.TENSOR:
    gradient = _from_numpy(api, call, i, port, gradient)
  gradient = _cast(api, call, i, port, gradient)
  return _summed(api, call, i, port, gradient)


def _from_numpy(api, call, i, port, gradient):
  """A tensor from a numpy array or a Python number."""
  array = None
  if isinstance(gradient, (api.np.ndarray, api.np.generic, bool, float, complex) + compat.integer_types):
    array = api.np.asarray(gradient)
  if array is None or array.dtype.kind not in "iufc" and array.dtype != port.dtype.as_numpy_dtype:
    raise errors.make(
        TypeError, call.function, "the gradient for %s must be a tensor, IndexedSlices, a numpy array, a number or "
        "None; got %s. Return a tensor of dtype %s." % (call.name(i), errors.kind_of(gradient), port.dtype.name))
  if array.dtype.kind == "c" and not port.dtype.is_complex:
    _fail_complex(call, i, port, array.dtype.name)
  return api.convert_to_tensor(array.astype(port.dtype.as_numpy_dtype))


def _cast(api, call, i, port, gradient):
  dtype = gradient.dtype.base_dtype
  if dtype == port.dtype:
    return gradient
  if dtype.is_complex and not port.dtype.is_complex:
    _fail_complex(call, i, port, dtype.name)
  if not api.is_differentiable(dtype):
    raise errors.make(
        TypeError, call.function, "the gradient for %s has dtype %s; expected %s or another floating dtype. Cast it "
        "with tf.cast(..., tf.%s)." % (call.name(i), dtype.name, port.dtype.name, port.dtype.name))
  return api.tf.cast(gradient, port.dtype)


def _fail_complex(call, i, port, dtype):
  raise errors.make(
      TypeError, call.function, "the gradient for %s is complex (%s), but the input is real (%s). Return its real part "
      "with tf.real / tf.math.real." % (call.name(i), dtype, port.dtype.name))


def _matched_slices(api, call, i, port, gradient):
  values = _cast(api, call, i, port, gradient.values)
  dense = None
  if gradient.dense_shape is not None:
    dense = api.constant_value(gradient.dense_shape)
  if dense is not None and port.shape is not None and (
      len(dense) != len(port.shape) or any(n not in (None, d) for n, d in zip(port.shape, dense))):
    _fail_shape(call, i, port, list(dense))
  rows = api.shape(values)
  if rows is not None and port.shape is not None and (
      len(rows) != len(port.shape) or any(None not in pair and pair[0] != pair[1]
                                          for pair in zip(rows[1:], port.shape[1:]))):
    _fail_shape(call, i, port, [None] + rows[1:])
  return gradient if values is gradient.values else api.tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)


def _compatible(got, want):
  """Whether the ranks and the known dimensions agree; where only `got` is known, the two may still differ."""
  return len(got) == len(want) and all(g == n or g is None and n != 1 for g, n in zip(got, want))


def _summed(api, call, i, port, gradient):
  """`gradient` summed over the axes along which it is a broadcast of its input, so that it has the input's shape.

  No operation is added where the static shapes agree as far as they are known.
  """
  want, got = port.shape, api.shape(gradient)
  if want is None or got is None:
    return _summed_at_run_time(api, call, i, port, gradient)
  if _compatible(got, want):
    return gradient
  extra = len(got) - len(want)
  if extra < 0 or any(n not in (None, 1) and g not in (None, n) for n, g in zip(want, got[extra:])):
    _fail_shape(call, i, port, got)
  if any(n is None and g is not None for n, g in zip(want, got[extra:])):
    return _summed_at_run_time(api, call, i, port, gradient)
  ones = [i for i, n in enumerate(want) if n == 1 and got[extra + i] != 1]
  summed = api.tf.reduce_sum(gradient, list(range(extra)) + [extra + i for i in ones])
  for i in ones:
    summed = api.tf.expand_dims(summed, i)
  return summed


def _summed_at_run_time(api, call, i, port, gradient):
  """The same where only the run can tell: in a graph. A mismatch is an InvalidArgumentError then."""
  return api.sum_to_shape_of(port.tensor, gradient, "%s_gradient_for_%s" % (call.function.name, call.name(i)))


def _fail_shape(call, i, port, got):
  raise errors.make(
      ValueError, call.function, "the gradient for %s has shape %s; expected %s, the shape of the input, or a broadcast "
      "of it (which is summed to it). Reshape or reduce it in the gradient function." %
      (call.name(i), shape_text(got), shape_text(port.shape)))
