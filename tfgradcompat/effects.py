"""Side effects of a gradient function happen once per gradient, also where a graph would prune them.

In a graph an assignment or a print whose result nobody uses does not run. So what the gradient function did is made a
control dependency of the gradients that it returned.
"""

from __future__ import absolute_import, division, print_function

# Stateful for TensorFlow, but without effect, or part of the machinery of loops, which must not be tied.
_WITHOUT_EFFECT = ("Variable", "VariableV2", "VarHandleOp", "ReadVariableOp", "VarIsInitializedOp", "ResourceGather",
                   "ResourceGatherNd", "RefIdentity", "Placeholder", "Enter", "RefEnter", "IsVariableInitialized",
                   "If", "While", "Case", "StatelessIf", "StatelessWhile")
_MACHINERY = ("Stack", "TensorArray", "TensorList", "Random", "Truncated", "Multinomial", "ParameterizedTruncated")


class Kept(object):
  """Context of a gradient function; `tie` lets the gradients wait for what happened in it."""

  def __init__(self, api):
    self._api = api

  def __enter__(self):
    api = self._api
    self._graph = None if api.executing_eagerly() else api.get_default_graph()
    self._newest_id = 0 if self._graph is None else api.newest_id(self._graph)
    return self

  def __exit__(self, *unused):
    return False

  def tie(self, tensors):
    """`tensors` (None among them), which now run only after the side effects."""
    graph = self._graph
    if graph is None:
      return tensors
    context = graph._get_control_flow_context()
    effects = [op for op in self._api.ops_since(graph, self._newest_id)
               if _has_effect(op) and op._get_control_flow_context() is context]
    if not effects:
      return tensors
    with graph.control_dependencies(effects):
      return [self._after(t) for t in tensors]

  def _after(self, tensor):
    if tensor is None:
      return None
    if isinstance(tensor, self._api.Tensor):
      return self._api.identity(tensor)
    return self._api.tf.IndexedSlices(self._api.identity(tensor.values), tensor.indices, tensor.dense_shape)


def _has_effect(op):
  definition = op.op_def
  if definition is None or op.type in _WITHOUT_EFFECT or op.type.startswith(_MACHINERY):
    return False
  return definition.is_stateful or any(arg.is_ref for arg in definition.input_arg)
