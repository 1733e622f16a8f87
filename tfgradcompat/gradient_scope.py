"""Where a gradient function runs: the graph that is being built when the gradient is asked for.

In a graph an assignment or a print whose result nobody uses does not run. So what the gradient function did is made a
control dependency of the gradients that it returned: its side effects happen once per gradient. And a gradient that was
not made in this graph cannot be given back as it is.
"""

from __future__ import absolute_import, division, print_function

from . import tapes

# Stateful for TensorFlow, but without effect, or part of the machinery of loops, which must not be tied.
_WITHOUT_EFFECT = ("Variable", "VariableV2", "VarHandleOp", "ReadVariableOp", "VarIsInitializedOp", "ResourceGather",
                   "ResourceGatherNd", "RefIdentity", "Placeholder", "Enter", "RefEnter", "IsVariableInitialized")
_CONTROL_FLOW = ("If", "While", "Case")
_MACHINERY = ("Stack", "TensorArray", "TensorList", "Random", "Truncated", "Multinomial", "ParameterizedTruncated")


class GradientScope(object):
  """The context in which a gradient function is called, and its gradients are given back."""

  def __init__(self, api, forward):
    """`forward` is the graph in which the call was made; None if that was in eager mode."""
    self._api = api
    self._forward = forward

  def __enter__(self):
    api = self._api
    self._graph = api.get_default_graph()
    self._newest_id = api.newest_id(self._graph)
    # Plain graphs and functions before 1.13 have no list of the variables that they read.
    self._watcher = api.watch_variables() if hasattr(self._graph, "variables") else tapes.NoWatcher()
    self._watcher.__enter__()
    self._undo = api.mend_capture(self._graph, self._forward), api.keep_effects_in_branches(self._graph)
    return self

  def __exit__(self, *error):
    for undo in self._undo:
      undo()
    self._watcher.__exit__(*error)
    self._api.add_variables(self._graph, self._watcher.watched_variables())
    return False

  def give_back(self, gradients):
    """The gradients (None among them) as they can leave this graph, after the side effects."""
    graph = self._graph
    context = graph._get_control_flow_context()
    made = self._api.ops_since(graph, self._newest_id)
    effects = [op for op in made if _has_effect(op) and op._get_control_flow_context() is context and
               (op.type not in _CONTROL_FLOW or self._api.can_wait_for_control_flow)]
    if not effects:
      return [self._out(g, False) for g in gradients]
    with graph.control_dependencies(effects):
      return [self._out(g, True) for g in gradients]

  def _out(self, gradient, always):
    """`gradient` through identities: always, or where it cannot be given back as it is."""
    if gradient is None:
      return None
    api = self._api
    if isinstance(gradient, api.Tensor):
      if always or api.needs_identity(gradient, self._graph, self._newest_id):
        return api.identity(gradient)
      return gradient
    if api.defun_lacks_slices and api.is_capturing(self._graph):
      return api.convert_to_tensor(gradient)
    return api.tf.IndexedSlices(
        self._out(gradient.values, always), self._out(gradient.indices, False),
        self._out(gradient.dense_shape, False))


def _has_effect(op):
  definition = op.op_def
  if definition is None or op.type in _WITHOUT_EFFECT or op.type.startswith(_MACHINERY):
    return False
  return definition.is_stateful or any(arg.is_ref for arg in definition.input_arg)
