"""Python code, for example in numpy, as an operation with a gradient.

`py_func` checks and converts, `Code` is the function as TensorFlow calls it, arrays in and arrays out, and `_run` is
the decorated function through which each call goes.
"""

from __future__ import absolute_import, division, print_function

from . import compat
from . import decorator
from . import errors
from . import functions
from . import graphdata
from . import inputs as inputs_
from . import leaves
from . import loading
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
  code = Code(api, func, _dtypes(api, func, Tout), stateful, name)
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


# ---- the numpy side

class Code(object):
  """A Python function, and what was promised of it."""

  def __init__(self, api, func, dtypes, stateful, name, shown=None):
    self.api = api
    self.func = func
    self.dtypes = dtypes
    self.stateful = bool(stateful)
    self.name = name
    self.function = _run_function().shown_as(shown or func)
    self.shapes = [None] * len(dtypes)

  def fail(self, kind, message):
    raise errors.make(kind, self.function, "py_func: %s." % message)

  def set_shapes(self, shape, is_list):
    """Takes the static shapes; each becomes a list with None for unknown, or None."""
    if shape is None:
      return
    shapes = shape if is_list else [shape]
    if not isinstance(shapes, (list, tuple)) or len(shapes) != len(self.dtypes):
      self.fail(ValueError, "shape must be a list with one shape for each of the %d dtypes in Tout; got %s" %
                (len(self.dtypes), errors.kind_of(shape)))
    for i, one in enumerate(shapes):
      if isinstance(one, compat.string_types):
        one = object()  # which tf.TensorShape would take letter by letter
      try:
        if one is not None:
          one = self.api.tf.TensorShape(one)
          one = None if one.ndims is None else one.as_list()
      except (TypeError, ValueError) as error:
        self.fail(ValueError, "shape must be a list of integers, with None for an unknown dimension, or None; got %s "
                              "(%s)" %
                  (errors.kind_of(shape), error))
      self.shapes[i] = one

  def take(self, name, function, count, what):
    """Raises TypeError where `function`, an argument `name`, cannot be called with `count` arguments."""
    if not callable(function):
      self.fail(TypeError, "%s must be a function; got %s" % (name, errors.kind_of(function)))
    spec = compat.argspec(function)
    if spec is not None and not spec.takes(count):
      self.fail(TypeError, "%s takes the arguments %s, and is called with %d (%s). Let it take %d" %
                (name, spec, count, what, count))

  def run(self, *args):
    """Called by TensorFlow: arrays, or scalars and bytes, to arrays."""
    return self.fitted(self.func(*args))

  def fitted(self, returned):
    """What the function returned, as one array per dtype, each of that dtype and of its shape."""
    np = self.api.np
    results = returned
    if len(self.dtypes) == 1 and not (isinstance(returned, (list, tuple)) and len(returned) == 1 and
                                      isinstance(returned[0], (np.ndarray, np.generic))):
      results = [returned]
    if not isinstance(results, (list, tuple)) or len(results) != len(self.dtypes):
      got = "%d results" % len(results) if isinstance(results, (list, tuple)) else errors.kind_of(returned)
      self.fail(ValueError, "the function returned %s; expected a list of %d, one for each dtype in Tout" %
                (got, len(self.dtypes)))
    return [self._fit(i, result) for i, result in enumerate(results)]

  def _fit(self, i, result):
    np, dtype, shape = self.api.np, self.dtypes[i], self.shapes[i]
    if result is None:
      self.fail(TypeError, "result %d is None; expected an array of %s" % (i, dtype.name))
    array = np.asarray(result, order="C")
    if dtype == self.api.tf.string:
      array = self._strings(i, array, result)
    elif array.dtype != dtype.as_numpy_dtype:
      array = self._cast(i, array, dtype)
    if shape is not None and (len(shape) != array.ndim or any(
        n not in (None, m) for n, m in zip(shape, array.shape))):
      self.fail(ValueError, "result %d has the shape %s; expected (%s), as was promised by shape" %
                (i, array.shape, ", ".join("?" if n is None else str(n) for n in shape)))
    return array

  def _cast(self, i, array, dtype):
    np = self.api.np
    want, got = np.dtype(dtype.as_numpy_dtype), array.dtype
    if got.name == "bfloat16":  # for numpy it is of no kind
      same_kind = self.api.is_differentiable(dtype)
    elif want.name == "bfloat16":
      same_kind = got.kind in "biuf"
    else:
      same_kind = got.kind in "biufc" and np.can_cast(got, want, "same_kind")
    if not same_kind:
      self.fail(TypeError, "result %d has the dtype %s; expected %s, which it cannot be cast to. Cast it with .astype" %
                (i, array.dtype, dtype.name))
    cast = array.astype(want)
    if want.kind in "iu" and not np.array_equal(cast, array):
      self.fail(TypeError, "result %d has the dtype %s and holds numbers that %s cannot hold. Cast it with .astype" %
                (i, array.dtype, dtype.name))
    return cast

  def _strings(self, i, array, result):
    np = self.api.np
    array = np.asarray(result, dtype=object)
    flat = [s if isinstance(s, bytes) else s.encode("utf-8") if isinstance(s, compat.string_types) else None
            for s in array.ravel()]
    if None in flat:
      self.fail(TypeError, "result %d holds %s; expected strings" % (
                    i, errors.kind_of(array.ravel()[flat.index(None)])))
    encoded = np.empty(len(flat), dtype=object)
    encoded[:] = flat
    return encoded.reshape(array.shape)

  def token(self):
    """What stands in a graph for the code."""
    return "%s, a Python function that only the process has which built the graph (py_func %s)" % (
        self.function.describe(), graphdata.unique())

  def outputs(self, tensors):
    """The results of the function for `tensors`, as tensors without a gradient."""
    api = self.api
    if api.executing_eagerly():
      # Copies, since old releases share the memory of arrays.
      arrays = self.run(*[_plain(api.np.array, t.numpy(), t.dtype) for t in tensors])
      return [api.tf.convert_to_tensor(api.np.array(a), dtype=d) for a, d in zip(arrays, self.dtypes)]
    dtypes = [t.dtype.base_dtype for t in tensors]
    crossed = [t if api.crossing(d) == d else api.tf.cast(t, api.crossing(d)) for t, d in zip(tensors, dtypes)]
    run, given = self._for_graphs(dtypes), [api.crossing(d) for d in self.dtypes]
    if api.python_errors_are_lost:
      made = api.python_op(_with_message(api, run, given), crossed, given + [api.tf.string], self.stateful, self.name,
                           self.token())
      told = api.tf.Assert(api.tf.equal(made[-1], ""), [made[-1]])
      with api.tf.control_dependencies([told]):
        made = [api.identity(t) for t in made[:-1]]
    else:
      made = api.python_op(run, crossed, given, self.stateful, self.name, self.token())
    outputs = [t if t.dtype.base_dtype == d else api.tf.cast(t, d) for t, d in zip(made, self.dtypes)]
    return self.shaped(outputs)

  def shaped(self, outputs):
    """`outputs` with the static shapes that the caller gave."""
    if not self.api.executing_eagerly():
      for tensor, shape in zip(outputs, self.shapes):
        tensor.set_shape(shape)
    return outputs

  def _for_graphs(self, dtypes):
    """The function for TensorFlow's registry. It must not hold a tensor or a graph."""
    api, results = self.api, self.dtypes

    def run(*args):
      # Copies: the arrays share the memory of tensors, which nobody may change, and a result that still does blocks 1.2 for ever.
      arrays = self.run(*[_plain(api.np.array, a, d) for a, d in zip(args, dtypes)])
      return [a if api.crossing(d) == d else a.astype(api.crossing(d).as_numpy_dtype) for a, d in zip(arrays, results)]
    return run


def _plain(convert, value, dtype):
  """An argument as the user's function gets it in every mode: an array, a numpy scalar, or bytes."""
  return convert(value, dtype=dtype.as_numpy_dtype)[()]  # strings are objects to numpy


def _with_message(api, run, dtypes):
  """`run` with one more result, the message of the exception that it raised, or nothing."""
  def run_and_tell(*args):
    try:
      return run(*args) + [b""]
    except Exception as error:  # whatever the user's code raises; it is raised again by the graph
      message = "%s: %s" % (type(error).__name__, error)
      nothing = [api.np.zeros((), d.as_numpy_dtype) if d != api.tf.string else b"" for d in dtypes]
      return nothing + [message.encode("utf-8")]
  return run_and_tell


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
    backward_code = Code(api, backward, dtypes, code.stateful, None, shown=code.func)
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
