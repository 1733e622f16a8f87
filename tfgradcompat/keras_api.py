"""The symbolic tensors of Keras, by release."""

from __future__ import absolute_import, division, print_function

import sys
import threading

from . import errors
from . import leaves


class Keras(object):
  """The part of `tensorflow_api.Api` that knows Keras."""

  def _probe_keras(self, private):
    self.keras_layer_types = {}  # see keras_layers.py
    self.calling_layer = threading.local()
    # From 2.4 on they have a type of their own. Before, they are tensors of a graph that a layer has marked, and, with eager
    # mode on, of a graph of Keras. Up to 1.12 Keras could not build models of them that hold anything but layers.
    self.marks_keras_tensors = (1, 13) <= self.version <= (2, 3)
    utils = private("keras.engine.base_layer_utils") if self.marks_keras_tensors else None
    if self.version >= (1, 15):
      self._in_keras_call = lambda: utils.call_context().in_call
    else:
      self._in_keras_call = getattr(utils, "is_in_call_context", self._seems_in_keras_call)  # 1.14

  def is_symbolic_keras(self, leaf):
    """Whether `leaf` is a symbolic tensor from outside of the `call` of a layer."""
    kind = self.kind(leaf)
    if kind is not leaves.TENSOR or not self.marks_keras_tensors or isinstance(leaf, self.EagerTensor):
      return kind is leaves.KERAS
    if not hasattr(leaf, "_keras_history") and (
        getattr(leaf.graph, "name", None) != "keras_graph" or self.get_default_graph() is leaf.graph):
      return False
    return not self._in_keras_call()

  def _seems_in_keras_call(self):
    """1.13 does not say. In a graph our layer may come to stand in another layer, which does no harm, but not in itself."""
    return getattr(self.calling_layer, "yes", False) or self.is_eager_outside() and not self.executing_eagerly()

  def keras(self, symbolic=None):
    """The Keras that a symbolic tensor is of: `tf.keras`, or one that stands alone (`keras`, `tf_keras`).

    Raises:
      RuntimeError: the release has none that could.
    """
    if self.version < (1, 13):
      raise errors.make(RuntimeError, None, "Keras layers with custom gradients need TensorFlow 1.13; this is %s. Call the "
                        "function in the `call` method of a layer of your own." % self.tf.__version__)
    marked = getattr(symbolic, "_keras_history", None)
    cls = type(marked[0] if marked and self.marks_keras_tensors else symbolic)
    root = cls.__module__.split(".")[0]
    return sys.modules[root] if root in ("keras", "tf_keras") else self.tf.keras
