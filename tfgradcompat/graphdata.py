"""What a graph owns: its calls of decorated functions, and the names under which their gradients are found.

One gradient function, `dispatch`, is registered in TensorFlow's registry, once per decorated function, under a name
that is made from the function's own. It knows nothing of calls: it asks the graph of the operation, which keeps them
by the operation's name. So a graph is freed with everything that its calls hold when its last user lets go of it, the
registry never grows with calls, and the threads that build one graph cannot get each other's gradient, since the name
is set on the operation itself.
"""

from __future__ import absolute_import, division, print_function

import itertools
import os
import threading
import weakref

from . import errors
from . import imported
from . import loading
from . import rerun

# The package's own name, whatever it is: copies of the package in one process must not share these.
_PACKAGE = __name__.rpartition(".")[0]
_COLLECTION = ("calls of decorated functions", _PACKAGE)
_ATTRIBUTE = "_calls_of_decorated_functions:" + _PACKAGE
_CALL_ID = "_custom_grad_call"

GRADIENT = "_gradient_op_type"

_LOST = ("it stands for all iterations of a tf.vectorized_map or of a jacobian, which cannot be made again. Use tf.map_fn there "
         "(and, where TensorFlow copies loops and branches, 1.13 to 2.0, keep tf.vectorized_map out of them)")

_process = "".join(["%02x" % byte for byte in bytearray(os.urandom(6))])
_counter = itertools.count()
_calls_by_id = weakref.WeakValueDictionary()


class GraphData(object):
  """The calls made in one graph, which owns them."""

  __slots__ = ("calls", "inner_calls", "overrides", "seen", "lock", "variables", "variables_seen")

  def __init__(self):
    self.calls = {}  # by the name of the operation
    self.inner_calls = []  # in the bodies of loops and branches
    self.overrides = set()  # see overriding.py
    self.seen = {}  # by the name of an operation with an overridden gradient: the same with the inputs that it was made with
    # {operation name: trainable variable}, as of when there were `variables_seen` of them (see variables.py).
    self.variables, self.variables_seen = {}, 0
    # Held while tf.custom_gradient opens its window in the graph's override map. It belongs to the graph, so that a
    # fork while another thread builds a graph cannot leave it locked for the graphs of the child.
    self.lock = threading.Lock()


def of(graph):
  """The data of `graph`, made on first use."""
  if loading.load().is_capturing(graph):
    # The body of a function, a loop or a branch has the collections of the graph around it, the same or copies: its
    # operations would be taken for others of the same name. One thread builds it.
    data = getattr(graph, _ATTRIBUTE, None)
    if data is None:
      data = GraphData()
      setattr(graph, _ATTRIBUTE, data)
    return data
  # A collection, since not every release lets a graph have attributes; under a key that is not a string, since such
  # are not exported. If two threads append at once, both use the first.
  data = graph.get_collection_ref(_COLLECTION)
  if not data:
    data.append(GraphData())
  return data[0]


def unique():
  """A string that no other process and no other copy of this package has."""
  return "%s-%d-%d" % (_process, os.getpid(), next(_counter))  # fork copies the counter


def name_of(function):
  """The registered name for `function`: the same in every process, other in every copy of this package."""
  return "%s:%s%s" % (_PACKAGE, function.qualified_name, function.suffix)


def announce(function):
  """Registers `function` when it is decorated, for graphs that are imported before it has been called."""
  if function.can_be_found:
    name = name_of(function)
    imported.announce(name, function)
    loading.when_loaded(lambda api: api.register(name, dispatch))


def own(api, data, op, call):
  """Makes `op`, which hands the tensors of `call` through, answer for its gradient; `data` is that of its graph."""
  function = call.function
  if function.registered is None:
    api.register(name_of(function), dispatch)
    function.registered = api.attr_value(name_of(function).encode("utf-8"))
  data.calls[op.name] = call
  imported.describe(api, call, op)
  registered = function.registered
  if api.is_capturing(op.graph):
    call_id = _lend(api, op, call)
    if api.saves_gradients and api.is_eager_outside():  # the functions in a plain graph are exported with it
      registered = _register_call(api, "%s@%s" % (name_of(function), call_id), call)
  api.set_attr(op, GRADIENT, registered)


def _register_call(api, name, call):
  """Registers a name of its own for a call, for as long as the call lives; the attribute that says it.

  When a SavedModel is written, TensorFlow traces the gradient functions that it finds, one per name, without telling for which
  operation, and binds them to the saved graph. So each call in it needs a name, as tf.custom_gradient gives it one.
  """
  def forget(unused):
    api.registry.pop(name, None)
  found = weakref.ref(call, forget)

  def gradient(op, *dys):
    if op is not None:
      return dispatch(op, *dys)
    call = found()
    if call is None:
      raise errors.make(errors.NoGradientError, None, "the call '%s' is gone, and its gradient cannot be saved." % name)
    gradients = call.backward(dys)
    return [None] * (len(dys) - len(gradients)) + gradients
  api.register(name, gradient)
  return api.attr_value(name.encode("utf-8"))


def _lend(api, op, call):
  """Makes `call` known to copies of a function's body, which TensorFlow may differentiate in its place."""
  call_id = unique()
  api.set_attr(op, _CALL_ID, api.attr_value(call_id.encode("ascii")))
  _calls_by_id[call_id] = call
  _keep(api, op, call)
  return call_id


def _keep(api, op, call):
  for graph in around(api, op.graph):
    of(graph).inner_calls.append(call)


def answer(api, op, call, name):
  """Makes `call`, which no function made, answer for the gradient of `op` under `name`. It cannot be made again."""
  api.register(name, dispatch)
  of(op.graph).calls[op.name] = call
  imported.describe_lost(api, op, _LOST)
  if api.is_capturing(op.graph):
    _keep(api, op, call)
    if api.saves_gradients and api.is_eager_outside():
      api.set_attr(op, GRADIENT, _register_call(api, "%s@%s" % (name, unique()), call))
      return
  api.set_attr(op, GRADIENT, api.attr_value(name.encode("utf-8")))


# ---- what an operation, or its node in a function, says of itself

def is_ours(op):
  """Whether an operation, or a node definition, has a gradient of this package."""
  return gradient_name(op).startswith(_PACKAGE + ":")


def gradient_name(op):
  """The name under which TensorFlow looks for the gradient of an operation, or of a node; "" where it is that of its type."""
  attributes = getattr(op, "attr", None)
  if attributes is not None:
    found = attributes[GRADIENT].s if GRADIENT in attributes else None
  else:
    found = loading.load().get_attr(op, GRADIENT)
  return (found or b"").decode("utf-8")


def count_of_outputs(api, op, name):
  """How many outputs of a call `op`, which carries its gradient under `name`, hands through, before the inputs."""
  call = known_call(api, op)
  return imported.count_of_outputs(api, op, name) if call is None else len(op.inputs) - call.count_of_inputs()


def around(api, graph):
  """The graphs around the body of a loop or a branch, or of a function, which is gone sooner than they are."""
  found = []  # no generator, of which AutoGraph of 1.14 warns, and fails in it
  graph = getattr(graph, "outer_graph", None)
  while graph is not None and (api.is_capturing(graph) or not api.is_eager_outside()):
    found.append(graph)
    graph = getattr(graph, "outer_graph", None)
  return found


def dispatch(op, *dys):
  """The gradient function that is registered for every decorated function."""
  api = loading.load()
  if op is None:  # only where nothing is written unless asked for: see `_register_call`
    raise errors.make(
        RuntimeError, None, "TensorFlow %s writes gradients into a SavedModel only on request, and not those of decorated "
        "functions. Save without experimental_custom_gradients, and import the modules that decorate before you take "
        "gradients of the loaded model." % api.tf.__version__)
  call = of(op.graph).calls.get(op.name)
  if call is None or _has_other_inputs(op, call):
    call = _call_again(api, op)
  gradients = call.backward(dys)
  return [None] * (len(op.inputs) - len(gradients)) + gradients


def _has_other_inputs(op, call):
  """Whether somebody has given `op` other inputs since it was made, as graph editors do.

  In loops and branches of old TensorFlow does, each time.
  """
  inputs = call.graph_inputs()
  return op._get_control_flow_context() is None and any(
      now is not then for now, then in zip(list(op.inputs)[len(op.inputs) - len(inputs):], inputs))


def _call_again(api, op):
  """The call for an operation that was copied into another graph: the function, run again on the copy's inputs.

  TensorFlow 1.13 to 2.0 copy the bodies of loops and conditionals before they differentiate them, and so does whoever
  imports a graph. The gradient function of the first call is of no use there: its tensors are in the first graph.
  """
  first = _first_call(api, op)
  if first is not None:
    return rerun.call(api, first, op)
  return rerun.imported_call(api, op, api.get_attr(op, GRADIENT).decode("utf-8"))


def _first_call(api, op):
  """The call of whose operation `op` is a copy, or None."""
  call_id = api.get_attr(op, _CALL_ID)
  return _calls_by_id.get(call_id.decode("ascii")) if call_id else None


def known_call(api, op):
  """The call that `op`, or what it was copied from, carries; None where it carries none that is known here."""
  return of(op.graph).calls.get(op.name) or _first_call(api, op)
