"""The gradient of TensorFlow's own operations, replaced within a block.

TensorFlow finds the gradient of an operation by a name that the operation bears, so this gives names to the operations
of the block while they are made: by a callback from 2.1 on, before through the map that `gradient_override_map` fills.
Both look at the blocks of their own thread. A tape that is open inside a function knows no names; it is told of the
operation as of a decorated call.

The registry holds one entry per gradient function, as long as there are graphs with operations that bear its name.
"""

from __future__ import absolute_import, division, print_function

import threading
import weakref

from . import compat
from . import errors
from . import functions
from . import gradient_scope
from . import graphdata
from . import loading

#: The beginning of the registered names.
NAME = "%s:override_gradient" % __name__.rpartition(".")[0]
_thread = threading.local()
_overrides = weakref.WeakValueDictionary()  # by the id of the gradient function, which they keep alive


class override_gradient(object):
  """A context in which TensorFlow's own operations are made with another gradient.

  For what cannot be decorated: operations inside of layers and of other people's functions. It has an effect on the
  operations that are made inside of the `with` block, by this thread and in the graph that is the default one there,
  with the loops and branches in it; not on those made before or in functions that are called there. In a block inside
  a block the inner one wins.

  Args:
    gradients: a dictionary `{op_type: grad}`. `op_type` is the type of an operation as in `tensor.op.type`, for example
      "Relu". `grad(op, *dys)` gets the operation, with `op.inputs`, `op.outputs` and `op.get_attr`, and one upstream
      gradient per output, and returns one gradient per input: a tensor, `IndexedSlices`, array or number of the shape
      of the input, or None.

  Raises:
    TypeError: `gradients` is no such dictionary, or a `grad` takes another number of arguments.
    ValueError: there is no operation of a type (the error names similar ones), or, at the end of the block, none was
      made in it.
    RuntimeError: eager mode is on, where operations bear no names. Put the block into a `tf.function`, or decorate a
      function with `custom_grad`. Or, at the end of the block, it calls a function in which there are operations of a
      type, which it cannot change.

  Example:
    >>> @tf.function(autograph=False)
    ... def clipped(x):
    ...   with override_gradient({"Relu": lambda op, dy: tf.clip_by_value(dy, -5., 5.)}):
    ...     return tf.nn.relu(x)
    >>> x = tf.constant([-1., 2.])  # the function is called from here (eager mode)
    >>> with tf.GradientTape() as tape:
    ...   tape.watch(x)
    ...   loss = tf.reduce_sum(10. * clipped(x))
    >>> loss.numpy().item(), tape.gradient(loss, x).numpy().tolist()
    (20.0, [5.0, 5.0])
  """

  _name, _all_needed = "override_gradient", True
  autograph_info__ = None

  def __init__(self, gradients):
    self._api = api = loading.load()
    self._given = _checked(api, gradients)

  def __enter__(self):
    api = self._api
    if api.executing_eagerly():
      raise errors.make(RuntimeError, None, "%s: eager mode is on, where the gradient of an operation cannot be "
                        "overridden. Put the `with` block into a function decorated with tf.function, or write the "
                        "function that is to have another gradient with custom_grad." % self._name)
    self.graph = api.get_default_graph()
    self.overrides = dict((t, _override(api, t, grad)) for t, grad in self._given.items())
    self.used = set()
    self.newest_id = api.newest_id(self.graph)
    self._end = None
    if api.has_op_callbacks:
      if not _blocks():
        self._end = api.add_op_callback(_made)
    else:
      self.map = api.watch_types(self.graph, _named)
    _blocks().append(self)
    return self

  def __exit__(self, kind, value, traceback):
    _blocks().remove(self)
    if self._end is not None:
      self._end()
    if kind is None:
      made = self._api.ops_since(self.graph, self.newest_id)
      self._check_functions(made)
      self._check_effect(made)
    return False

  def _check_functions(self, made):
    for op in made:
      for node in self._api.nodes_within(op):
        if node.op in self.overrides and graphdata.GRADIENT not in node.attr:
          raise errors.make(
              RuntimeError, None, "%s: the operation '%s' (%s), made in the block, calls a function with an operation "
              "'%s' of type '%s', whose gradient cannot be overridden from here. Put the `with` block into that "
              "function." % (
                  self._name, op.name, op.type, node.name, node.op))

  def _check_effect(self, made):
    for op in made:  # before 2.1 nobody has told
      override = self.overrides.get(op.type)
      if override is not None and self._api.get_attr(op, graphdata.GRADIENT) == override.attribute.s:
        self.used.add(op.type)
    missing = sorted(set(self.overrides) - self.used)
    if missing and (self._all_needed or not self.used):
      types = sorted(set(op.type for op in made))
      raise errors.make(
          ValueError, None, "%s: no operation of type %s was made in the block, so nothing has another gradient. Made "
          "were: %s. Put what makes the operation inside the block, or leave the type out." % (
              self._name, " or ".join("'%s'" % t for t in missing), ", ".join(types) or "none"))


def _checked(api, gradients):
  if not isinstance(gradients, dict) or not gradients:
    raise errors.make(TypeError, None, "override_gradient: expected a dictionary {op_type: grad} with at least one "
                      "entry; got %s. Pass for example {\"Relu\": grad}." % errors.kind_of(gradients))
  for op_type, grad in gradients.items():
    if not isinstance(op_type, compat.string_types):
      raise errors.make(TypeError, None, "override_gradient: the type of an operation must be a string; got %s. Pass "
                        "for example \"Relu\"." % errors.kind_of(op_type))
    definition = api.op_def(op_type)
    if definition is None:
      known = api.op_types()
      import difflib
      similar = [t for t in known if t.lower() == op_type.lower()] or difflib.get_close_matches(op_type, known)
      raise errors.make(ValueError, None, "override_gradient: TensorFlow %s has no operation of type '%s'. %s" % (
          api.tf.__version__, op_type, "Similar are: %s." % ", ".join(similar) if similar else
          "The type of an operation is tensor.op.type."))
    if not callable(grad):
      raise errors.make(TypeError, None, "override_gradient: the gradient for '%s' must be a function grad(op, *dys); "
                        "got %s." % (op_type, errors.kind_of(grad)))
    outputs = [arg for arg in definition.output_arg if not arg.number_attr and not arg.type_list_attr]
    spec = compat.argspec(grad)
    if spec is not None and len(outputs) == len(definition.output_arg) and not spec.takes(1 + len(outputs)):
      raise errors.make(TypeError, functions.Function(grad), "override_gradient: it takes the arguments %s; expected "
                        "op and %d upstream gradient%s, one for each output of '%s'." %
                        (spec, len(outputs), "" if len(outputs) == 1 else "s", op_type))
  return dict(gradients)


def is_name(name):
  """Whether a gradient that is registered under this name is that of an override."""
  return name.startswith(NAME + ":")


# ---- while operations are made

def _blocks():
  """The open blocks of this thread, the innermost last."""
  if not hasattr(_thread, "blocks"):
    _thread.blocks = []
  return _thread.blocks


def _find(graph, op_type):
  """The block whose override an operation gets, or None."""
  for block in reversed(_blocks()):
    if op_type in block.overrides and _covers(block, graph):
      return block
  return None


def _covers(block, graph):
  while graph is not block.graph:
    if graph is None or not block._api.is_body(graph):
      return False
    graph = graph.outer_graph
  return True


def _made(op):
  """Called for each operation that this thread makes, from TensorFlow 2.1 on."""
  block = _find(op.graph, op.type)
  if block is None:
    return
  override, api = block.overrides[op.type], block._api
  api.set_attr(op, graphdata.GRADIENT, override.attribute)
  block.used.add(op.type)
  _keep(api, op.graph, override)
  if api.is_recording():
    _tell_tapes(api, override, op)


def _named(watched, op_type):
  """Called for each operation that this thread makes in a graph with a block, before TensorFlow 2.1."""
  if getattr(_thread, "is_telling", False):
    return None
  for block in reversed(_blocks()):
    if block.map is watched and op_type in block.overrides:
      override, api = block.overrides[op_type], block._api
      _keep(api, block.graph, override)
      if api.record_operation is not None and api.is_recording():
        op = api.newest_of_type(block.graph, op_type, block.newest_id)
        if op is not None and api.get_attr(op, graphdata.GRADIENT) is None:  # else it is somebody else who asks
          _tell_tapes(api, override, op)
      return override.name
  return None


def _keep(api, graph, override):
  graphdata.of(graph).overrides.add(override)
  for graph in graphdata.around(api, graph):
    graphdata.of(graph).overrides.add(override)


def _tell_tapes(api, override, op):
  """Lets tapes know the operation as one of ours.

  TensorFlow will tell them of it too, but only if one of its inputs comes from something that they watch: so it gets
  identities of its inputs, of which no tape knows.
  """
  _thread.is_telling = True
  try:
    seen = _Seen(op, api.replace_inputs(op))
    graphdata.of(op.graph).seen[op.name] = seen
  finally:
    _thread.is_telling = False
  api.record_operation("override_gradient", list(op.outputs), seen.inputs, lambda *dys: override.backward(seen, dys))


def as_made(op):
  """An operation as it was made: tapes know its inputs."""
  return graphdata.of(op.graph).seen.get(op.name, op)


class _Seen(object):
  """An operation with the inputs that it was made with."""

  def __init__(self, op, inputs):
    self._op, self.inputs = op, inputs

  def __getattr__(self, name):
    return getattr(self._op, name)


# ---- when the gradient is built

class _Override(object):
  """A gradient function, and its name in TensorFlow's registry."""

  def __init__(self, api, op_type, grad):
    self._api, self._given = api, grad
    self._grad = api.converted(grad)
    self.function = functions.Function(grad)
    self.name = "%s:%s:%s" % (NAME, self.function.qualified_name, graphdata.unique())
    self.attribute = api.attr_value(self.name.encode("utf-8"))

  def backward(self, op, dys):
    """One gradient per input of `op`."""
    api = self._api
    dys = [api.tf.zeros_like(t) if dy is None and api.is_differentiable(t.dtype) else dy
           for dy, t in zip(dys, op.outputs)]
    with gradient_scope.GradientScope(api, op.graph) as scope:
      returned = self._grad(op, *dys)
      if not isinstance(returned, (list, tuple)):
        returned = [returned]
      if len(returned) != len(op.inputs):
        raise errors.make(ValueError, self.function, "override_gradient: it returned %d gradient%s for the operation "
                          "'%s'; expected %d, one for each of its inputs, with None for one that gets none." % (
                              len(returned), "" if len(returned) == 1 else "s", op.name, len(op.inputs)))
      return scope.give_back([self._matched(op, t, g) for t, g in zip(op.inputs, returned)])

  def _matched(self, op, tensor, gradient):
    api = self._api
    if gradient is None or not api.is_differentiable(tensor.dtype):
      return None
    if not isinstance(gradient, (api.Tensor, api.tf.IndexedSlices)):
      try:
        gradient = api.tf.convert_to_tensor(gradient, dtype=tensor.dtype.base_dtype)
      except (TypeError, ValueError):
        raise errors.make(TypeError, self.function, "override_gradient: it returned %s for an input of the operation "
                          "'%s'; expected a tensor of %s." % (errors.kind_of(gradient), op.name, tensor.dtype.name))
    got, want = (None, None) if not isinstance(gradient, api.Tensor) else (api.shape(gradient), api.shape(tensor))
    if got is not None and want is not None and (
        len(got) != len(want) or any(None not in pair and pair[0] != pair[1] for pair in zip(got, want))):
      raise errors.make(ValueError, self.function, "override_gradient: it returned a gradient of shape %s for an input "
                        "of the operation '%s'; expected %s, the shape of the input." % (got, op.name, want))
    if gradient.dtype.base_dtype != tensor.dtype.base_dtype:
      raise errors.make(TypeError, self.function, "override_gradient: it returned a gradient of %s for an input of the "
                        "operation '%s'; expected %s. Cast it with tf.cast." % (
                            gradient.dtype.name, op.name, tensor.dtype.name))
    return gradient


def _override(api, op_type, grad):
  """The override for a gradient function: the same one as long as there are operations that bear its name."""
  key = id(grad), api.converted(grad) is grad  # AutoGraph may have converted it for one block and not for another
  override = _overrides.get(key)
  if override is None:
    override = _overrides[key] = _Override(api, op_type, grad)
    _register(api, override)
  return override


def _register(api, override):
  name = override.name
  weak = weakref.ref(override, lambda _: api.registry.pop(name, None))

  def gradient(op, *dys):
    if op is None:  # saving a SavedModel from 2.7 on: the gradient function is traced without an operation
      raise errors.make(RuntimeError, None, "an overridden gradient cannot be saved in a SavedModel. Save with "
                        "tf.saved_model.SaveOptions(experimental_custom_gradients=False).")
    return weak().backward(op, dys)
  api.register(name, gradient)
