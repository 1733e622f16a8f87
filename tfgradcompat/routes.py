"""Route: the operation or the tape entry that carries the gradient of a call.

Two routes with one interface. Above `carry`, which gives the outputs back with the gradient of the call, nobody knows
which one runs.

`native` goes through `tf.custom_gradient` (TensorFlow 1.7 and newer). `override` gives an operation that hands tensors
through another gradient, by name, as `gradient_override_map` does (any graph). In eager mode there is native only.

In a graph the carrier takes the outputs and the inputs, and gives the outputs a gradient of None: so they are cut from the
operations that computed them, and a tensor that the function took from its closure gets no gradient in any mode.
"""

from __future__ import absolute_import, division, print_function

import os
import threading

from . import errors
from . import graphdata
from . import loading

NATIVE, OVERRIDE = "native", "override"

#: The environment variable that forces a route.
ENVIRONMENT = "TFGRADCOMPAT_ROUTE"

_pending = threading.local()
_chosen = None


def route():
  """The route that graphs take in this process: "native" or "override".

  native is `tf.custom_gradient`, on TensorFlow 1.7 and newer; override is an overridden gradient, on older ones. It is
  chosen at the first call; the environment variable `TFGRADCOMPAT_ROUTE` forces it. Eager mode has native only.

  Returns:
    The string "native" or "override".

  Raises:
    ImportError: TensorFlow is not installed.
    ValueError: the environment variable holds something else.
    RuntimeError: it asks for native, and this TensorFlow has no `tf.custom_gradient`.

  Example:
    >>> import tfgradcompat
    >>> tfgradcompat.route() in ("native", "override")
    True
  """
  global _chosen
  if _chosen is None:
    _chosen = _choose(loading.load(), os.environ.get(ENVIRONMENT, ""))
  return _chosen


def _choose(api, forced):
  has_native = hasattr(api.tf, "custom_gradient")
  if forced not in ("", NATIVE, OVERRIDE):
    raise errors.make(ValueError, None, "the environment variable %s is %r; expected '%s', '%s' or nothing. Unset it." %
                      (ENVIRONMENT, forced, NATIVE, OVERRIDE))
  if forced == NATIVE and not has_native:
    raise errors.make(RuntimeError, None, "the environment variable %s asks for '%s', but TensorFlow %s has no "
                      "tf.custom_gradient (it came with 1.7). Unset it." % (ENVIRONMENT, NATIVE, api.tf.__version__))
  return forced or (NATIVE if has_native else OVERRIDE)


def carry(api, call, outputs, inputs, eager):
  """Hands `outputs` through a carrier whose gradient is that of `call`."""
  if eager:
    return _told_to_tapes(api, call, outputs, inputs)
  make = _native_in_graph if route() == NATIVE else _override
  if api.record_operation is None or not api.is_recording():
    outputs = api.undifferentiable(call.taken.graph, outputs)
    return list(make(api, call, outputs + inputs, len(outputs)).outputs[:len(outputs)])
  # What tapes and accumulators that are open inside a function get to know is told to them at the end, and nothing else.
  with api.stop_recording():
    outputs = api.undifferentiable(call.taken.graph, outputs)
    op = make(api, call, outputs + inputs, len(outputs))
  return _recorded(api, call, list(op.outputs[:len(outputs)]), outputs + inputs)


def carry_again(api, call, name, outputs, inputs):
  """The same for an operation that is made again in a loop (see vectorizing.py), under the registered `name`."""
  if not outputs:
    return []
  with api.stop_recording():
    op = api.identity_n(outputs + inputs)[0].op
    graphdata.answer(api, op, call, name)
  carried = list(op.outputs[:len(outputs)])
  call.give_out(carried)
  return _recorded(api, call, carried, outputs + inputs)


def _recorded(api, call, carried, tensors):
  """`carried`, which stand for the first of `tensors`, as tapes and accumulators that are open now know them."""
  if api.record_operation is not None and api.is_recording():
    api.record_operation("custom_grad", carried, tensors, _backward(api, call, len(carried)))
  return carried


def _told_to_tapes(api, call, outputs, inputs):
  """In eager mode: what tf.custom_gradient does there in the end, without the way there, which is half of its cost."""
  # Cut: a tape or forward accumulator that does not see the inputs would go by the operations of the function.
  with api.pause_recording():
    outputs = [api.eager_identity(t) for t in outputs]
  if api.record_operation is None:  # 1.4
    return _through_custom_gradient(api, inputs, outputs, _backward(api, call, 0))
  api.record_operation("custom_grad", outputs, inputs, _backward(api, call, 0))
  return outputs


def _through_custom_gradient(api, tensors, results, backward):
  """tf.custom_gradient of a function that has been run already: it takes `tensors` and only hands over the rest."""
  _pending.handed = results, backward
  try:
    return _carrier(api)(*tensors)
  finally:
    _pending.handed = None


def _carrier(api):
  """One function, decorated natively once: the decorator itself costs more than a call of what it makes."""
  if api.carrier is None:
    def custom_grad(*unused_tensors):
      return _pending.handed
    api.carrier = api.custom_gradient(custom_grad)
  return api.carrier


def _backward(api, call, cut):
  """The gradient function that tf.custom_gradient and the tapes get for a call, whose first `cut` inputs get None."""
  if api.backward_type is None:
    signature = api.signature_of_gradients()

    class Backward(object):
      __slots__ = ("call", "cut", "_tf_decorator")
      __name__ = "custom_grad"

      def __init__(self, call, cut):
        self.call, self.cut = call, cut
        # tf.custom_gradient inspects its gradient function at each call; it takes this answer instead, at once.
        self._tf_decorator = signature

      def __call__(self, *dys):
        return [None] * self.cut + self.call.backward(dys)
    api.backward_type = Backward
  return api.backward_type(call, cut)


def _native_in_graph(api, call, tensors, count):
  """The operation that tf.custom_gradient makes of `tensors`, of which the first `count` are the outputs.

  It is given the outputs as arguments and a function without results, so that it has nothing to search for variables:
  it would walk upstream from each result, which takes the longer the larger the graph is.
  """
  graph = call.taken.graph
  data = graphdata.of(graph)
  backward = _backward(api, call, count)
  # tf.custom_gradient opens a window in the graph's override map in which all threads' operations get its gradient.
  # The lock keeps our own calls apart; a name of anybody else's that got in is replaced by `own`.
  with data.lock, api.empty_variable_scope(), graph.name_scope(call.function.scope):
    name, newest_id = api.next_native_name(), api.newest_id(graph)
    try:
      _through_custom_gradient(api, tensors, [], backward)
    finally:
      # Native registers each call for ever. Our entry answers instead, and finds the call in the graph.
      api.unregister_call(name, backward)
    op = api.identity_n_since(graph, newest_id, len(tensors), name)
  graphdata.own(api, data, op, call)
  return op


def _override(api, call, tensors, count):
  """The same without tf.custom_gradient."""
  data = graphdata.of(call.taken.graph)
  with call.taken.graph.name_scope(call.function.scope):
    if api.identity_n is not None:
      op = api.identity_n(tensors)[0].op
    else:
      with data.lock:  # the first call adds a function to the graph, which two threads cannot do at once
        op = api.defun_carrier(tensors, count, graphdata.dispatch)
  graphdata.own(api, data, op, call)
  return op
