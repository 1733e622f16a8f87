"""Vectorize: what becomes of an operation with a gradient of ours in `tf.vectorized_map`, and in the loops of jacobians.

They run all iterations of a loop at once: TensorFlow makes each operation of its body again, on the values of all
iterations, and leaves the names of gradients out. So without us the true gradient would be taken, in silence.

An operation of ours becomes one that hands the values through, as in any other call. Its gradient is that of the
operation in the body, which is traced when it is asked for, and made for all iterations in the same way. So in_grad sees one
iteration at a time, and what it takes from its closure has the value of its iteration.
"""

from __future__ import absolute_import, division, print_function

import sys

from . import errors
from . import gradient_scope
from . import graphdata
from . import loading
from . import overriding
from . import routes


def watch(api):
  """Lets TensorFlow ask here for what becomes of our operations."""
  api.watch_parallel_loops(graphdata.is_ours, _convert, sys.modules[__name__])


def _convert(making):
  """Called by TensorFlow for an operation of ours: its outputs for all iterations."""
  api, op, loop = loading.load(), making.op, making.pfor
  name = graphdata.gradient_name(op)
  inputs = list(making.inputs)
  with api.stop_recording():
    if overriding.is_name(name):
      first, name = 0, overriding.NAME
      outputs = api.made_by_pfor(making, graphdata.GRADIENT)
      op = overriding.as_made(op)
      inputs = [api.made_again(loop, tensor) for tensor in op.inputs]
    else:  # it hands the outputs through, and behind them the inputs
      first = graphdata.count_of_outputs(api, op, name)
      outputs, inputs = inputs[:first], inputs[first:]
    outputs = [api.stacked(loop, wrapped) for wrapped in outputs]
  places = [i for i, tensor in enumerate(outputs) if api.is_differentiable(tensor.dtype)]
  carried = routes.carry_again(
      api, _Operation(api, op, loop, first, inputs, places), name.partition("@")[0], [outputs[i] for i in places],
      [wrapped.t for wrapped in inputs])
  for i, tensor in zip(places, carried):
    outputs[i] = tensor
  return [api.as_stacked(tensor) for tensor in outputs] + (inputs if first else [])


class _Operation(object):
  """An operation of the body, made for all iterations. It takes the place of a `calls.Call`.

  Attributes:
    inputs: what the inputs became, from which the gradient is asked; wrapped.
  """

  __slots__ = ("inputs", "_api", "_op", "_loop", "_first", "_places", "_outputs", "__weakref__")

  def __init__(self, api, op, loop, first, inputs, places):
    """`first` is the number of the first of the inputs of `op`; `places` are those of its outputs that have a gradient."""
    self.inputs = inputs
    self._api, self._op, self._loop, self._first, self._places = api, op, loop, first, places

  def give_out(self, tensors):
    self._outputs = tensors

  def describe(self):
    """What is called, for texts."""
    call = graphdata.known_call(self._api, self._op)
    return "%s, in all iterations of a tf.vectorized_map or of a jacobian" % (
        graphdata.gradient_name(self._op).partition(":")[2] if call is None else call.describe())

  def graph_inputs(self):
    """The tensors from which the gradient is asked."""
    return [wrapped.t for wrapped in self.inputs]

  def count_of_inputs(self):
    """The number of gradients that `backward` gives."""
    return len(self.inputs)

  def backward(self, dys):
    """One gradient per input from the upstream gradients of the outputs, for all iterations."""
    api = self._api
    with gradient_scope.GradientScope(api, self._outputs[0].graph) as scope:
      dys = [_dense(api, dy, tensor) for dy, tensor in zip(dys, self._outputs)]
      body = api.new_body("gradient")
      with body.as_default():
        given = [api.v1.placeholder(self._op.outputs[i].dtype, self._op.outputs[i].get_shape()) for i in self._places]
        parts = [self._parts(i, gradient) for i, gradient in enumerate(self._gradients(given))]
      known = [(inner, api.as_stacked(dy)) for inner, dy in zip(given, dys)]
      # What only gradients need has not been made for all iterations yet: it is made here, and not in the forward pass.
      forward = api.again(self._loop, self._loop.pfor_ops, api.known(self._loop))
      known += [(inner, self._outside(forward, outer)) for outer, inner in api.captures(body)]
      backward = api.again(self._loop, body.get_operations(), known)
      return scope.give_back([self._whole(i, [backward.convert(part) for part in some]) for i, some in enumerate(parts)])

  def _gradients(self, given):
    """The gradients of one iteration, in the body's terms."""
    upstream = [None] * len(self._op.outputs)
    for i, dy in zip(self._places, given):
      upstream[i] = dy
    return self._api.gradient_function(self._op)(self._op, *upstream)[self._first:]

  def _parts(self, i, gradient):
    """The tensors of which the gradient for input `i` consists in one iteration."""
    if gradient is None:
      return []
    if isinstance(gradient, self._api.Tensor):
      return [gradient]
    if not self.inputs[i].is_stacked:
      return [gradient.values, gradient.indices]
    rows = self._api.tf.shape(self._op.inputs[self._first + i])[0]
    return [self._api.v1.unsorted_segment_sum(gradient.values, gradient.indices, rows)]

  def _whole(self, i, parts):
    """The gradient for input `i` from its parts in all iterations."""
    tf = self._api.tf
    if not parts or self.inputs[i].is_stacked:
      return parts[0] if parts else None
    if len(parts) == 1:
      return tf.reduce_sum(parts[0], 0)  # all iterations have the same input
    values, indices = parts
    values = tf.reshape(values, tf.concat([[-1], tf.shape(values)[2:]], 0))
    return tf.IndexedSlices(values, tf.reshape(indices, [-1]), tf.shape(self.inputs[i].t))

  def _outside(self, forward, tensor):
    """What stands for a tensor that the gradient function takes from outside; wrapped."""
    api = self._api
    if getattr(tensor, "graph", None) is self._op.graph:
      return api.made_again(forward, tensor)
    if api.depends_on_iteration(forward, tensor):
      raise errors.make(
          RuntimeError, None, "the gradient function of the operation '%s' takes the tensor '%s' from its closure, which "
          "is another one in each iteration of tf.vectorized_map or of a jacobian, and belongs to another function "
          "there. Pass it as an argument, or use tf.map_fn." % (self._op.name, tensor.name))
    return api.as_the_same(tensor)


def _dense(api, dy, tensor):
  if dy is None:
    return api.tf.zeros_like(tensor)
  return api.convert_to_tensor(dy)  # IndexedSlices


loading.when_loaded(watch)
