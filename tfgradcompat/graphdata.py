"""What a graph owns: its calls of decorated functions, and the names under which their gradients are found.

One gradient function, `dispatch`, is registered in TensorFlow's registry, once per decorated function, under a name
that is made from the function's own. It knows nothing of calls: it asks the graph of the operation, which keeps them
by the operation's name. So a graph is freed with everything that its calls hold when its last user lets go of it, the
registry never grows with calls, and the threads that build one graph cannot get each other's gradient, since the name
is set on the operation itself.
"""

from __future__ import absolute_import, division, print_function

import binascii
import itertools
import os
import threading
import weakref

from . import errors
from . import rerun
from . import tensorflow_api

# The package's own name, whatever it is: copies of the package in one process must not share these.
_PACKAGE = __name__.rpartition(".")[0]
_COLLECTION = ("calls of decorated functions", _PACKAGE)
_ATTRIBUTE = "_calls_of_decorated_functions:" + _PACKAGE
_CALL_ID = "_custom_grad_call"

GRADIENT = "_gradient_op_type"

_process = binascii.hexlify(os.urandom(6)).decode("ascii")
_counter = itertools.count()
_calls_by_id = weakref.WeakValueDictionary()


class GraphData(object):
  """The calls made in one graph, which owns them."""

  __slots__ = ("calls", "inner_calls", "lock", "variables", "variables_seen")

  def __init__(self):
    self.calls = {}  # by the name of the operation
    self.inner_calls = []  # in the bodies of loops and branches
    # {operation name: trainable variable}, as of when there were `variables_seen` of them (see variables.py).
    self.variables, self.variables_seen = {}, 0
    # Held while tf.custom_gradient opens its window in the graph's override map. It belongs to the graph, so that a
    # fork while another thread builds a graph cannot leave it locked for the graphs of the child.
    self.lock = threading.Lock()


def of(graph):
  """The data of `graph`, made on first use."""
  if tensorflow_api.load().is_capturing(graph):
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


def name_of(function):
  """The registered name for `function`: the same in every process, other in every copy of this package."""
  return "%s:%s" % (_PACKAGE, function.qualified_name)


def own(api, data, op, call):
  """Makes `op`, which hands the tensors of `call` through, answer for its gradient; `data` is that of its graph."""
  function = call.function
  if function.registered is None:
    api.register(name_of(function), dispatch)
    function.registered = api.attr_value(name_of(function).encode("utf-8"))
  api.set_attr(op, GRADIENT, function.registered)
  data.calls[op.name] = call
  if api.is_capturing(op.graph):
    _lend(api, op, call)


def _lend(api, op, call):
  """Makes `call` known to copies of a function's body, which TensorFlow may differentiate in its place."""
  # fork copies the counter, so the process id is part of it.
  call_id = "%s-%d-%d" % (_process, os.getpid(), next(_counter))
  api.set_attr(op, _CALL_ID, api.attr_value(call_id.encode("ascii")))
  _calls_by_id[call_id] = call
  # The body of a loop or a branch may be gone by then; the function or graph around it is not.
  graph = getattr(op.graph, "outer_graph", None)
  while graph is not None and (api.is_capturing(graph) or not api.is_eager_outside()):
    of(graph).inner_calls.append(call)
    graph = getattr(graph, "outer_graph", None)


def dispatch(op, *dys):
  """The gradient function that is registered for every decorated function."""
  api = tensorflow_api.load()
  if op is None:  # saving a SavedModel from 2.7 on: the gradient function is traced without an operation
    raise errors.make(
        RuntimeError, None, "the gradient of a decorated function cannot be saved in a SavedModel. Save with "
        "tf.saved_model.SaveOptions(experimental_custom_gradients=False).")
  call = of(op.graph).calls.get(op.name)
  if call is None:
    call = _call_again(api, op)
  gradients = call.backward(dys)
  return [None] * (len(op.inputs) - len(gradients)) + gradients


def _call_again(api, op):
  """The call for an operation that was copied into another graph: the function, run again on the copy's inputs.

  TensorFlow 1.13 to 2.0 copy the bodies of loops and conditionals before they differentiate them, and so does whoever
  imports a graph. The gradient function of the first call is of no use there: its tensors are in the first graph.
  """
  call_id = api.get_attr(op, _CALL_ID)
  first = _calls_by_id.get(call_id.decode("ascii")) if call_id else None
  if first is None:
    raise errors.make(
        LookupError, None, "the operation '%s' carries the custom gradient of '%s', but its graph was imported, and the "
        "call that made it is not known in this process. Build the graph by calling the decorated function." %
        (op.name, (api.get_attr(op, GRADIENT) or b"").decode("utf-8").partition(":")[2]))
  return rerun.call(api, first, op)
