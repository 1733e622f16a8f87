"""Python code, for example in numpy, as an operation with a gradient.

`py_func` checks and converts, `python_code.Code` is the function as TensorFlow calls it, arrays in and arrays out, and `_run`
is the decorated function through which each call goes.
"""

from __future__ import absolute_import, division, print_function

from . import decorator
from . import errors
from . import functions
from . import inputs as inputs_
from . import leaves
from . import loading
from . import python_code
from . import rerun


@functions.unconverted
def py_func(func, inputs, Tout, grad=None, grad_py=None, shape=None, stateful=True, name=None):
  """What a Python function computes with numpy, as tensors that have a gradient.

  Made of `tf.py_func` or `tf.numpy_function`, whichever there is. The code itself is in no graph: a graph that is
  exported runs only in the process that built it; elsewhere running it is an error that names `func`. It runs on the
  CPU, and XLA cannot compile it.

  Args:
    func: a function of one numpy array per input. A scalar arrives as a numpy scalar, a string as bytes, several
      strings as an array of objects. It must not change them. It returns one array, or a list of as many as `Tout`
      has.
    inputs: a list of tensors, variables, arrays or numbers of any shapes and dtypes.
    Tout: the dtype of the result, or a list of dtypes for several results. What `func` returns is cast to it where
      numpy calls that the same kind: another precision, or integers that become floating.
    grad: `grad(op, *dys)`, the gradient in TensorFlow operations, as for `tf.RegisterGradient`: `op.inputs` and
      `op.outputs` are lists of tensors, in every mode. `dys` has one tensor per result, zeros for one that the loss
      does not use, None for one without derivative (integer, string). It returns one gradient per input, None for one
      that gets none.
    grad_py: `grad_py(inputs, outputs, dys)`, the same in numpy: it gets and returns lists of arrays, and cannot be
      differentiated again. Give one of the two, or none if no gradient is asked for.
    shape: the static shape of the result, None for unknown; with a list in `Tout`, a list of shapes.
    stateful: False says that equal inputs always give equal results without side effects, so that TensorFlow may merge
      calls.
    name: a name for the operation.

  Returns:
    A tensor of dtype `Tout` and static shape `shape`, or a list of them.

  Raises:
    TypeError, ValueError: an argument is of a wrong kind or number. What `func` or `grad_py` raises itself, returns in
      a wrong dtype (TypeError) or in a wrong shape or number (ValueError) comes as that exception in eager mode, and
      where a graph or function runs as an error of TensorFlow with its message.
    NoGradientError: a LookupError; a gradient was asked for, and there is neither `grad` nor `grad_py`.

  Example:
    >>> def loss(x):
    ...   y = py_func(np.square, [x], tf.float32, grad=lambda op, dy: 2. * op.inputs[0] * dy, shape=[3])
    ...   return tf.reduce_sum(y)
    >>> # loss([1., 2., 3.]) is 14. with the gradient [2., 4., 6.]
  """
  api = loading.load()
  dtypes = _dtypes(api, func, Tout)
  code = python_code.Code(api, func, _run_function().shown_as(func), dtypes, stateful, name)
  tensors = _converted(api, code, inputs)
  code.set_shapes(shape, isinstance(Tout, (list, tuple)))
  if grad is not None and grad_py is not None:
    code.fail(ValueError, "got both grad and grad_py. Give the gradient once")
  code.take("func", func, len(tensors), "one for each of the inputs")
  if grad is not None:
    code.take("grad", grad, 1 + len(code.dtypes), "op, and one upstream gradient for each result")
    gradient = _in_tensorflow(code, api.converted(grad))
  elif grad_py is not None:
    code.take("grad_py", grad_py, 3, "inputs, outputs and dys")
    gradient = _in_numpy(code, grad_py)
  else:
    gradient = _missing(code, "a gradient was asked for, and neither grad nor grad_py was given. Give one of them, or "
                        "stop the gradient with tf.stop_gradient")
  outputs = _call(code, gradient, tensors)
  return outputs if isinstance(Tout, (list, tuple)) else outputs[0]


# ---- arguments

def _dtypes(api, func, Tout):
  if not callable(func):
    raise errors.make(TypeError, None, "py_func: func must be a function; got %s." % errors.kind_of(func))
  found = []
  for dtype in Tout if isinstance(Tout, (list, tuple)) else [Tout]:
    try:
      found.append(api.tf.as_dtype(dtype).base_dtype)
      found[-1].as_numpy_dtype  # resources and variants have none
    except (TypeError, KeyError, AttributeError):
      raise errors.make(TypeError, None, "py_func: Tout must be a dtype or a list of dtypes that numpy has; got %s. "
                        "Pass for example tf.float32." % errors.kind_of(Tout))
  if not found:
    raise errors.make(ValueError, None, "py_func: Tout is empty; expected at least one dtype. Let func return "
                                        "something.")
  return found


def _converted(api, code, inputs):
  """The inputs as tensors, variables and arrays."""
  if not isinstance(inputs, (list, tuple)):
    code.fail(TypeError, "inputs must be a list of tensors; got %s. Pass [x]" % errors.kind_of(inputs))
  plain = (leaves.TENSOR, leaves.VARIABLE, leaves.ARRAY, leaves.KERAS)
  converted = []
  for i, value in enumerate(inputs):
    kind = api.kind(value)
    if kind not in plain:
      if kind is not leaves.OTHER:
        code.fail(TypeError, "input %d is a composite tensor of type %s. Pass the tensors that it is made of" %
                  (i, type(value).__name__))
      try:
        with inputs_.graph_of(api, list(inputs)):
          value = api.convert_to_tensor(value)
      except (TypeError, ValueError) as error:
        code.fail(TypeError, "input %d is %s, which is no tensor and cannot be made one (%s)" %
                  (i, errors.kind_of(value), error))
    converted.append(value)
  return converted


# ---- the call

def _run(code, gradient, inputs):
  """The function that is decorated."""
  copy = rerun.copied(code)
  if copy is not None and copy.inputs[0].op.type.startswith("PyFunc"):
    # TensorFlow 1.13 to 2.0 differentiate copies of loops and branches: there the code is running already.
    outputs = list(copy.inputs[0].op.outputs)
  else:
    outputs = code.outputs(inputs)
  op = Op(inputs, outputs)

  def in_grad(*dys):
    if not any(code.api.is_differentiable(t.dtype) for t in inputs):
      return [None] * len(inputs)
    return gradient(op, dys)
  in_grad.give_out = op.give_out
  return outputs, in_grad


_function = None


def _run_function():
  global _function
  if _function is None:
    _function = functions.Function(_run)
  return _function


def _call(code, gradient, tensors):
  # The functions of 1.5 lose the shapes.
  return code.shaped(decorator.caller(code.function)(code, gradient, tensors))


class Op(object):
  """What `grad` gets as `op`: the tensors of one call, in every mode."""

  def __init__(self, inputs, outputs):
    self.type = "PyFunc"
    self.inputs = list(inputs)
    self.outputs = list(outputs)

  def give_out(self, outputs):
    """The results as the caller has them: with a gradient, so that second derivatives go through them."""
    self.outputs = list(outputs)


# ---- the gradient

def _in_tensorflow(code, grad):
  def gradient(op, dys):
    return _one_per_input(code, "grad", len(op.inputs), grad(op, *dys))
  return gradient


def _one_per_input(code, name, count, returned):
  if count == 1 and not isinstance(returned, (list, tuple)):
    return [returned]
  if not isinstance(returned, (list, tuple)) or len(returned) != count:
    got = "%d" % len(returned) if isinstance(returned, (list, tuple)) else errors.kind_of(returned)
    code.fail(ValueError, "%s returned %s; expected a list of %d gradients, one for each of the inputs, with None for "
              "one that gets none" % (name, got, count))
  return list(returned)


def _in_numpy(code, grad_py):
  """The gradient as an operation of its own, whose own gradient is missing."""
  def gradient(op, dys):
    api = code.api
    tensors = op.inputs + op.outputs
    places = [i for i, t in enumerate(op.inputs) if api.is_differentiable(t.dtype)]
    given = [i for i, dy in enumerate(dys) if dy is not None]
    count_in, count_out, count_dys = len(op.inputs), len(op.outputs), len(dys)

    def backward(*arrays):
      arrays = list(arrays)
      inputs, outputs = arrays[:count_in], arrays[count_in:count_in + count_out]
      upstream = [None] * count_dys
      for i, dy in zip(given, arrays[count_in + count_out:]):
        upstream[i] = dy
      returned = _one_per_input(code, "grad_py", count_in, grad_py(inputs, outputs, upstream))
      return [_summed(code, i, returned[i], inputs[i]) for i in places]

    dtypes = [op.inputs[i].dtype.base_dtype for i in places]
    backward_code = python_code.Code(api, backward, code.function, dtypes, code.stateful, None)
    for k, i in enumerate(places):
      backward_code.shapes[k] = api.shape(op.inputs[i])
    missing = _missing(code, "a second derivative was asked for, and grad_py, in numpy, has none. Give the gradient as "
                       "grad, in TensorFlow operations")
    found = [None] * count_in
    for i, tensor in zip(places, _call(backward_code, missing, tensors + [dys[i] for i in given])):
      found[i] = tensor
    return found
  return gradient


def _summed(code, i, gradient, like):
  """A gradient in numpy, summed to the shape of its input where it is a broadcast of it."""
  np = code.api.np
  if gradient is None:
    return np.zeros_like(like)
  gradient, shape = np.asarray(gradient), np.shape(like)
  extra = gradient.ndim - len(shape)
  if gradient.shape != shape and extra >= 0 and all(n in (1, m) for n, m in zip(shape, gradient.shape[extra:])):
    axes = tuple(range(extra)) + tuple(extra + k for k, n in enumerate(shape) if n == 1)
    gradient = gradient.sum(axis=axes).reshape(shape)
  if gradient.shape != shape:
    code.fail(ValueError, "grad_py returned a gradient of shape %s for input %d; expected %s, the shape of the input, "
              "or a broadcast of it" % (gradient.shape, i, shape))
  return gradient


def _missing(code, why):
  def gradient(op, dys):
    code.fail(errors.NoGradientError, why)
  return gradient
