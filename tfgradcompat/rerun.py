"""Run a call again, for the copy of its carrier in another graph."""

from __future__ import absolute_import, division, print_function

from . import calls
from . import errors
from . import inputs
from . import running


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
  result, in_grad = running.run(api, first.function, taken)
  given = inputs.Given(api, first.function, result, graph)
  random = [o for o in api.ops_since(graph, newest_id) if o.op_def is not None and api.is_random(o)]
  if random:
    raise errors.make(
        RuntimeError, first.function, "draws random numbers (%s), and TensorFlow %s differentiates a copy of the graph in "
        "which it was called, where they would be drawn again. Draw them outside and pass them as an argument." %
        (random[0].type, api.tf.__version__))
  in_grad = running.Gradient(api, first.function, in_grad)
  return calls.Call(api, first.function, taken, in_grad, first.variables, given.tensors, tensors)
