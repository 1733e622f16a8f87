"""Flatten: the tensors among the arguments of a call and in its result.

The *inputs* of a call are the tensor leaves of its arguments in signature order: tensors, the values of variables,
numpy arrays, and the values of sparse and ragged tensors. `f` gets these as tensors, and everything else untouched.
"""

from __future__ import absolute_import, division, print_function

from . import compat
from . import errors
from . import nests
from . import leaves as kinds

_COUNTED = [list(range(count)) for count in range(10)]  # nobody changes them
_COMPOSITE = (kinds.SPARSE, kinds.RAGGED, kinds.SLICES)


class Taken(object):
  """The arguments of a call, read.

  Attributes:
    args, kwargs: with which to call `f`.
    tensors: the inputs.
    graph: where the call is built; None in eager mode.
    newest_id: in a graph, the id of its newest operation before `f` ran.
    skeleton: one entry per argument: the number of the input, None for another leaf, or a `nests.Node` of them.
    positions: the positions of the inputs among all leaves, of which there are `leaf_count`.
  """

  __slots__ = ("args", "kwargs", "tensors", "graph", "newest_id", "skeleton", "positions", "leaf_count")

  def __init__(self, reader, args, kwargs):
    """Reads `args` and `kwargs`, a list of pairs in signature order."""
    self.graph = reader.graph
    self.args = tuple([reader.read(value) for value in args])
    self.kwargs = dict([(name, reader.read(value)) for name, value in kwargs])
    self.tensors = reader.tensors
    self.skeleton = reader.skeleton
    self.positions = reader.positions
    self.leaf_count = reader.leaf_count

  @classmethod
  def of_tensors(cls, args, graph):
    """The same where every argument is a tensor of `graph`."""
    self = cls.__new__(cls)
    self.args, self.kwargs, self.graph = args, {}, graph
    self.tensors = list(args)
    self.leaf_count = count = len(args)
    self.skeleton = self.positions = _COUNTED[count] if count < len(_COUNTED) else list(range(count))
    return self


def take(api, function, args, kwargs, eager):
  """Reads the bound arguments of a call; None if there are symbolic Keras tensors among them.

  Raises:
    ValueError: tensors of different graphs, or of a graph in eager mode.
  """
  graph = None if eager else api.get_default_graph()
  if not kwargs and are_plain(api, args, graph):
    if not eager and api.marks_keras_tensors and any([api.is_symbolic_keras(value) for value in args]):
      return None
    return Taken.of_tensors(args, graph)  # what most calls look like, and much faster
  kwargs = [(name, kwargs[name]) for name in function.signature.ordered(kwargs)]
  reader = _Reader(api, function, graph)
  taken = Taken(reader, args, kwargs)
  if reader.is_symbolic:
    return None
  if reader.foreign is None:
    return taken
  # As TensorFlow's own operations do in a graph, the call goes to the graph of its inputs.
  with reader.foreign.as_default():
    return Taken(_Reader(api, function, reader.foreign), args, kwargs)


def are_plain(api, args, graph):
  """Whether all of `args` are tensors that need no thought, as in most calls."""
  for value in args:
    if not api.is_plain(value, graph):
      return False
  return True


def retake(api, taken, tensors, graph):
  """The same arguments with other inputs, in another graph."""
  again = Taken.__new__(Taken)
  again.graph, again.tensors = graph, tensors
  again.skeleton, again.positions, again.leaf_count = taken.skeleton, taken.positions, taken.leaf_count
  following = iter(tensors)

  def leaf(leaf):
    kind = api.kind(leaf)
    if kind is kinds.OTHER:
      return leaf
    return api.with_values(leaf, kind, next(following)) if kind in _COMPOSITE else next(following)
  again.args = nests.rebuild(taken.args, leaf)
  again.kwargs = dict(zip(taken.kwargs, nests.rebuild(list(taken.kwargs.values()), leaf)))
  return again


def graph_of(api, arguments):
  """A context in the graph to which a call with the nest `arguments` will go."""
  graphs = []

  def leaf(leaf):
    if api.kind(leaf) is kinds.TENSOR and not isinstance(leaf, api.EagerTensor):
      graphs.append(leaf.graph)
    return leaf
  if not api.executing_eagerly() and not api.is_capturing(api.get_default_graph()):
    nests.rebuild(arguments, leaf)
  return graphs[0].as_default() if graphs else compat.NoContext()


def marks(api, x):
  """Where `x` is an argument and a result too: for each tensor of the result, whether it is an input.

  Numpy scalars are not, and become tensors in results.
  """
  if isinstance(x, api.Tensor):
    return [True]
  found = []

  def visit(leaf):
    is_input = api.kind(leaf) is not kinds.OTHER
    if is_input or isinstance(leaf, api.np.generic):
      found.append(is_input)
    return leaf
  nests.rebuild(x, visit)
  return found


class _Reader(object):
  """Reads values one after the other and notes what it finds."""

  def __init__(self, api, function, graph):
    self.api = api
    self.function = function
    self.graph = graph
    self.foreign = None
    self.is_symbolic = False  # whether there was a symbolic Keras tensor
    self.tensors, self.skeleton, self.positions, self.leaf_count = [], [], [], 0

  def read(self, value):
    """`value` as `f` gets it."""
    if not nests.is_nest(value):
      first = len(self.tensors)
      value = self.leaf(value)
      self.skeleton.append(first if len(self.tensors) > first else None)
      return value
    numbers = []
    def leaf(value):
      first = len(self.tensors)
      value = self.leaf(value)
      numbers.append(first if len(self.tensors) > first else None)
      return value
    read = nests.rebuild(value, leaf)
    self.skeleton.append(nests.outline(value, iter(numbers)))
    return read

  def leaf(self, leaf):
    api = self.api
    kind = api.kind(leaf)
    self.leaf_count += 1
    if kind is kinds.OTHER:
      return leaf
    if kind is kinds.KERAS or api.marks_keras_tensors and api.is_symbolic_keras(leaf):
      self.is_symbolic = True
      return leaf
    if kind is kinds.TENSOR:
      tensor = leaf = self._here(leaf)
    elif kind is kinds.VARIABLE:
      tensor = leaf = api.read(leaf)
    elif kind is kinds.ARRAY:
      tensor = leaf = api.from_array(leaf)
    elif kind in _COMPOSITE:
      values = api.values_of(leaf, kind)
      tensor = self._here(values)
      if tensor is not values:
        leaf = api.with_values(leaf, kind, tensor)
    else:
      raise errors.make(
          TypeError, self.function, "argument %d among its leaves is a composite tensor of type %s, whose gradient is not "
          "known. Pass the tensors that it is made of." % (self.leaf_count - 1, type(leaf).__name__))
    self.tensors.append(tensor)
    self.positions.append(self.leaf_count - 1)
    return leaf

  def _here(self, tensor):
    """`tensor` in the graph of the call."""
    api = self.api
    is_eager = isinstance(tensor, api.EagerTensor)
    if self.graph is None:
      if not is_eager:
        self._fail_graph(tensor, "the call is made in eager mode. Call it inside `with graph.as_default():`")
      return tensor
    if not is_eager and tensor.graph is self.graph:
      return tensor
    if api.is_capturing(self.graph):
      return api.identity(tensor)  # the body of a function captures what it takes from outside
    if is_eager:
      self._fail_graph(tensor, "the call is built in a graph. Pass its numpy() value, or call it in eager mode")
    if self.foreign not in (None, tensor.graph) or self.tensors and self.foreign is None and self._has_graph_tensors():
      self._fail_graph(tensor, "other arguments belong to another graph. Build all of them in one graph")
    self.foreign = tensor.graph
    return tensor

  def _has_graph_tensors(self):
    return any(t.graph is self.graph for t in self.tensors)

  def _fail_graph(self, tensor, why):
    raise errors.make(ValueError, self.function, "got a tensor of another graph, %s: %s." % (tensor, why))


class Given(object):
  """The result of a call, read: `tensors`, and how to put others in their place."""

  __slots__ = ("tensors", "_result", "_kinds", "_api")

  def __init__(self, api, function, result, graph):
    self._api, self._result = api, result
    if api.is_plain(result, graph):
      self.tensors, self._kinds = [result], None
      return
    self._kinds = []
    reader = _Reader(api, function, graph)

    def leaf(leaf):
      kind = api.kind(leaf)
      if isinstance(leaf, api.np.generic):
        kind = kinds.ARRAY  # f computed with numpy: a result, not an option
      self._kinds.append(kind)
      if kind is not kinds.OTHER:
        if kind is kinds.ARRAY:
          leaf = api.from_array(leaf)
        leaf = reader.leaf(leaf)
      return leaf

    self._result = nests.rebuild(result, leaf)
    self.tensors = reader.tensors
    if reader.is_symbolic:
      raise errors.make(
          RuntimeError, function, "returned a symbolic Keras tensor, which it took from its closure. Pass it as an argument.")

  def packed(self, tensors):
    """The result with `tensors` in the place of its own."""
    if self._kinds is None:
      return tensors[0]
    if not nests.is_nest(self._result):
      return self._replaced(self._result, self._kinds[0], tensors[0])
    tensors, of_kind = iter(tensors), iter(self._kinds)

    def leaf(leaf):
      kind = next(of_kind)
      return leaf if kind is kinds.OTHER else self._replaced(leaf, kind, next(tensors))
    return nests.rebuild(self._result, leaf)

  def _replaced(self, leaf, kind, tensor):
    return self._api.with_values(leaf, kind, tensor) if kind in _COMPOSITE else tensor
