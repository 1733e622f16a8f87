"""Functions, tapes and variables as each release makes them, for `testing`."""

from __future__ import absolute_import, division, print_function

from . import leaves


class Testing(object):
  """The part of `tensorflow_api.Api` that runs programs of tests."""

  def constant(self, array):
    """A tensor of the dtype of an array; eager mode of 1.8 makes a numpy scalar a tensor that says float64 and is float32."""
    array = self.np.asarray(array)
    return self.tf.constant(array, dtype=self.tf.as_dtype(array.dtype))

  def compiled(self, f):
    """`f`, of tensors, as a TensorFlow function."""
    if hasattr(self.tf, "function"):  # 1.14
      return self.tf.function(f)
    eager = self.tf.contrib.eager
    return eager.function(f, autograph=False) if hasattr(eager, "function") else eager.defun(f)  # 1.13

  def new_variable(self, name, value, use_resource):
    """A trainable variable with the initial value `value`, an array."""
    if self.executing_eagerly() or self.version >= (2, 0) and use_resource:
      if self.version >= (2, 0):
        return self.tf.Variable(value, name=name)
      resource = __import__("tensorflow.python.ops.resource_variable_ops", fromlist=["ResourceVariable"])
      return resource.ResourceVariable(value, name=name)
    options = {"use_resource": use_resource} if self.version >= (1, 2) else {}
    return self.v1.get_variable(name, shape=value.shape, dtype=self.tf.as_dtype(value.dtype), initializer=(
        self.v1.constant_initializer(value, dtype=self.tf.as_dtype(value.dtype))), **options)

  def is_tensor(self, value):
    """Whether `value` is a tensor, a variable, or IndexedSlices."""
    return self.kind(value) in (leaves.TENSOR, leaves.VARIABLE, leaves.SLICES)
