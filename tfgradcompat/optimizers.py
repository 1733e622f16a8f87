"""What the kinds of optimizers have in common, and what each needs."""

from __future__ import absolute_import, division, print_function


class Optimizers(object):
  """The part of `tensorflow_api.Api` that knows optimizers: those of `tf.train`, of Keras 2 and of Keras 3.

  Keras 2 has two kinds: up to 2.10 (later called legacy) they are made for graphs too, the ones since 2.11 are like
  those of Keras 3, which TensorFlow has from 2.16 on.
  """

  def _probe_optimizers(self, private):
    self._train_optimizer = self.v1.train.Optimizer
    self._control_flow_util = private("ops.control_flow_util")
    self._auto_control_deps = private("framework.auto_control_deps")
    self.GradientTape = getattr(self._backprop, "GradientTape", None)  # 1.5

  def in_plain_graph(self):
    """Whether operations go to a graph that is run in a session, not to eager mode or the body of a function."""
    return not self.executing_eagerly() and not self.is_capturing(self.get_default_graph())

  def lacks_tape(self):
    """Whether gradients cannot be taken where we are: without a tape (1.5), or in functions, where they come with 1.8."""
    if self.in_plain_graph():
      return False
    return self.GradientTape is None or not self.executing_eagerly() and self.version < (1, 8)

  @staticmethod
  def watched(source):
    """What tapes know a variable as: one of Keras 3 wraps the variable that is watched."""
    value = getattr(source, "value", None)
    return source if value is None or callable(value) else value

  def has_compute_gradients(self, optimizer):
    """Whether the optimizer computes gradients by itself, which wrapped ones of tf.train change."""
    # In eager mode of 1.5 and 1.6 its loss function takes the variables as arguments.
    return self.is_of_train(optimizer) and (not self.executing_eagerly() or self.version >= (1, 7))

  def is_of_train(self, optimizer):
    """Whether it is an optimizer of tf.train, not of Keras."""
    return isinstance(optimizer, self._train_optimizer)

  @staticmethod
  def is_reference(variable):
    """Whether it is a reference variable, the only kind there was before 1.1 and the kind of tf.get_variable since then."""
    return getattr(variable.dtype, "_is_ref_dtype", False)

  def is_cond_a_function(self):
    """Whether tf.cond makes its branches functions, which cannot change reference variables: from 1.13 on where asked for."""
    util = self._control_flow_util
    return hasattr(util, "EnableControlFlowV2") and util.EnableControlFlowV2(self.get_default_graph())

  def build_optimizer(self, optimizer, variables):
    """Makes the slots of an optimizer that could not make them where it applies gradients."""
    while optimizer is not None:
      if hasattr(optimizer, "build") and not getattr(optimizer, "built", getattr(optimizer, "_built", False)):
        with self.tf.init_scope():  # out of functions
          optimizer.build(list(variables))
      # One that scales losses builds itself only in 2.11, and its inner one would make its slots in a branch, where they do not last.
      optimizer = getattr(optimizer, "inner_optimizer", None)

  @staticmethod
  def scaled_loss(optimizer, loss):
    """The loss as an optimizer of Keras wants it differentiated, to keep small gradients of float16 above 0."""
    for name in ("scale_loss", "get_scaled_loss"):  # Keras 3, Keras 2 (2.1)
      if hasattr(optimizer, name):
        return getattr(optimizer, name)(loss)
    return loss

  @staticmethod
  def unscaled_gradients(optimizer, gradients):
    """The gradients of the loss from those of the scaled loss, where the optimizer wants to have these applied."""
    return optimizer.get_unscaled_gradients(gradients) if hasattr(optimizer, "get_unscaled_gradients") else gradients

  @staticmethod
  def loss_scale(optimizer):
    """By which number the gradients that the optimizer applies must be greater than those of the loss, or None if they are not.

    One of Keras 3 divides by it itself when it applies them.
    """
    scale = optimizer.scale_loss(1.) if hasattr(optimizer, "scale_loss") else 1.
    return None if isinstance(scale, float) and scale == 1. else scale

  def apply_gradients(self, optimizer, pairs, condition):
    """Applies gradients, only if `condition`, a boolean tensor, holds where there is one. In graphs, returns an operation."""
    if condition is None:
      return self._apply(optimizer, pairs)
    if self.executing_eagerly():
      return self._apply(optimizer, pairs) if condition.numpy() else None

    def apply():
      step = self._apply(optimizer, pairs)
      with self.tf.control_dependencies([step] if isinstance(step, self.tf.Operation) else []):
        return self.tf.constant(True)
    return self.tf.cond(condition, apply, lambda: self.tf.constant(False)).op

  def _apply(self, optimizer, pairs):
    graph = None if self.executing_eagerly() else self.get_default_graph()
    if not hasattr(optimizer, "build") or graph is None or getattr(graph, "_add_control_dependencies", False):
      return optimizer.apply_gradients(pairs)
    # It returns no operation. So its assignments are tied as in a function; its slots have been made before, or else their
    # initialization would be tied as well.
    with self._auto_control_deps.AutomaticControlDependencies() as assignments:
      optimizer.apply_gradients(pairs)
      done = assignments.mark_as_return(self.tf.constant(True))
    return done.op
