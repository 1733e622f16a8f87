"""The Python side of `py_func`: a function of arrays, and what was promised of it."""

from __future__ import absolute_import, division, print_function

from . import compat
from . import errors
from . import graphdata


class Code(object):
  """A Python function, and what was promised of it."""

  def __init__(self, api, func, function, dtypes, stateful, name):
    """`function` is the `functions.Function` that errors name."""
    self.api = api
    self.func = func
    self.dtypes = dtypes
    self.stateful = bool(stateful)
    self.name = name
    self.function = function
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
