"""Functions that have the gradient of another one: what `b(x) + tf.stop_gradient(f(x) - b(x))` is written for.

That trick rounds, and gives NaN where `b(x)` is infinite. Here the value is that of `f`, bit for bit: `_instead` hands
it through and sends the upstream gradient to `b(x)`, from where TensorFlow goes on by itself, to any order.
"""

from __future__ import absolute_import, division, print_function

from . import checks
from . import decorator
from . import errors
from . import functions
from . import gradients
from . import inputs
from . import keras_layers
from . import loading


@functions.unconverted
def straight_through(f):
  """A function with the values of f whose gradient with respect to its first argument is the upstream gradient, unchanged.

  The straight-through estimator of Bengio, Leonard and Courville, "Estimating or Propagating Gradients Through
  Stochastic Neurons for Conditional Computation" (2013). Can be used as a decorator.

  Args:
    f: a function of a tensor `x` of floating or complex numbers, or of a nest of them, and of any other arguments, for
      example `tf.round` or `tf.sign`. It returns a tensor of the shape and the kind of numbers of `x`, or as many in a
      nest. `f` is not differentiated: other arguments, and variables that it reads, get no gradient.

  Returns:
    A function with the signature of `f` that returns what `f` returns. Its higher derivatives are 0.

  Raises:
    TypeError: `f` is not callable. The returned function raises TypeError where `x` holds no tensor of floating or
      complex numbers or the result is no such tensor, and ValueError where the result has another shape or number of
      tensors. Where static shapes do not tell, the gradient is an InvalidArgumentError when it runs.

  Example:
    >>> rounded = straight_through(tf.round)
    >>> def loss(x):
    ...   return tf.reduce_sum(3. * rounded(x))
    >>> # loss([0.3, 1.8]) is 6. with the gradient [3., 3.]
  """
  checks.function("straight_through", "f", f)

  def call(x, *args, **kwargs):
    checks.differentiable(loading.load(), "straight_through", "x", x)
    return _instead(_run("straight_through", "f", f, (x,) + args, kwargs), x, "straight_through", "x")
  return _dressed(call, f)


@functions.unconverted
def surrogate(f, b):
  """A function with the values of f and the gradient of b.

  Args:
    f: a function. It is not differentiated.
    b: a function that is called with the same arguments, whose result has the structure, the shapes and the kinds of
      numbers of that of `f`. It may be infinite or NaN where `f` is not. Variables that it reads get their gradients,
      those that only `f` reads get none.

  Returns:
    A function with the signature of `f` that returns what `f` returns. Its derivatives of all orders are those of `b`,
    at the arguments of the call.

  Raises:
    TypeError: `f` or `b` is not callable. The returned function raises TypeError where the results hold no tensors of
      floating or complex numbers or the kinds of their numbers differ, and ValueError where number or shape of their
      tensors differ. Where static shapes do not tell, the gradient is an InvalidArgumentError when it runs.

  Example:
    >>> step = surrogate(lambda x: tf.cast(x > 0., tf.float32), tf.sigmoid)
    >>> def loss(x):
    ...   return tf.reduce_sum(4. * step(x))
    >>> # loss([0., 0.]) is 0. with the gradient [1., 1.]
  """
  checks.function("surrogate", "f", f)
  checks.function("surrogate", "b", b)

  def call(*args, **kwargs):
    value = _run("surrogate", "f", f, args, kwargs)
    return _instead(value, _run("surrogate", "b", b, args, kwargs), "surrogate", "the result of b")
  return _dressed(call, f)


def _run(who, name, f, args, kwargs):
  api = loading.load()
  result = api.converted(f)(*args, **kwargs)
  if not checks.tensors(api, result):
    raise errors.make(TypeError, None, "%s: %s returned %s; expected a tensor of floating or complex numbers, or a nest of "
                      "tensors. Let it return one." % (who, name, errors.kind_of(result)))
  return result


def _dressed(call, f):
  """`call`, known by the name of `f`; on symbolic Keras tensors the call of a layer."""
  function = functions.Function(f)

  def dressed(*args, **kwargs):
    api = loading.load()
    if keras_layers.are_symbolic(api, [args, kwargs]):
      return keras_layers.call(api, function, args, kwargs, call)
    return call(*args, **kwargs)
  return decorator.dress(dressed, function, f)


@decorator.custom_grad
def _instead(result, other, who, name):
  """`result`, whose tensors send their gradients to those of `other`, which errors of `who` call `name`."""
  api = loading.load()
  given, taken = checks.tensors(api, result), checks.tensors(api, other)
  _check(api, who, name, given, taken)
  is_input = inputs.marks(api, result)
  nones = [None] * len(given)
  return result, lambda *dys: nones + [dy for dy, mark in zip(dys, is_input) if mark]


def _check(api, who, name, given, taken):
  """Raises an error where gradients of `given` cannot be gradients of `taken`."""
  kinds = [_kind(api, t) for t in given], [_kind(api, t) for t in taken]
  if len(given) != len(taken):
    raise errors.make(ValueError, None, "%s: the result of f holds %d tensors; expected %d, as %s does. Return one for each." %
                      (who, len(given), len(taken), name))
  for i, (tensor, other) in enumerate(zip(given, taken)):
    which = "the result of f" if len(given) == 1 else "tensor %d in the result of f" % i
    if _kind(api, tensor) != _kind(api, other) or not set(kinds[0]) - set(["other"]):
      raise errors.make(TypeError, None, "%s: %s has dtype %s, with which it cannot have a gradient for %s of dtype %s. Cast "
                        "it with tf.cast." % (who, which, tensor.dtype.name, name, other.dtype.name))
    shape, expected = api.shape(tensor), api.shape(other)
    if shape is not None and expected is not None and (
        len(shape) != len(expected) or any(None not in pair and pair[0] != pair[1] for pair in zip(shape, expected))):
      raise errors.make(ValueError, None, "%s: %s has shape %s; expected %s, the shape of %s. Return a tensor of that shape." % (
          who, which, gradients.shape_text(shape), gradients.shape_text(expected), name))


def _kind(api, tensor):
  return "other" if not api.is_differentiable(tensor.dtype) else "complex" if tensor.dtype.is_complex else "real"
