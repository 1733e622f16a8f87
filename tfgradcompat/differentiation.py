"""How to differentiate what has been built, and to build it a second time, as each release allows it."""

from __future__ import absolute_import, division, print_function

import contextlib

from . import compat

_STOP = "tfgradcompat:stop:%s" % __name__


class Differentiation(object):
  """The part of `tensorflow_api.Api` that takes derivatives."""

  def _probe_differentiation(self, private):
    self._variable_scopes = private("ops.variable_scope")
    self.has_stop_gradients = compat.accepts_keyword(self.v1.gradients, "stop_gradients")  # 1.4
    tape = getattr(self._backprop, "GradientTape", None)  # 1.5
    # Before 1.8 a tape cannot be opened in the body of a function; before 1.14 it fails there on loops and branches.
    self.has_tape_in_functions = tape is not None and self.version >= (1, 8)
    self.has_good_tape_in_functions = self.version >= (1, 14)
    # Before, it takes one tensor, and before 1.7 no upstream gradient.
    self._takes_upstream = self.version >= (1, 13)
    # A tape that is stopped is not told of variables either, before 2.2; there nothing can run unrecorded.
    self.can_run_unrecorded = self.has_watcher
    self._where = getattr(self.v1, "where_v2", None)  # 1.14

  def gradients(self, ys, xs, dys, stop):
    """`tf.gradients` that goes not beyond the tensors `stop`."""
    if not ys or not xs:
      return [None] * len(xs)
    if self.has_stop_gradients:
      return self.v1.gradients(ys, xs, dys, stop_gradients=stop)
    self.register(_STOP, lambda op, *dys: [None] * len(op.inputs))
    # The operations give back no gradient for the moment. They are still Python objects here.
    attributes = [tensor.op.node_def.attr for tensor in stop]
    kept = [a["_gradient_op_type"].s if "_gradient_op_type" in a else None for a in attributes]
    for attribute in attributes:
      attribute["_gradient_op_type"].s = _STOP.encode("ascii")
    try:
      return self.v1.gradients(ys, xs, dys)
    finally:
      for attribute, name in zip(attributes, kept):
        if name is None:
          del attribute["_gradient_op_type"]
        else:
          attribute["_gradient_op_type"].s = name

  def new_tape(self):
    return self._backprop.GradientTape()

  def tape_target(self, ys, dys):
    """What `tape_gradients` shall differentiate for the tensors `ys`; to be called while the tape is open."""
    if self._takes_upstream or not ys:
      return ys, dys
    parts = [self.tf.reduce_sum(y * (self.tf.conj(dy) if dy.dtype.is_complex else dy)) for y, dy in zip(ys, dys)]
    parts = [self.tf.cast(self.tf.real(p) if p.dtype.is_complex else p, self.tf.float64) for p in parts]
    return [self.tf.add_n(parts)], None

  @staticmethod
  def tape_gradients(tape, target, xs):
    """The gradients with respect to `xs`; None among them."""
    ys, dys = target
    if not ys or not xs:
      return [None] * len(xs)
    if dys is None:
      return tape.gradient(ys[0], xs)
    return tape.gradient(ys, xs, output_gradients=dys)

  @staticmethod
  def watched_by(tape):
    """The trainable variables that were read while `tape` was open."""
    return getattr(tape, "_tape", tape).watched_variables()  # the method became public in 1.12

  # ---- a second time

  def names_of_variables(self):
    """How variables are named here, for `same_variables`."""
    return self.v1.get_variable_scope(), dict(self._scope_counts())

  def _scope_counts(self):
    """How often each scope has been opened, from which default names are made."""
    scopes = self._variable_scopes
    # A store of its own from 1.6 or so on; the attribute is private in the oldest.
    store = getattr(scopes, "get_variable_scope_store", scopes._get_default_variable_store)()
    found = getattr(store, "variable_scopes_count", None)
    return store._variable_scopes_count if found is None else found

  @contextlib.contextmanager
  def same_variables(self, names):
    """A context in which variables are found, and not made, under the names that they have got."""
    scope, counts = names
    found = self._scope_counts()
    kept = dict(found)
    with self.v1.variable_scope(scope, reuse=True):
      inner = self._scope_counts()
      inner.clear()
      inner.update(counts)
      yield
    found = self._scope_counts()
    found.clear()
    found.update(kept)

  def after(self, dys, tensors):
    """`tensors`, which are computed when `dys` have been, also where XLA or Grappler rewrites the graph.

    XLA knows no control dependencies. So there are data that depend on `dys`, in a way that no rewriting sees through:
    no number is both infinite and not a number.
    """
    with self.tf.control_dependencies(dys):
      if self._where is None:
        return [self.identity(t) for t in tensors]
      never = None
      for dy in dys:
        first = self.tf.reshape(dy, [-1])[:1]
        first = self.tf.cast(self.v1.real(first) if dy.dtype.is_complex else first, self.tf.float32)
        both = self.tf.reduce_any(self.tf.logical_and(self.v1.is_nan(first), self.v1.is_inf(first)))
        never = both if never is None else self.tf.logical_or(never, both)
      return [self.identity(t) if t.dtype.base_dtype == self.tf.string or never is None else
              self._where(never, self.tf.zeros([], t.dtype), t) for t in tensors]
