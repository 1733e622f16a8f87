"""Every probe of TensorFlow and every private part that this package touches, in this one module.

Nothing is imported before the first call of a decorated function (`load`). Features are probed, not versions; where a
version must be compared because a release has the thing but has it wrong, numbers are compared. Each probe says which
release brought the thing and when the probe can go.
"""

from __future__ import absolute_import, division, print_function

import importlib
import os
import re
import sys
import threading

from . import compat
from . import differentiation
from . import errors
from . import hooks
from . import keras_api
from . import leaves
from . import operations
from . import optimizers
from . import parallel_loops
from . import python_ops
from . import testing_api

_PACKAGE = __name__.rpartition(".")[0] + "."

_lock = threading.Lock()
_api = None
_waiting = []


def when_loaded(action):
  """Calls `action(api)` now if TensorFlow has been imported, else when it is loaded here. Imports nothing."""
  if _api is None and not hasattr(sys.modules.get("tensorflow"), "Graph"):
    _waiting.append(action)
  else:
    action(load())


def load():
  """The `Api` of the TensorFlow that is installed; imported at the first call."""
  global _api
  if _api is None:
    try:
      import tensorflow as tf
    except ImportError as error:
      raise errors.make(
          ImportError, None, "a decorated function was called, and that needs TensorFlow, which cannot be imported "
          "(%s). Install it: `pip install tensorflow` (any release from 0.12 on; `tensorflow-cpu` will do)." % error)
    with _lock:
      if _api is None:
        _api = Api(tf)
    while _waiting:
      _waiting.pop()(_api)
  return _api


def _private(name):
  """A private module of TensorFlow, or None where this release has none of that name."""
  try:
    return importlib.import_module("tensorflow.python." + name)
  except ImportError:
    return None


class Api(leaves.Leaves, operations.Operations, optimizers.Optimizers, python_ops.PythonOps, hooks.Hooks,
          differentiation.Differentiation, keras_api.Keras, testing_api.Testing, parallel_loops.ParallelLoops):
  """What this TensorFlow has, under one name each."""

  def __init__(self, tf):
    import numpy  # not at the top: importing this package takes no time

    self.tf = tf
    self.np = numpy
    # compat.v1 from 1.13 on; before it `tf` itself is v1. Can go with TF 1.12.
    self.v1 = getattr(getattr(tf, "compat", None), "v1", None) or tf
    self.version = tuple(int(part) for part in tf.__version__.split("-")[0].split("rc")[0].split(".")[:2])
    self._ops = _private("framework.ops")
    self.Tensor = tf.Tensor
    self.get_default_graph = self.v1.get_default_graph
    self.convert_to_tensor = tf.convert_to_tensor
    self.identity = tf.identity
    # What tf.identity ends in. In eager mode the way there takes longer than the operation.
    self.eager_identity = getattr(_private("ops.gen_array_ops"), "identity", tf.identity)
    self._probe_eager()
    self._probe_tape()
    self._probe_carriers()
    self._probe_autograph()
    self._probe_leaves(_private)
    self._probe_operations()
    self._probe_optimizers(_private)
    self._probe_python_ops(_private)
    self._probe_hooks(_private)
    self._probe_differentiation(_private)
    self._probe_keras(_private)
    self._probe_parallel_loops(_private)

  # ---- modes

  def _probe_eager(self):
    context = _private("eager.context")
    if hasattr(self.tf, "executing_eagerly"):  # 1.7
      self.executing_eagerly = self.tf.executing_eagerly
    elif context is not None:  # 1.4 to 1.6
      self.executing_eagerly = context.in_eager_mode
    else:
      self.executing_eagerly = lambda: False
    # contrib.eager.defun of 1.5 fails on a gradient that is IndexedSlices, also on that of tf.gather.
    self.defun_lacks_slices = self.version == (1, 5)
    self.backward_captures = self.version >= (1, 15)
    # What waits for a conditional in a function of 1.14 runs only if one of the two branches does, and comes out empty.
    self.can_wait_for_control_flow = self.version >= (1, 15)
    # A class in all releases that have eager mode; symbolic tensors are never instances of it.
    self.EagerTensor = getattr(self._ops, "EagerTensor", None) or type(None)
    # A class of its own from 2.14 on; before it the class of all tensors.
    self.SymbolicTensor = getattr(self._ops, "SymbolicTensor", None) or self.Tensor

  def is_capturing(self, graph):
    """Whether `graph` is the body of a function, which captures tensors from outside."""
    return type(graph) is not self.tf.Graph

  def is_eager_outside(self):
    """Whether eager mode is on around all the functions that are being built."""
    outside = getattr(self._ops, "executing_eagerly_outside_functions", None)  # 1.13
    if outside:
      return outside()
    if not hasattr(self._ops, "init_scope"):  # 1.5; bodies of functions know the graph around them from 1.11 on
      return False
    with self._ops.init_scope():
      return self.executing_eagerly()

  def needs_identity(self, tensor, graph, newest_id):
    """Whether `tensor` cannot be given back as it is by a gradient function that is built in `graph`.

    A function captures tensors from outside when an operation takes them, and a tensor that is only returned is not
    taken by any. `contrib.eager.defun` (to 1.12) builds forward and backward pass in one graph and then cuts it in two:
    there "outside" are the operations up to `newest_id`.
    """
    if not self.is_capturing(graph):
      return False
    if isinstance(tensor, self.EagerTensor) or tensor.graph is not graph:
      return True
    return self.version < (1, 13) and tensor.op._id <= newest_id

  def mend_capture(self, graph, forward):
    """Lets a gradient function that is built in `graph`, the backward pass of `forward`, read variables.

    Returns what undoes it. Not needed from 2.1 on, and up to 1.8 in vain: there a backward pass captures nothing.
    """
    if (1, 11) <= self.version <= (1, 13) and self.is_capturing(graph) and forward is not graph:
      # What a backward pass captures is taken for a result of the forward pass: it must be that one's own capture.
      def capture(tensor, name=None):
        if isinstance(tensor, self.EagerTensor):
          tensor = forward.captures.get(tensor, tensor)
        return type(graph).capture(graph, tensor, name)
      graph.capture = capture
      return lambda: graph.__dict__.pop("capture", None)
    if (1, 15) <= self.version <= (2, 0) and hasattr(graph, "_forward_func_graph"):
      # It lets the forward pass capture first, which then puts its placeholder into the wrong graph.
      before, graph._forward_func_graph = graph._forward_func_graph, None
      return lambda: setattr(graph, "_forward_func_graph", before)
    return lambda: None

  @staticmethod
  def keep_effects_in_branches(graph):
    """Lets the branches and loops that are made in `graph` from now on run their side effects, used or not.

    They do so where `graph` is a function's body, but TensorFlow builds backward passes otherwise: there an assignment
    on which no result of the branch depends is lost. Returns what undoes it.
    """
    if getattr(graph, "_add_control_dependencies", True):  # control flow as functions: 1.13
      return lambda: None
    graph._add_control_dependencies = True
    return lambda: setattr(graph, "_add_control_dependencies", False)

  @staticmethod
  def add_variables(graph, variables):
    """Lets `graph`, the backward pass of a function, know that it reads `variables`.

    A function tells the tapes of its variables each time it is called, but the backward pass, which TensorFlow builds
    otherwise, knows of none: only the tapes that are open when it is built see the reads, and from the second call on
    a second derivative lacks its part through the variables.
    """
    if variables:
      known = list(graph.variables)
      seen = set(id(v) for v in known)
      graph.variables = known + [v for v in variables if id(v) not in seen]

  # ---- shapes

  def constant_value(self, tensor):
    """The value of a tensor where it is known without running it, else None."""
    return _private("framework.tensor_util").constant_value(tensor)

  def sum_to_shape_of(self, tensor, gradient, name):
    """`gradient` summed to the shape that `tensor` has when it runs; `name` stands in the error if that cannot be."""
    gen_array_ops = _private("ops.gen_array_ops")
    # Public under this name from 1.8 on.
    axes = getattr(gen_array_ops, "broadcast_gradient_args", None) or gen_array_ops._broadcast_gradient_args
    with self.v1.name_scope(re.sub("[^A-Za-z0-9_]+", "_", name).strip("_")):
      shape = self.tf.shape(tensor)
      summed = self.tf.reduce_sum(gradient, axes(self.tf.shape(gradient), shape)[1])
      return self.tf.reshape(summed, shape)  # fails where the gradient is smaller than its input

  # ---- operations

  def attr_value(self, value):
    """The bytes `value` as `set_attr` takes it; it can be kept."""
    return importlib.import_module("tensorflow.core.framework.attr_value_pb2").AttrValue(s=value)

  @staticmethod
  def set_attr(op, name, attr_value):
    """Sets an attribute of an operation that has been made already."""
    if hasattr(op, "_set_attr"):  # 1.5; needed where graphs are kept in C (1.7 and newer)
      op._set_attr(name, attr_value)
    else:
      op.node_def.attr[name].CopyFrom(attr_value)

  @staticmethod
  def get_attr(op, name):
    """The bytes attribute `name`, or None."""
    try:
      return op.get_attr(name)
    except ValueError:
      return None

  def newest_id(self, graph):
    """The id of the operation that was made last in `graph`."""
    # From 2.13 on operation ids are those of the C graph, which start behind its source and sink node.
    return graph.version + 1 if self.version >= (2, 13) else graph.version

  def ops_since(self, graph, newest_id):
    """The operations made in `graph` after its newest one was `newest_id`."""
    count = self.newest_id(graph) - newest_id
    if count <= 0:
      return []
    if self.version >= (2, 13):
      return graph.operations[-count:]  # the list itself; `get_operations` copies it
    by_id = graph._nodes_by_id
    return [by_id[i] for i in range(newest_id + 1, newest_id + count + 1) if i in by_id]

  @staticmethod
  def is_variable(op):
    """Whether an operation makes a variable."""
    return op.type in ("Variable", "VariableV2", "VarHandleOp")

  @staticmethod
  def is_random(op):
    """Whether an operation draws random numbers of its own: others each time."""
    return op.op_def.is_stateful and any(word in op.type for word in ("Random", "Multinomial", "Truncated", "Shuffle"))

  # ---- the gradient registry

  @property
  def registry(self):
    """`{name: {"type": gradient function, ...}}`, as TensorFlow keeps it."""
    return self._ops._gradient_registry._registry

  def register(self, name, gradient):
    """Registers `gradient` under `name` unless something is there already."""
    if name not in self.registry:
      try:
        self._ops.RegisterGradient(name)(gradient)
      except KeyError:  # another thread was faster
        pass

  def gradient_function(self, op):
    """The gradient function that is registered for an operation. LookupError if there is none."""
    return self._ops.get_gradient_function(op)

  def next_native_name(self):
    """The name that tf.custom_gradient will give to its next call, unless another thread is faster."""
    return "CustomGradient-%d" % (self._ops.uid() + 1)

  def unregister_call(self, name, backward):
    """Takes the entry that tf.custom_gradient made for a call, with the gradient function `backward`, out again.

    It is under `name` unless another thread was faster.
    """
    if not _leads_to(self.registry.get(name), backward):
      # The names only: making pairs may start the garbage collector, which may change the registry meanwhile.
      name = next((n for n in list(self.registry) if _leads_to(self.registry.get(n), backward)), None)
    self.registry.pop(name, None)

  # ---- tapes

  def _probe_tape(self):
    # `record` took this part of `tape` over in 2.12. There are tapes from 1.4 on.
    module = _private("eager.record") or _private("eager.tape")
    self._backprop = _private("eager.backprop")
    # Only where there is a GradientTape (1.5): the tapes of 1.4 cannot be open inside a graph, and record otherwise.
    self.record_operation = module.record_operation if hasattr(self._backprop, "GradientTape") else None
    # Whether a tape or a forward accumulator is open in this thread; public to TensorFlow's own modules since 1.4.
    self.is_recording = getattr(module, "could_possibly_record", lambda: False)
    # Whether an open tape watches one of some tensors, or something that they were computed from; renamed in 2.1.
    self.is_watched = getattr(module, "should_record_backprop", getattr(module, "should_record", None))
    # Up to 2.1 only a tape tells which variables are read, and it records everything else as well. In a plain graph it
    # is not needed: the walk in variables.py sees them.
    self.has_watcher = hasattr(module, "VariableWatcher")
    if self.has_watcher:  # 2.2
      self.watch_variables = module.VariableWatcher
    elif hasattr(self._backprop, "GradientTape"):  # 1.5
      self.watch_variables = lambda: _TapeWatcher(module)
    else:
      self.watch_variables = NoWatcher
    self.stop_recording = getattr(module, "stop_recording", NoWatcher)

  def is_stale_zero(self, dy, dtype):
    """Whether `dy`, for an output of `dtype`, is a zero that a tape took out of its cache by mistake.

    Up to 1.10 it hands zeros that it made in a graph to eager mode; 1.5 gives the zero before for a dtype of which it
    could make none.
    """
    if self.version > (1, 10) or not isinstance(dy, self.Tensor) or not self.executing_eagerly():
      return False
    return not isinstance(dy, self.EagerTensor) or dy.dtype != dtype

  # ---- carriers: operations that hand tensors through and bear the gradient

  def _probe_carriers(self):
    self.identity_n = getattr(_private("ops.array_ops"), "identity_n", None)  # 1.4
    self.custom_gradient = getattr(self.tf, "custom_gradient", None)  # 1.7
    if self.custom_gradient is None:  # 1.4 to 1.6, for eager mode
      self.custom_gradient = getattr(_private("eager.custom_gradient"), "custom_gradient", None)
    self._variable_scope = _private("ops.variable_scope")
    # Whether a SavedModel is written with the gradients in it, unless the caller says no: 2.7. (2.6 has the option, off.)
    options = getattr(getattr(self.tf, "saved_model", None), "SaveOptions", dict)
    self.saves_gradients = getattr(options(), "experimental_custom_gradients", False)
    self.native_looks_for_variables = self.version >= (1, 9)
    self._function = _private("framework.function")  # Defun, for graphs before 1.4
    self._defuns = {}
    self.carrier = self.backward_type = None  # made by routes.py on first use

  def signature_of_gradients(self):
    """What tells `tf_inspect` that a gradient function takes `*dys`, without looking at it."""
    decorator = _private("util.tf_decorator")
    def gradient(*dys):
      return dys
    inspect = _private("util.tf_inspect")
    asked = inspect.getfullargspec if self.version >= (1, 11) else inspect.getargspec
    return decorator.TFDecorator("custom_grad", gradient, decorator_argspec=asked(gradient))

  def undifferentiable(self, graph, tensors):
    """`tensors`, behind which the runtime cannot differentiate if `graph` is the body of a Defun.

    A call of one has a gradient that the runtime makes, and the runtime looks at no names: from 1.14 on it knows
    IdentityN, and would go by the operations of the function. Of the operations that change nothing it does not know
    this one, and does not leave it out either.
    """
    if self.version < (1, 14) or type(graph) is not self._function._FuncGraph:
      return tensors
    return [self.tf.ensure_shape(t, t.get_shape()) for t in tensors]

  def defun_carrier(self, tensors, count, gradient):
    """The call of a function that hands the first `count` of `tensors` through and whose gradient is `gradient`.

    One function per signature of dtypes serves all calls: it closes over nothing. Bitcast in place of an identity
    keeps its value and has no gradient in the runtime: a graph that is imported without the gradient function fails
    instead of taking the true gradient.
    """
    key = tuple(t.dtype.base_dtype.name for t in tensors), count
    defun = self._defuns.get(key)
    if defun is None:
      # Threads that come here together must use the same one: a graph takes one of a name.
      defun = self._defuns.setdefault(key, self._make_defun(key, gradient))
    carried = defun(*tensors)
    op = (carried[0] if isinstance(carried, (list, tuple)) else carried).op
    for given, taken in zip(tensors, op.outputs):
      taken.set_shape(given.get_shape())  # functions have no shape inference
    return op

  def _make_defun(self, key, gradient):
    dtypes, count = key
    def hand_through(*tensors):
      return [self.tf.bitcast(t, t.dtype) for t in tensors[:count]]
    # Other copies of this package have functions of their own.
    name = re.sub("[^A-Za-z0-9]", "_", "CustomGrad_%s_%d_%s" % (__name__, count, "_".join(dtypes)))
    defun = self._function.Defun(
        *[self.tf.as_dtype(d) for d in dtypes], func_name=name, python_grad_func=gradient)(hand_through)
    unused_definition = defun.definition  # made when it is asked for first: now, while no other thread can see it
    return defun

  def identity_n_since(self, graph, newest_id, count, name):
    """The IdentityN of `count` tensors that tf.custom_gradient has made since, for the gradient `name`."""
    found = [op for op in self.ops_since(graph, newest_id) if op.type == "IdentityN" and len(op.outputs) == count]
    if len(found) > 1:  # another thread made one at the same time, outside of this package
      found = [op for op in found if self.get_attr(op, "_gradient_op_type") == name.encode("ascii")]
    return found[0]

  def count_of_results(self, name):
    """How many of the tensors that tf.custom_gradient hands through, with the gradient `name`, are results of the function.

    What stands behind them are its arguments. None where TensorFlow does not let us see it.
    """
    found = _closure_by_name(self.registry[name]["type"])
    found = _closure_by_name(found["tape_grad_fn"]) if "tape_grad_fn" in found else found  # 1.13
    return found["flat_result_len"] if "flat_result_len" in found else (  # 1.15
        len(found["flat_result"]) if "flat_result" in found else None)

  def empty_variable_scope(self):
    """A context in which the current variable scope seems to hold no variable.

    From 1.9 on `tf.custom_gradient` lists the scope's variables before and after each call, which costs milliseconds in
    a scope with many. The store of scopes belongs to the thread.
    """
    return _EmptyScope(self._variable_scope) if self.native_looks_for_variables else NoWatcher()

  # ---- AutoGraph

  def _probe_autograph(self):
    self._autograph = _private("autograph.impl.api")
    self._ag_ctx = _private("autograph.core.ag_ctx")  # 1.15

  def converted(self, f):
    """`f` converted by AutoGraph, where the caller has been; the package's own functions stay as they are."""
    if (getattr(f, "__module__", None) or "").startswith(_PACKAGE):
      return f
    if self._ag_ctx is not None:
      context = self._ag_ctx.control_status_ctx()
      if context.status == self._ag_ctx.Status.ENABLED:
        return self._autograph.tf_convert(f, context)
    elif self.version == (1, 14) and _called_by_autograph():
      named = f if hasattr(f, "__name__") else f.__call__  # Python 2 cannot wrap what has no name
      return self._autograph.convert(recursive=True)(named)
    return f


def _leads_to(entry, target, depth=3):
  """Whether the closure of a registered gradient function holds `target`, at most `depth` functions down."""
  todo = [(entry["type"], depth)] if entry else []
  while todo:
    function, depth = todo.pop()
    for content in compat.closure(function):
      if content is target:
        return True
      if depth and callable(content):
        todo.append((content, depth - 1))
  return False


def _called_by_autograph():
  """Whether the decorated function was called by code that AutoGraph has converted; 1.14 keeps no record of it."""
  here = os.path.dirname(__file__)
  frame = sys._getframe(1)
  while frame is not None and os.path.dirname(frame.f_code.co_filename) == here:
    frame = frame.f_back
  return frame is not None and os.path.join("autograph", "impl", "api.py") in frame.f_code.co_filename


class NoWatcher(object):
  """Stands in for a variable watcher where there are no tapes, or where none is needed."""

  def __enter__(self):
    return self

  def __exit__(self, *unused):
    return False

  def watched_variables(self):
    return ()


class _TapeWatcher(object):
  """A tape that is asked which variables it watched, and nothing more: what GradientTape makes, at half its cost."""

  __slots__ = ("_module", "_tape")

  def __init__(self, module):
    self._module = module

  def __enter__(self):
    self._tape = self._module.push_new_tape()
    return self

  def __exit__(self, *unused):
    if self._tape is None:  # up to 1.5 tapes are on a stack
      self._tape = self._module.pop_tape()
    else:
      self._module.pop_tape(self._tape)
    return False

  def watched_variables(self):
    return self._tape.watched_variables()


class _EmptyScope(object):

  def __init__(self, variable_scope):
    self._store = variable_scope.get_variable_scope_store()

  def __enter__(self):
    self._kept, self._store.current_scope = self._store.current_scope, self

  def __exit__(self, *unused):
    self._store.current_scope = self._kept
    return False

  use_resource = True

  @staticmethod
  def global_variables():
    return []

  @staticmethod
  def local_variables():
    return []


def _closure_by_name(f):
  return dict(zip(f.__code__.co_freevars, compat.closure(f))) if hasattr(f, "__code__") else {}
