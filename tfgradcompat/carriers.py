"""What hands tensors through and bears a gradient, and the registry where that is found, by release."""

from __future__ import absolute_import, division, print_function

import re

from . import compat
from . import tapes


class Carriers(object):
  """The part of `tensorflow_api.Api` that knows `tf.custom_gradient`, IdentityN, Defun and the gradient registry."""

  def _probe_carriers(self, private):
    self._private = private
    self.identity_n = getattr(private("ops.array_ops"), "identity_n", None)  # 1.4
    self.custom_gradient = getattr(self.tf, "custom_gradient", None)  # 1.7
    if self.custom_gradient is None:  # 1.4 to 1.6, for eager mode
      self.custom_gradient = getattr(private("eager.custom_gradient"), "custom_gradient", None)
    self._variable_scope = private("ops.variable_scope")
    # Whether a SavedModel is written with the gradients in it, unless the caller says no: 2.7. (2.6 has the option, off.)
    options = getattr(getattr(self.tf, "saved_model", None), "SaveOptions", dict)
    self.saves_gradients = getattr(options(), "experimental_custom_gradients", False)
    self.native_looks_for_variables = self.version >= (1, 9)
    self._function = private("framework.function")  # Defun, for graphs before 1.4
    self._defuns = {}
    self.carrier = self.backward_type = None  # made by routes.py on first use

  def signature_of_gradients(self):
    """What tells `tf_inspect` that a gradient function takes `*dys`, without looking at it."""
    decorator = self._private("util.tf_decorator")
    def gradient(*dys):
      return dys
    inspect = self._private("util.tf_inspect")
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
    name = re.sub("[^A-Za-z0-9]", "_", "CustomGrad_%s_%d_%s" % (__name__.rpartition(".")[0], count, "_".join(dtypes)))
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
    return _EmptyScope(self._variable_scope) if self.native_looks_for_variables else tapes.NoWatcher()

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


def _closure_by_name(f):
  return dict(zip(f.__code__.co_freevars, compat.closure(f))) if hasattr(f, "__code__") else {}


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
