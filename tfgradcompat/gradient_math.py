"""The changes that a gradient goes through, on dense tensors, once for `gradient_changes` and `transforms`.

`tf.clip_by_norm` and `tf.clip_by_global_norm` are not used: what they make of zeros, of NaN and of norms that float16
does not reach differs between releases.
"""

from __future__ import absolute_import, division, print_function


def scaled(api, gradient, scale):
  return gradient * api.number(scale, gradient.dtype.base_dtype)


def clipped_by_value(api, gradient, lo, hi):
  """The gradient must come first: the kernels keep a NaN of the first operand and may lose one of the second."""
  dtype = gradient.dtype.base_dtype
  return api.tf.maximum(api.tf.minimum(gradient, api.number(hi, dtype)), api.number(lo, dtype))


def clipped_by_norm(api, gradient, norm):
  total = api.square_sum(gradient, api.norm_dtype([gradient]))
  return _times(api, gradient, _factor(api, total, norm))


def clipped_by_global_norm(api, gradients, norm):
  """Those among `gradients` that are not None, clipped by their common norm; all NaN if it is not finite."""
  given = [g for g in gradients if g is not None]
  if not given:
    return gradients
  dtype = api.norm_dtype(given)
  total = api.square_sum(given[0], dtype)
  for gradient in given[1:]:
    total = total + api.square_sum(gradient, dtype)
  factor = _factor(api, total, norm) + (total - total)  # adds 0, or NaN
  return [None if g is None else _times(api, g, factor) for g in gradients]


def _factor(api, total, norm):
  """What brings a length, of which `total` is the square, down to `norm`; exactly 1 if it is not longer, NaN stays NaN.

  The root is taken of numbers above 0 only, since its derivative at 0 would spoil second derivatives.
  """
  tf, dtype = api.tf, total.dtype
  length = tf.sqrt(tf.maximum(total, api.number(api.np.finfo(dtype.as_numpy_dtype).tiny, dtype)))
  return tf.minimum(api.number(norm, dtype) / length, api.number(1., dtype))


def _times(api, gradient, factor):
  return gradient * api.number(factor, gradient.dtype.base_dtype)
