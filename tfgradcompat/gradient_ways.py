"""The ways that gradients go in a graph, from the outputs of operations back to their inputs, and what stops them.

It asks the operations and not the gradient functions, which would add operations of their own to the graph. So a custom
gradient function that returns None for an input is not seen.
"""

from __future__ import absolute_import, division, print_function

import collections

from . import graphdata
from . import imported

_PACKAGE = __name__.rpartition(".")[0]

# The inputs, floating ones, for which TensorFlow's own gradient functions return None, on every release that has the type.
_ALL = range(9)
_NEVER = {"Floor": _ALL, "Ceil": _ALL, "Round": _ALL, "Rint": _ALL, "FloorDiv": _ALL, "TruncateDiv": _ALL,
          "Betainc": (0, 1), "Polygamma": (0,), "Zeta": (0,), "QuantizeAndDequantizeV2": (1, 2),
          "QuantizeAndDequantizeV3": (1, 2), "ImageProjectiveTransformV2": (1,), "ImageProjectiveTransformV3": (1,),
          "ScaleAndTranslate": (1, 2), "CropAndResize": (2, 3)}

# The way from a tensor, the output of an operation, to one of the operation's inputs.
#   source: the name of the tensor; target: the input; stop: what stops a gradient here, in words, or None; customs: the
#   custom gradients that it meets here, in words; beside: what stops others on ways beside it, within functions; declared:
#   where a decorated function's own result is the target, the names of the function's inputs: the gradient for them does
#   not go this way, so it is not stopped here.
Edge = collections.namedtuple("Edge", "source target stop customs beside declared")

# What there is between the ys and an x: whether a gradient arrives, the custom gradients that it meets on its ways, and
# what stops it, on all ways or on some.
Found = collections.namedtuple("Found", "arrives customs stops")


class Ways(object):
  """All ways from `ys`, tensors of one graph, as far as they go."""

  def __init__(self, api, ys):
    self._api, self._bodies = api, {}
    self.edges = {}  # by the name of the tensor from which they lead, the nearest first
    self.order = []
    todo = collections.deque(ys)
    while todo:
      tensor = todo.popleft()
      if tensor.name not in self.edges:
        self.order.append(tensor.name)
        self.edges[tensor.name] = self._edges(tensor)
        todo.extend(edge.target for edge in self.edges[tensor.name])
    self._back = {}
    for name in self.order:
      for edge in self.edges[name]:
        self._back.setdefault(edge.target.name, []).append(edge)
    self.reached = self._from([y.name for y in ys if _can_carry(api, y)])

  def _edges(self, tensor):
    """The ways from a tensor to the inputs of the operation that made it."""
    op = tensor.op
    if op.name not in self._bodies:
      self._bodies[op.name] = self._api.bodies(op)
    if self._bodies[op.name] is not None:
      return _through_bodies(self._api, tensor, self._bodies[op.name])
    return _through(self._api, tensor)

  def _from(self, names):
    """The tensors at which a gradient arrives."""
    reached, todo = set(names), list(names)
    while todo:
      for edge in self.edges[todo.pop()]:
        if edge.stop is None and edge.target.name not in reached:
          reached.add(edge.target.name)
          todo.append(edge.target.name)
    return reached

  def to(self, name):
    """What there is on the ways to a tensor; None where there is no way, not even for values."""
    if name not in self.edges:
      return None
    customs, stops = [], []
    arrives = name in self.reached
    for edge in self._leading_to(name):
      if edge.source not in self.reached:
        continue
      if edge.stop is None:
        customs.extend(edge.customs)
        stops.extend(edge.beside)
      elif edge.declared is None or self._is_captured(edge, name):
        # Most ways through integers are shapes, indices and conditions: of interest only if there is no other.
        if not arrives or _can_carry(self._api, edge.target):
          stops.append(edge.stop)
    return Found(arrives, _unique(customs), _unique(stops))

  def _leading_to(self, name):
    """The edges on ways to a tensor, those nearest to the ys first."""
    seen, todo, found = set([name]), [name], set()
    while todo:
      for edge in self._back.get(todo.pop(), ()):
        found.add(id(edge))
        if edge.source not in seen:
          seen.add(edge.source)
          todo.append(edge.source)
    return [edge for source in self.order for edge in self.edges[source] if id(edge) in found]

  def _is_captured(self, edge, name):
    """Whether a function's own result comes from the tensor otherwise than through the function's inputs."""
    seen, todo = set(), [edge.target.name]
    while todo:
      tensor = todo.pop()
      if tensor not in seen and tensor not in edge.declared:
        seen.add(tensor)
        todo.extend(following.target.name for following in self.edges[tensor])
    return name in seen


def _unique(values):
  return list(collections.OrderedDict.fromkeys(values))


# ---- operations

def _through(api, tensor):
  """The ways through the operation that made a tensor."""
  op = tensor.op
  customs, cut, declared, stop = _gradient_of(api, op)
  edges = []
  for i, target in enumerate(op.inputs):
    is_result = i < len(op.inputs) - len(declared)
    stopped = cut if is_result else stop or _without_gradient(api, op, target)
    if not (stopped or customs) and i in _NEVER.get(op.type, ()):
      stopped = "%s has no gradient for '%s'" % (_shown(op), str(target.name))
    edges.append(Edge(tensor.name, target, stopped, customs, (), frozenset(declared) if is_result else None))
  return edges


def _gradient_of(api, op):
  """`(customs, cut, declared, stop)`: the gradient that an operation has.

  In the carrier of a decorated function's call the results of the function come first, and the gradient is for what
  stands behind them, the `declared` inputs; `cut` says what the former are. `stop` is why there is no gradient at all.
  """
  inputs = [tensor.name for tensor in op.inputs]
  call = graphdata.known_call(api, op)
  if call is not None:
    return _carrier(op, call.describe(), inputs[len(inputs) - call.count_of_inputs():])
  name = api.get_attr(op, graphdata.GRADIENT)
  if api.calls_functions(op):
    return ("what is in %s, a function that cannot be looked into here" % _shown(op),), None, inputs, None
  if name is None:
    return (), None, inputs, _stop_of_type(api, op)
  name = str(name.decode("utf-8"))
  if name.startswith(_PACKAGE + ":override_gradient:"):
    by = name[len(_PACKAGE + ":override_gradient:"):].rpartition(":")[0]
    return ("override_gradient by %s, operation '%s'" % (by, _name(op)),), None, inputs, None
  if name not in api.registry:
    return (), None, inputs, "%s carries the gradient '%s', which is not known in this process: LookupError" % (
        _shown(op), name)
  if name.startswith(_PACKAGE + ":"):
    try:
      function, _, _, outputs = imported.arguments(api, op, name)
    except LookupError as error:
      return (), None, inputs, str(error)
    return _carrier(op, function.describe(), inputs[outputs:])
  if name.startswith("CustomGradient-"):
    outputs = api.count_of_results(name)
    what = "a function with tf.custom_gradient"
    if outputs is not None:
      return _carrier(op, what, inputs[outputs:])
    return ("%s, operation '%s', if it is among its arguments" % (what, _name(op)),), None, inputs, None
  return ("the gradient registered as '%s', operation '%s'" % (name, _name(op)),), None, inputs, None


def _carrier(op, function, declared):
  """The same for a call of a decorated function."""
  cut = ("%s, operation '%s', which takes it, or what is computed from it, from its closure. Its gradient is for its "
         "arguments only: pass it as one" % (function, _name(op)))
  return ("%s, operation '%s'" % (function, _name(op)),), cut, declared, None


def _stop_of_type(api, op):
  """Why an operation without a gradient of its own has none by its type, or None."""
  if op.type not in api.registry:
    return "%s has no gradient in TensorFlow %s: asking for it is a LookupError" % (_shown(op), api.tf.__version__)
  if api.registry[op.type]["type"] is not None:
    return None
  if op.type == "StopGradient":
    return "tf.stop_gradient, operation '%s'" % _name(op)
  return "%s has no gradient at all" % _shown(op)


def _can_carry(api, tensor):
  """Whether a tensor, or what it stands for, can have a gradient."""
  return api.is_differentiable(tensor.dtype) or tensor.dtype.base_dtype.name in ("resource", "variant")


def _without_gradient(api, op, tensor):
  """Why a tensor cannot have a gradient, or None."""
  if _can_carry(api, tensor):
    return None
  return "%s takes '%s' of %s, and only floating and complex numbers have gradients" % (
      _shown(op), str(tensor.name), tensor.dtype.base_dtype.name)


def _shown(op):
  return "the operation '%s' (%s)" % (_name(op), str(op.type))


def _name(op):
  return str(op.name)  # unicode on Python 2, which must not meet the bytes of a file's name


# ---- functions, branches and loops

def _through_bodies(api, tensor, bodies):
  """The ways through the functions that an operation calls, from its output `tensor`."""
  op = tensor.op
  found = {}  # by the number of the input
  for body in bodies:
    for i, way in _through_body(api, body, tensor.value_index).items():
      i += len(op.inputs) - len(body.inputs)
      found[i] = _both(found.get(i), way)
  edges = []
  for i, way in sorted(found.items()):
    customs, stops = [tuple("%s, in %s" % (text, _shown(op)) for text in texts) for texts in (way.customs, way.stops)]
    stop = None if way.arrives else "; ".join(stops) or _shown(op)
    edges.append(Edge(tensor.name, op.inputs[i], stop, customs, stops if way.arrives else (), None))
  return edges


def _through_body(api, body, output):
  """{number of the input: what there is on the way to it} for an output of a function; after any number of rounds of a loop."""
  if not body.is_loop:
    return _to_inputs(api, body, output)
  ways = {}
  found, todo = {output: Found(_can_carry(api, body.outputs[output]), [], [])}, [output]
  while todo:
    output = todo.pop()
    if output not in ways:
      ways[output] = _to_inputs(api, body, output)
    for i, way in ways[output].items():
      both = _both(found.get(i), way._replace(customs=found[output].customs + way.customs if way.arrives else []))
      if both != found.get(i):
        found[i] = both
        todo.extend([i] if way.arrives else [])
  return found


def _to_inputs(api, body, output):
  ways = Ways(api, [body.outputs[output]])
  found = [(i, ways.to(tensor.name)) for i, tensor in enumerate(body.inputs)]
  return dict((i, way) for i, way in found if way is not None)


def _both(one, other):
  """What there is on the ways of two."""
  if one is None:
    return other
  return Found(one.arrives or other.arrives, _unique(one.customs + other.customs), _unique(one.stops + other.stops))
