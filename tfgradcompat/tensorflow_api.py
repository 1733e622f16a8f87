"""Every probe of TensorFlow and every private part that this package touches: here, and in the parts of `Api`, a file each.

It is imported at the first call of a decorated function (see loading.py). Features are probed, not versions; where a
version must be compared because a release has the thing but has it wrong, numbers are compared. Each probe says which
release brought the thing and when the probe can go.
"""

from __future__ import absolute_import, division, print_function

import importlib
import os
import re
import sys

import numpy

from . import carriers
from . import differentiation
from . import hooks
from . import keras_api
from . import leaves
from . import operations
from . import optimizers
from . import parallel_loops
from . import python_ops
from . import tapes
from . import testing_api

_RANDOM_WORDS = ("Random", "Multinomial", "Truncated", "Shuffle")
_RANDOM_FIRST = ("Rng", "NonDeterministic", "StatefulUniform", "StatefulStandard")
_PACKAGE = __name__.rpartition(".")[0] + "."

def _private(name):
  """A private module of TensorFlow, or None where this release has none of that name."""
  try:
    return importlib.import_module("tensorflow.python." + name)
  except ImportError:
    return None


class Api(leaves.Leaves, tapes.Tapes, carriers.Carriers, operations.Operations, optimizers.Optimizers, python_ops.PythonOps,
          hooks.Hooks, differentiation.Differentiation, keras_api.Keras, testing_api.Testing, parallel_loops.ParallelLoops):
  """What this TensorFlow has, under one name each."""

  def __init__(self, tf):
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
    self._probe_autograph()
    self._probe_leaves(_private)
    self._probe_tapes(_private)
    self._probe_carriers(_private)
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
  def is_random(op_type):
    """Whether operations of this type draw other numbers each time they run. Stateless ones draw the same from the same seed."""
    return op_type.startswith(_RANDOM_FIRST) or (
        not op_type.startswith("Stateless") and any(word in op_type for word in _RANDOM_WORDS))

  # ---- AutoGraph

  def _probe_autograph(self):
    self._autograph = _private("autograph.impl.api")
    self._ag_ctx = _private("autograph.core.ag_ctx")  # 1.15
    self._converts = self.version >= (1, 14)

  def converted(self, f):
    """`f` converted by AutoGraph, where the caller has been; the package's own functions stay as they are."""
    if not self._converts or (getattr(f, "__module__", None) or "").startswith(_PACKAGE):
      return f
    if self._ag_ctx is not None:
      context = self._ag_ctx.control_status_ctx()
      if context.status == self._ag_ctx.Status.ENABLED:
        return self._autograph.tf_convert(f, context)
    elif _called_by_autograph():
      named = f if hasattr(f, "__name__") else f.__call__  # Python 2 cannot wrap what has no name
      return self._autograph.convert(recursive=True)(named)
    return f


def _called_by_autograph():
  """Whether the decorated function was called by code that AutoGraph has converted; 1.14 keeps no record of it."""
  here = os.path.dirname(__file__)
  frame = sys._getframe(1)
  while frame is not None and os.path.dirname(frame.f_code.co_filename) == here:
    frame = frame.f_back
  return frame is not None and os.path.join("autograph", "impl", "api.py") in frame.f_code.co_filename
