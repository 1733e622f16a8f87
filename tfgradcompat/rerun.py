"""Run a call again, for the copy of its carrier in another graph."""

from __future__ import absolute_import, division, print_function

import threading

from . import calls
from . import errors
from . import inputs
from . import running


_now = threading.local()


def copied(argument):
  """The operation whose call is being made again, if `argument` is the first argument of that call, else None."""
  first, op = getattr(_now, "call", None) or (None, None)
  return op if first is not None and first.taken.args and first.taken.args[0] is argument else None


def call(api, first, op):
  """The call `first`, made again on the inputs of `op`, in the graph in which the gradient is being built.

  Raises:
    RuntimeError: the function draws random numbers, which would be others than those of the forward pass.
  """
  count = len(first.inputs)
  tensors = list(op.inputs)[len(op.inputs) - count - len(first.variable_ports):]
  graph = api.get_default_graph()
  taken = inputs.retake(api, first.taken, tensors[:count], graph)
  newest_id = api.newest_id(graph)
  outside, _now.call = getattr(_now, "call", None), (first, op)
  try:
    result, in_grad = running.run(api, first.function, taken)
  finally:
    _now.call = outside
  given = inputs.Given(api, first.function, result, graph)
  random = [o for o in api.ops_since(graph, newest_id) if o.op_def is not None and api.is_random(o)]
  if random:
    raise errors.make(
        RuntimeError, first.function, "draws random numbers (%s), and TensorFlow %s differentiates a copy of the graph in "
        "which it was called, where they would be drawn again. Draw them outside and pass them as an argument." %
        (random[0].type, api.tf.__version__))
  again = calls.Call(api, first.function, taken, running.Gradient(api, first.function, in_grad), first.variables, given.tensors, tensors)
  carried = iter(op.outputs)
  again.give_out([next(carried) if api.is_differentiable(t.dtype) else t for t in given.tensors])
  return again
