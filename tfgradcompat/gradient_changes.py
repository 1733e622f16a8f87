"""Ready-made functions that hand x through, bit for bit, and change, show or check the gradient on its way back.

Each takes a tensor, a variable, a numpy array or a nest of them, and gives the same back: every tensor of floating or
complex numbers in it gets a changed gradient, and everything else stays as it is. What a change is made with (a scale,
a bound, a norm) may be a tensor or a variable: it is read where the function is called, in a graph or a `tf.function`
anew each time that runs, and gets no gradient.
"""

from __future__ import absolute_import, division, print_function

from . import checks
from . import errors
from . import gradient_math
from . import inputs
from . import leaves
from . import loading
from .decorator import custom_grad


@custom_grad
def scale_gradient(x, scale):
  """x, with its gradient times `scale`.

  Args:
    x: a tensor of floating or complex numbers of any shape, or a nest of tensors and other values.
    scale: a finite number, or a tensor or variable that broadcasts to the shape of each tensor in `x`. It is cast to
      the dtype of the gradient. Complex is for complex tensors only.

  Returns:
    `x`, unchanged.

  Raises:
    TypeError: `x` holds no tensor of floating or complex numbers, or `scale` is no number.
    ValueError: `scale` is known to be NaN or infinite, or does not broadcast. Where static shapes do not tell, the
      gradient is an InvalidArgumentError when it runs.

  Example:
    >>> def loss(x):
    ...   return tf.reduce_sum(scale_gradient(x, 5.))
    >>> # loss([1., 2.]) is 3. with the gradient [5., 5.]
  """
  return _scaled("scale_gradient", x, scale, 1)


@custom_grad
def reverse_gradient(x, scale=1.):
  """x, with its gradient times `-scale`: what stands before it learns the opposite of what stands behind it.

  The gradient reversal layer of Ganin and Lempitsky, "Unsupervised Domain Adaptation by Backpropagation" (2015).
  There `scale` is called lambda and grows while training, which a variable can do.

  Args:
    x: as for `scale_gradient`.
    scale: as for `scale_gradient`.

  Returns:
    `x`, unchanged.

  Raises:
    TypeError, ValueError: as `scale_gradient`.

  Example:
    >>> def loss(x):
    ...   return tf.reduce_sum(3. * reverse_gradient(x, 0.5))
    >>> # loss([1., 2.]) is 9. with the gradient [-1.5, -1.5]
  """
  return _scaled("reverse_gradient", x, scale, -1)


def _scaled(who, x, scale, sign):
  api = loading.load()
  tensors = checks.differentiable(api, who, "x", x)
  any_real = any(not t.dtype.is_complex for t in tensors if api.is_differentiable(t.dtype))
  checks.number(api, who, "scale", scale, complex_allowed=not any_real)
  certain = checks.broadcasts(api, who, "scale", scale, tensors)

  def change(dy):
    if sign < 0 and isinstance(scale, api.Tensor):
      dy = -dy
    changed = gradient_math.scaled(api, dy, scale if isinstance(scale, api.Tensor) else sign * scale)
    return changed if certain else api.reshaped_as(changed, dy)
  return x, _each(api, x, change, scale)


@custom_grad
def clip_gradient_by_value(x, lo, hi):
  """x, with each element of its gradient brought between `lo` and `hi`, as `tf.clip_by_value` does. NaN stays NaN.

  Args:
    x: a tensor of floating numbers of any shape, or a nest of tensors and other values.
    lo: a number, or a tensor or variable that broadcasts to the shape of each tensor in `x`; may be -infinity.
    hi: the same, not less than `lo`; may be infinity.

  Returns:
    `x`, unchanged.

  Raises:
    TypeError: `x` holds no tensor of floating numbers or holds complex ones, or a bound is no real number.
    ValueError: a bound is known to be NaN, `lo` is known to be greater than `hi` (else such gradients are `lo`), or a
      bound does not broadcast. Where static shapes do not tell, the gradient is an InvalidArgumentError when it runs.

  Example:
    >>> def loss(x):
    ...   return tf.reduce_sum(3. * clip_gradient_by_value(x, -0.1, 0.1))
    >>> # loss([1., 2.]) is 9. with the gradient [0.1, 0.1]
  """
  api, who = loading.load(), "clip_gradient_by_value"
  tensors = checks.differentiable(api, who, "x", x, complex_allowed=False)
  checks.bounds(api, who, lo, hi)
  certain = all([checks.broadcasts(api, who, name, bound, tensors) for name, bound in (("lo", lo), ("hi", hi))])

  def change(dy):
    changed = gradient_math.clipped_by_value(api, dy, lo, hi)
    return changed if certain else api.reshaped_as(changed, dy)
  return x, _each(api, x, change, lo, hi)


@custom_grad
def clip_gradient_by_norm(x, norm):
  """x, with its gradient dy scaled down to `dy * norm / |dy|` where its Euclidean norm |dy| is greater than `norm`.

  Each tensor of a nest has its own norm. What is computed is what `tf.clip_by_norm` of the newest release gives: a NaN
  in the gradient makes all of it NaN, a gradient of zeros stays so. The norms of float16 and bfloat16 are computed in
  float32, and complex numbers count with their absolute value.

  Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks" (2013), algorithm 1.

  Args:
    x: a tensor of floating or complex numbers of any shape, or a nest of tensors and other values.
    norm: a finite number that is not negative, or a scalar tensor or variable.

  Returns:
    `x`, unchanged.

  Raises:
    TypeError: `x` holds no tensor of floating or complex numbers, or `norm` is no real number.
    ValueError: `norm` is known to be negative, NaN or infinite, or is no scalar.

  Example:
    >>> def loss(x):
    ...   return 3. * x[0] + 4. * clip_gradient_by_norm(x, 2.)[1]
    >>> # loss([1., 2.]) is 11. with the gradient [3., 2.]
  """
  api = loading.load()
  checks.differentiable(api, "clip_gradient_by_norm", "x", x)
  checks.norm(api, "clip_gradient_by_norm", norm)
  return x, _each(api, x, lambda dy: gradient_math.clipped_by_norm(api, dy, norm), norm)


@custom_grad
def clip_gradients_by_global_norm(xs, norm):
  """xs, with their gradients scaled down together where the norm of all of them is greater than `norm`.

  As `tf.clip_by_global_norm` of the newest release: the norm is the root of the sum of the squared norms, and where it
  is not finite, all gradients are NaN. A tensor of `xs` that the loss does not use counts as a gradient of zeros (which
  TensorFlow's optimizer of graphs may leave zeros where the others are NaN).
  Norms are computed in float32, or in float64 if any tensor is of float64 or complex128.

  Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks" (2013), algorithm 1.

  Args:
    xs: a nest of tensors of floating or complex numbers of any shapes, and of other values.
    norm: as for `clip_gradient_by_norm`.

  Returns:
    `xs`, unchanged.

  Raises:
    TypeError, ValueError: as `clip_gradient_by_norm`.

  Example:
    >>> def loss(x, y):
    ...   x, y = clip_gradients_by_global_norm([x, y], 1.)
    ...   return 3. * x + 4. * y
    >>> # loss(1., 2.) is 11. with the gradients 0.6, 0.8
  """
  api = loading.load()
  checks.differentiable(api, "clip_gradients_by_global_norm", "xs", xs)
  checks.norm(api, "clip_gradients_by_global_norm", norm)
  return xs, _all(api, xs, lambda dys: gradient_math.clipped_by_global_norm(api, dys, norm), norm)


@custom_grad
def print_gradient(x, message="", summarize=3):
  """x, whose gradient is printed to stderr each time it is computed, once, in every mode.

  One line: the message and the gradients of all tensors in `x`. The numbers look as this TensorFlow prints them, with
  `tf.print` where it has that, else `tf.Print`. Up to 1.4 that one writes to TensorFlow's log, so the environment
  variable TF_CPP_MIN_LOG_LEVEL must not silence it.

  Args:
    x: a tensor of floating or complex numbers of any shape, or a nest of tensors and other values.
    message: a string.
    summarize: how many elements of each gradient, of each dimension with `tf.print`; -1 for all.

  Returns:
    `x`, unchanged; so is its gradient.

  Raises:
    TypeError: `x` holds no tensor of floating or complex numbers, `message` is no string, or `summarize` is no integer.
    ValueError: `summarize` is 0 or less than -1.

  Example:
    >>> def loss(x):
    ...   return tf.reduce_sum(3. * print_gradient(x, "gradient of x:"))
    >>> # loss([1., 2.]) is 9. with the gradient [3., 3.]
  """
  api, who = loading.load(), "print_gradient"
  checks.differentiable(api, who, "x", x)
  checks.text(who, "message", message)
  checks.integer(who, "summarize", summarize)
  if summarize < -1 or summarize == 0:
    raise errors.make(ValueError, None, "%s: summarize must be a positive integer, or -1 for all elements; got %d." %
                      (who, summarize))
  return x, _all(api, x, lambda dys: api.printed(dys, message, summarize))


@custom_grad
def check_gradient(x, message="check_gradient"):
  """x, whose gradient must be finite.

  Args:
    x: a tensor of floating or complex numbers of any shape, or a nest of tensors and other values.
    message: a string that the error shall contain.

  Returns:
    `x`, unchanged; so is its gradient. If that holds NaN or infinity, computing it is an InvalidArgumentError from
    TensorFlow, at `tape.gradient` in eager mode and where a graph or function runs.

  Raises:
    TypeError: `x` holds no tensor of floating or complex numbers, or `message` is no string.

  Example:
    >>> def loss(x):
    ...   return tf.reduce_sum(3. * check_gradient(x, "gradient of x"))
    >>> # loss([1., 2.]) is 9. with the gradient [3., 3.]
  """
  api = loading.load()
  checks.differentiable(api, "check_gradient", "x", x)
  checks.text("check_gradient", "message", message)
  return x, _each(api, x, lambda dy: api.checked(dy, message))


# ---- gradient functions

def _each(api, x, change, *parameters):
  """The gradient function that changes each upstream gradient of a nest `x` on its own."""
  return _all(api, x, lambda dys: [change(dy) for dy in dys], *parameters)


def _all(api, x, change, *parameters):
  """The gradient function that changes all upstream gradients together.

  Args:
    x: the first argument and the result of the decorated function.
    change: takes a list of tensors and returns one of the same length.
    parameters: the other arguments; those that are tensors get None.
  """
  nones = [None for p in parameters if api.kind(p) is leaves.TENSOR]
  is_input = inputs.marks(api, x)

  def in_grad(*dys):
    dys = [dy for dy, mark in zip(dys, is_input) if mark]
    places = [i for i, dy in enumerate(dys) if dy is not None]
    for i, dy in zip(places, change([dys[i] for i in places])):
      dys[i] = dy
    return dys + nones
  return in_grad
