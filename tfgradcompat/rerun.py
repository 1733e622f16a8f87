"""Run a call again, for the copy of its carrier in another graph."""

from __future__ import absolute_import, division, print_function

import threading

from . import calls
from . import errors
from . import imported
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
  taken = inputs.retake(api, first.taken, tensors[:count], api.get_default_graph())
  outside, _now.call = getattr(_now, "call", None), (first, op)
  try:
    again, made = _made_again(api, first.function, taken, first.variables, tensors)
  finally:
    _now.call = outside
  _refuse_random(api, first.function, made)
  _give_out(api, again, op)
  return again


def imported_call(api, op, name):
  """The call that left `op`, with the registered `name`, in a graph that has been imported since.

  Raises:
    LookupError: the call cannot be made again.
    RuntimeError: the function draws random numbers.
  """
  function, args, kwargs, outputs = imported.arguments(api, op, name)
  taken = inputs.take(api, function, args, kwargs, False)
  again, made = _made_again(api, function, taken, [], taken.tensors)
  variables = [o.name for o in made if api.is_variable(o)]
  if variables:
    imported.fail(op, name, "it makes the variables %s, which would be others. Pass them as arguments" % ", ".join(
        "'%s'" % v for v in variables))
  _refuse_random(api, function, made)
  if [port.dtype for port in again.outputs if api.is_differentiable(port.dtype)] != [t.dtype for t in op.outputs[:outputs]]:
    imported.fail(op, name, "the function has other results now")
  return again


def _made_again(api, function, taken, variables, tensors):
  """`(call, operations)`: the call, and what was made for it."""
  newest_id = api.newest_id(taken.graph)
  result, in_grad = running.run(api, function, taken.args, taken.kwargs)
  given = inputs.Given(api, function, result, taken.graph)
  made = api.ops_since(taken.graph, newest_id)
  in_grad = running.Gradient(api, function, in_grad)
  return calls.Call(api, function, taken, in_grad, variables, given.tensors, tensors), made


def _give_out(api, again, op):
  carried = iter(op.outputs)
  again.give_out([next(carried) if api.is_differentiable(port.dtype) else port.tensor for port in again.outputs])


def _refuse_random(api, function, made):
  random = [o for o in made if api.is_random(o.type)]
  if random:
    raise errors.make(
        RuntimeError, function, "draws random numbers (%s), and what is differentiated is a copy of the graph in which it "
        "was called, where they would be drawn again. Draw them outside and pass them as an argument." % random[0].type)
