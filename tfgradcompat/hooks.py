"""How to learn which operations are made, and what they are made of, as each release allows it."""

from __future__ import absolute_import, division, print_function

import collections
import threading

# The operations that call functions; before 1.4 also operations whose type is the name of a function.
_CALLING = ("If", "StatelessIf", "While", "StatelessWhile", "Case", "StatelessCase", "PartitionedCall",
            "StatefulPartitionedCall", "SymbolicGradient", "MapDefun", "RemoteCall")
# The attributes that name the functions whose outputs are those of the operation.
_BODIES_OF = {"PartitionedCall": ["f"], "StatefulPartitionedCall": ["f"], "While": ["body"], "StatelessWhile": ["body"],
              "If": ["then_branch", "else_branch"], "StatelessIf": ["then_branch", "else_branch"],
              "Case": ["branches"], "StatelessCase": ["branches"]}
_BODIES = ("CondBranchFuncGraph", "WhileCondFuncGraph", "WhileBodyFuncGraph")

Body = collections.namedtuple("Body", "inputs outputs is_loop")


class Hooks(object):
  """The part of `tensorflow_api.Api` that looks at operations while they are made and afterwards."""

  def _probe_hooks(self, private):
    self._op_defs = private("framework.op_def_registry")
    self._context = private("eager.context")
    self._execute = private("eager.execute")
    # 1.10.
    self._function_def_to_graph = getattr(private("framework.function_def_to_graph"), "function_def_to_graph", None)
    # Callbacks for each operation that a thread makes, in all graphs. From 2.1 on; before there is `watch_types`.
    self.has_op_callbacks = hasattr(getattr(self._context, "Context", None), "add_op_callback")

  # ---- types of operations

  def op_def(self, op_type):
    """The definition of a type of operations, or None if there is none of this name."""
    if hasattr(self._op_defs, "get_registered_ops"):  # gone with 2.1
      return self._op_defs.get_registered_ops().get(op_type)
    return self._op_defs.get(op_type)

  def op_types(self):
    """The names of the types that there are."""
    if hasattr(self._op_defs, "get_registered_ops"):
      return list(self._op_defs.get_registered_ops())
    return [name for name in dir(self.tf.raw_ops) if name[:1].isupper()]

  # ---- while operations are made

  def add_op_callback(self, callback):
    """Calls `callback(op)` for each operation with an output that this thread makes in a graph.

    Returns what ends that.
    """
    def called(op_type, inputs, attrs, outputs, op_name=None, graph=None):
      if graph is not None and outputs:
        callback(outputs[0].op)
    context = self._context.context()
    context.add_op_callback(called)
    return lambda: context.remove_op_callback(called)

  def watch_executed(self, callback):
    """Calls `callback(op_type, attributes)` for each operation that this thread runs in eager mode.

    Returns what ends that.
    """
    context = self._context.context()
    if self.has_op_callbacks:
      def called(op_type, inputs, attrs, outputs, op_name=None, graph=None):
        if graph is None:
          callback(_text(op_type), _attributes(attrs))
      context.add_op_callback(called)
      end = lambda: context.remove_op_callback(called)
    else:  # 1.5 to 2.0
      def called(op_type, unused, attrs, *others):
        callback(_text(op_type), _attributes(attrs))
      context.add_post_execution_callback(called)
      end = lambda: context.post_execution_callbacks.remove(called)
    self._execute.execute = self._execute.execute_with_callbacks  # as TensorFlow does it; not undone there either
    return end

  def watch_types(self, graph, look):
    """Lets `look(map, op_type)` give the name of the gradient for each operation that is made in `graph` from now on.

    None leaves it to `gradient_override_map`. The map that does this is put into the graph once and stays there.
    """
    found = graph._gradient_override_map
    if not isinstance(found, WatchedMap):
      found = graph._gradient_override_map = WatchedMap(found)
    found.look = look
    return found

  @staticmethod
  def newest_of_type(graph, op_type, newest_id):
    """The operation of a type that was made last in `graph` after the one with the id `newest_id`; before 2.1 only."""
    for i in range(graph.version, newest_id, -1):
      op = graph._nodes_by_id.get(i)
      if op is not None and op.type == op_type:
        return op
    return None

  def replace_inputs(self, op):
    """Gives `op` identities as inputs, which no tape knows. Returns the inputs it had."""
    inputs = list(op.inputs)
    with self.stop_recording():
      for i, tensor in enumerate(inputs):
        if self.is_differentiable(tensor.dtype):
          op._update_input(i, self.identity(tensor))
    return inputs

  @staticmethod
  def is_body(graph):
    """Whether `graph` is the body of a loop or a branch."""
    return type(graph).__name__ in _BODIES

  # ---- afterwards

  def nodes_within(self, op):
    """The node definitions in the functions that `op` calls, and in those that these call."""
    graph = op.graph
    if op.type not in _CALLING and not graph._is_function(op.type):
      return []
    return self.nodes_of(_called_by(op.node_def), graph)

  def nodes_of(self, names, graph=None):
    """The node definitions in functions, given by name, and in those that they call."""
    nodes, seen, todo = [], set(), [names]
    while todo:
      for name in todo.pop():
        definition = None if name in seen else self._function_definition(graph, name)
        seen.add(name)
        if definition is not None:
          nodes.extend(definition.node_def)
          todo.extend([_called_by(node) for node in definition.node_def])
    return nodes

  def calls_functions(self, op):
    """Whether an operation calls functions."""
    return op.type in _CALLING or op.graph._is_function(op.type)

  def bodies(self, op):
    """The functions that `op` calls, whose inputs are its last inputs and whose outputs are its outputs.

    None where it calls none, and before 1.10, where they cannot be made into graphs.
    """
    if self._function_def_to_graph is None or op.type not in _BODIES_OF:
      return None
    attributes = op.node_def.attr
    names = [f.name for key in _BODIES_OF[op.type] if key in attributes
             for f in ([attributes[key].func] if attributes[key].func.name else attributes[key].list.func)]
    definitions = [self._function_definition(op.graph, name) for name in names]
    if None in definitions:
      return None
    found = []
    for definition in definitions:
      with op.graph.as_default():
        graph = self._function_def_to_graph(definition)
      found.append(Body(graph.inputs, graph.outputs, "While" in op.type))
    return found

  @staticmethod
  def captured(graph, tensor):
    """The tensor of `graph`, the body of a function, that stands for one from outside; None where none does."""
    captures = getattr(graph, "captures", ())
    # By identity up to 1.10, by tensor up to 1.14, pairs from then on.
    for key, value in captures.items() if hasattr(captures, "items") else captures:
      outside, inside = value if isinstance(value, tuple) else (key, value)
      if outside is tensor:
        return inside
    return None

  def _function_definition(self, graph, name):
    while graph is not None:
      found = graph._get_function(name)
      if found is not None:
        return found.definition
      graph = getattr(graph, "outer_graph", None)
    if self._context is not None and hasattr(self._context.context(), "get_function_def"):
      try:
        return self._context.context().get_function_def(name)
      except self.tf.errors.NotFoundError:  # not the name of a function
        pass
    return None


def _text(value):
  return value if isinstance(value, str) else value.decode("ascii")


def _attributes(attrs):
  """A dictionary of the names and values that TensorFlow gives as one list."""
  attrs = list(attrs or ())
  return dict(zip([_text(name) for name in attrs[::2]], attrs[1::2]))


def _called_by(node):
  """The names of functions in a node definition."""
  names = [node.op]
  for value in node.attr.values():
    names.append(value.func.name)
    names.extend(function.name for function in getattr(value.list, "func", ()))  # 1.0
  return [name for name in names if name]


_thread = threading.local()


class WatchedMap(dict):
  """The override map of a graph, which is asked for each operation."""

  look = None

  def _others(self):
    """What this thread has entered for types that it watches: it is given back, and must not become permanent."""
    if not hasattr(_thread, "others"):
      _thread.others = {}
    return _thread.others

  def __getitem__(self, op_type):
    key = id(self), op_type
    if key in self._others():
      return self._others()[key]
    name = self.look(self, op_type)
    return dict.__getitem__(self, op_type) if name is None else name

  def __setitem__(self, op_type, name):
    watched = self.look(self, op_type)
    if watched is None:
      dict.__setitem__(self, op_type, name)
    elif name == watched:  # they put back what they found
      self._others().pop((id(self), op_type), None)
    else:
      self._others()[id(self), op_type] = name
