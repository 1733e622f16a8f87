"""What the ready-made functions compute, in operations that every release has with the same result."""

from __future__ import absolute_import, division, print_function

import sys

from . import leaves


class Operations(object):
  """The part of `tensorflow_api.Api` that makes operations."""

  def _probe_operations(self):
    # Came with 1.11 or 1.12; in 1.9 it is another name of `Print`. That one shows complex numbers as "?", and up to 1.4 it writes to
    # TensorFlow's log, which TF_CPP_MIN_LOG_LEVEL=1 silences. Can go with TF 1.11.
    found = getattr(self.tf, "print", None)
    self._print = None if found is getattr(self.tf, "Print", None) else found

  # ---- numbers

  def number(self, value, dtype):
    """A Python number, numpy scalar or tensor as a tensor of this dtype."""
    if isinstance(value, self.Tensor):
      return value if value.dtype.base_dtype == dtype else self.tf.cast(value, dtype)
    if isinstance(value, self.np.generic):
      value = value.item()  # eager mode of 1.8 takes the dtype from a numpy scalar, and the bytes from elsewhere
    with self.np.errstate(over="ignore"):  # a bound beyond the range of float16 is infinite there, and no bound
      return self.tf.constant(value, dtype=dtype)

  def now(self, value):
    """The value of a variable, read now; anything else as it is."""
    return self.read(value) if self.kind(value) is leaves.VARIABLE else value

  def parts(self, tensor):
    """The real tensors that a tensor is made of: itself, or its real and imaginary part."""
    if not tensor.dtype.is_complex:
      return [tensor]
    return [self.v1.real(tensor), self.v1.imag(tensor)]

  def square_sum(self, tensor, dtype):
    """The sum of all squared absolute values, computed in `dtype`, which float16 would soon leave."""
    losses = [self.tf.nn.l2_loss(part if part.dtype.base_dtype == dtype else self.tf.cast(part, dtype))
              for part in self.parts(tensor)]
    return 2. * (losses[0] if len(losses) == 1 else losses[0] + losses[1])

  def norm_dtype(self, tensors):
    """The dtype in which norms are computed."""
    wide = any(t.dtype.base_dtype in (self.tf.float64, self.tf.complex128) for t in tensors)
    return self.tf.float64 if wide else self.tf.float32

  def is_finite(self, tensors):
    """A boolean: whether no tensor holds NaN or infinity."""
    found = []
    for part in [part for tensor in tensors for part in self.parts(tensor)]:
      if part.dtype.size < 4:
        part = self.tf.cast(part, self.tf.float32)  # no kernel for bfloat16 in most releases
      found.append(self.tf.reduce_all(self.v1.is_finite(part)))
    return found[0] if len(found) == 1 else self.tf.reduce_all(self.tf.stack(found))

  def or_zeros(self, condition, tensor):
    """`tensor` where the scalar `condition` holds, else zeros, also in the place of NaN."""
    mask = self.tf.fill(self.tf.shape(tensor), condition)
    return self.v1.where(mask, tensor, self.tf.zeros_like(tensor))

  def normal(self, like, stddev, seed):
    """Gaussian noise of the shape and dtype of a real tensor."""
    dtype = like.dtype.base_dtype
    drawn = dtype if dtype.size >= 4 else self.tf.float32
    noise = self.v1.random_normal(self.tf.shape(like), dtype=drawn, seed=seed) * self.number(stddev, drawn)
    return noise if drawn == dtype else self.tf.cast(noise, dtype)

  def reshaped_as(self, tensor, other):
    """`tensor` in the shape of `other`, with an error when it runs if that cannot be."""
    return self.tf.reshape(tensor, self.tf.shape(other))

  # ---- IndexedSlices

  def each_row_once(self, slices):
    """The same IndexedSlices with the rows of one index added up."""
    indices, places = self.tf.unique(slices.indices)
    values = self.v1.unsorted_segment_sum(slices.values, places, self.tf.shape(indices)[0])
    return self.tf.IndexedSlices(values, indices, slices.dense_shape)

  def is_slices(self, value):
    return self.kind(value) is leaves.SLICES

  # ---- effects

  def printed(self, tensors, message, summarize):
    """`tensors`, which are printed to stderr on one line behind `message` when they are computed.

    In a graph, it is `gradient_scope` that makes the line come, with `tf.print`.
    """
    if self._print is not None:
      self._print(*([message] if message else []) + list(tensors), output_stream=sys.stderr, summarize=summarize)
      return tensors
    parts = [part for tensor in tensors for part in self.parts(tensor)]
    summarize = 2**31 - 1 if summarize < 0 else summarize  # it takes -1 for all from 1.9 on only
    first = self.v1.Print(tensors[0], parts, message + " " if message else None, summarize=summarize)
    return [first] + list(tensors[1:])

  def checked(self, tensor, message):
    """`tensor`, or an InvalidArgumentError with `message` if it holds NaN or infinity when it is computed."""
    dtype = tensor.dtype.base_dtype
    if dtype.is_complex:  # no kernels
      return self.tf.complex(*[self.v1.check_numerics(part, message) for part in self.parts(tensor)])
    if dtype.size == 2:  # no kernels for bfloat16 in most releases; float32 holds both, bit for bit
      return self.tf.cast(self.v1.check_numerics(self.tf.cast(tensor, self.tf.float32), message), dtype)
    return self.v1.check_numerics(tensor, message)
