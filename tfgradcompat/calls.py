"""One call of a decorated function, kept for when its gradient is built."""

from __future__ import absolute_import, division, print_function

from . import gradient_scope
from . import gradients
from . import nests


class Call(object):
  """What one call needs when its gradient is built.

  A graph keeps its calls, and with them the tensors, which are its own anyway. In eager mode the tape keeps the call
  until it is asked; there it holds no tensor but those in the closure of the user's gradient function.
  """

  __slots__ = ("function", "in_grad", "variables", "inputs", "variable_ports", "outputs", "skeleton", "positions",
               "leaf_count", "taken", "_api", "_counts", "__weakref__")

  def __init__(self, api, function, taken, in_grad, variables, outputs, inputs):
    """`inputs` are the tensors among the arguments and, behind them, the values of `variables`."""
    self._api = api
    self.function = function
    self.in_grad = in_grad
    self.variables = variables
    ports = [gradients.Port(api, tensor, taken.graph) for tensor in inputs]
    count = len(taken.tensors)
    self.inputs, self.variable_ports = ports[:count], ports[count:]
    self.outputs = [gradients.Port(api, tensor, taken.graph) for tensor in outputs]
    self.skeleton = taken.skeleton
    self.positions = taken.positions
    self.leaf_count = taken.leaf_count
    self._counts = len(taken.args), list(taken.kwargs)
    self.taken = None if taken.graph is None else taken  # for `graphdata`, which may have to run the call again

  def give_out(self, tensors):
    """The outputs as the caller gets them, of which zeros are made for one that the loss does not use.

    A gradient function that needs them, since derivatives of second order go through them, has a `give_out` too.
    """
    give_out = getattr(self.in_grad.given, "give_out", None)
    if give_out is not None:
      give_out(tensors)
    if self.taken is not None:
      for port, tensor in zip(self.outputs, tensors):
        port.tensor = tensor

  def backward(self, dys):
    """One gradient per input and per variable from the upstream gradients of the differentiable outputs."""
    api = self._api
    if api.executing_eagerly():
      return self._gradients(dys)
    with gradient_scope.GradientScope(api, self.taken and self.taken.graph) as scope:
      return scope.give_back(self._gradients(dys))

  def _gradients(self, dys):
    dys = gradients.upstream(self._api, self.outputs, dys)
    return gradients.downstream(self._api, self, self.in_grad(dys, list(self.variables)))

  def describe(self):
    """What is called, for texts."""
    return self.function.describe()

  def graph_inputs(self):
    """The tensors, in a graph, from which the gradient is asked."""
    return [port.tensor for port in self.inputs + self.variable_ports]

  def count_of_inputs(self):
    """The number of gradients that `backward` gives."""
    return len(self.inputs) + len(self.variable_ports)

  def name(self, i):
    """The `i`th input as errors name it, argument 'pair'[0], or, behind the inputs, a variable."""
    if i < len(self.inputs):
      return "argument %s" % self._names()[i]
    return "variable '%s'" % self.variables[i - len(self.inputs)].name

  def input_names(self):
    """All inputs, as errors name them."""
    return ", ".join(self._names())

  def _names(self):
    arguments = self.function.signature.names(*self._counts)
    leaves = [path for name, node in zip(arguments, self.skeleton) for path in nests.paths(node, name)]
    return [leaves[position] for position in self.positions]
