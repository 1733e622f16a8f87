"""For the tests of your own gradients: values and gradients as numpy, in every mode that this TensorFlow has.

    from tfgradcompat import testing

    def test_my_function():
      testing.check_gradients(my_function, [1., 2.], 3.)                      # against numeric differences
      testing.assert_gradients(clipped, [[3.]], [[0.1]])                      # where they are meant to differ
      testing.assert_same_everywhere(clipped, [[3.]])                         # graph, eager, function

Works with pytest, unittest or alone: what is wrong is an AssertionError. Arguments are numbers, lists and numpy arrays,
and `variable(...)`; numbers and lists of floats become float32, as in TensorFlow. Whether eager mode is on is the
process's own choice; from 1.9 on graphs are tested under it too.
"""

from __future__ import absolute_import, division, print_function

from . import errors
from . import loading
from . import nests

__all__ = ["assert_gradients", "assert_same_everywhere", "check_gradients", "evaluate", "gradients", "modes", "variable"]

GRAPH, EAGER, FUNCTION = "graph", "eager", "function"


class variable(object):
  """An argument that reaches the function as a variable, made afresh for each call.

  Args:
    value: its initial value: a number, list or numpy array.
    use_resource: in graphs, whether it is a resource variable (as always in eager mode); from TensorFlow 1.2 on.

  Example:
    >>> from tfgradcompat import testing
    >>> [gradient] = testing.gradients(lambda w: w * w, testing.variable(3.))
    >>> gradient.item()
    6.0
  """

  def __init__(self, value, use_resource=False):
    self.value, self.use_resource = value, use_resource


def modes():
  """The modes that this TensorFlow has in this process, the natural one first.

  Returns:
    A list of some of "graph", "eager" and "function" (`tf.function`; before 1.14 `tf.contrib.eager.defun` or `function`).

  Example:
    >>> from tfgradcompat import testing
    >>> "graph" in testing.modes() or testing.modes() == ["eager", "function"]
    True
  """
  api = loading.load()
  if not api.executing_eagerly():
    return [GRAPH]
  found = [EAGER, FUNCTION]
  with api.tf.Graph().as_default():
    if not api.executing_eagerly():  # up to 1.8 a graph that is entered stays eager
      found.append(GRAPH)
  return found


def evaluate(f, *args, **options):
  """The value of `f(*args)`, computed in one mode.

  Args:
    f: a function of tensors and variables that returns a tensor, or a nest of tensors and other values.
    *args: one per argument of `f`: a number, list, numpy array or `variable`.
    mode: a keyword: one of `modes()`, by default the first.

  Returns:
    What `f` returns, with numpy arrays in the place of tensors.

  Raises:
    ValueError: this process has no such mode. TypeError: an unknown keyword.

  Example:
    >>> from tfgradcompat import testing
    >>> testing.evaluate(lambda x, y: x + y, [1., 2.], 3.).tolist()
    [4.0, 5.0]
  """
  mode = _mode(options)
  _no_more(options)
  return _run(mode, lambda *tensors: f(*tensors), args)


def gradients(f, *args, **options):
  """The gradients of the sum of all results of `f(*args)`, computed in one mode.

  Args:
    f: as for `evaluate`, with at least one floating or complex tensor in its result.
    *args: as for `evaluate`.
    mode: a keyword: one of `modes()`, by default the first.
    upstream: a keyword: the upstream gradient, an array, where the result has one floating or complex tensor, else a list of one
      for each; by default ones.

  Returns:
    A list with one numpy array per argument, of its shape and dtype; None where there is no gradient.

  Raises:
    ValueError: this process has no such mode, or the result has nothing to differentiate. TypeError: an unknown keyword.

  Example:
    >>> from tfgradcompat import testing
    >>> [dx] = testing.gradients(lambda x: x * x, [1., 2.], upstream=[1., 10.])
    >>> dx.tolist()
    [2.0, 40.0]
  """
  mode, upstream = _mode(options), options.pop("upstream", None)
  _no_more(options)
  return _run(mode, lambda *tensors: _differentiated(mode, f, tensors, upstream)[1], args)


def assert_gradients(f, args, expected, modes=None, upstream=None, rtol=1e-5, atol=1e-6):
  """Raises an AssertionError unless the gradients are the expected ones in each mode.

  Args:
    f: as for `gradients`.
    args: a list of its arguments.
    expected: a list with one array per argument, None where there must be no gradient.
    modes: a list of modes, by default all of this process.
    upstream: as for `gradients`.
    rtol, atol: how far a number may be from the expected one: `atol + rtol * abs(expected)`.

  Raises:
    AssertionError: it names the mode, the argument, the index, and the expected and the found number.

  Example:
    >>> from tfgradcompat import clip_gradient_by_value, testing
    >>> testing.assert_gradients(lambda x: clip_gradient_by_value(x, -0.1, 0.1), [[3.]], [[0.1]])
  """
  for mode in modes or globals()["modes"]():
    found = gradients(f, *args, mode=mode, upstream=upstream)
    if len(found) != len(expected):
      raise AssertionError("%d expected gradients for %d arguments" % (len(expected), len(found)))
    for i, (got, wanted) in enumerate(zip(found, expected)):
      _compare(mode, "the gradient for argument %d" % i, got, wanted, rtol, atol)


def assert_same_everywhere(f, args, upstream=None, rtol=1e-5, atol=1e-6):
  """Raises an AssertionError unless values and gradients are the same in all modes of this process.

  Args:
    f, args, upstream, rtol, atol: as for `assert_gradients`.

  Raises:
    AssertionError: it names the modes, what differs, the index and both numbers.

  Example:
    >>> from tfgradcompat import testing
    >>> testing.assert_same_everywhere(lambda x: x * x, [[1., 2.]])
  """
  first = None
  for mode in modes():
    value, found = _run(mode, lambda *tensors: _differentiated(mode, f, tensors, upstream), args)
    if first is None:
      first, of_first = mode, (_flat(value), found)
      continue
    for i, (got, wanted) in enumerate(zip(_flat(value), of_first[0])):
      _compare("%s, against %s" % (mode, first), "result %d" % i, got, wanted, rtol, atol)
    for i, (got, wanted) in enumerate(zip(found, of_first[1])):
      _compare("%s, against %s" % (mode, first), "the gradient for argument %d" % i, got, wanted, rtol, atol)


def check_gradients(f, *args, **options):
  """Compares gradients with numeric differences, in random directions; an AssertionError says where they differ.

  The function `L`, the sum of the real parts of the products of each result with a random number, is differenced centrally
  (`(L(x + h v) - L(x - h v)) / 2h`) along random unit vectors `v` over all arguments together. Floating and complex arguments
  are raised to double precision where `f` can compute in it, and the differences are taken in it; so the error is about `h ** 2`.

  Args:
    f: as for `gradients`; it must be smooth around `args`, and give the same result each time.
    *args: as for `evaluate`.
    order: a keyword: 1, or 2 to check the second derivatives too: those of the gradients along a random direction.
    modes: a keyword: a list of modes, by default all of this process.
    directions: a keyword: how many random directions are tried, by default 3.
    delta: a keyword: the step `h`, by default the third root of the precision of the dtype in which `f` computes.
    rtol, atol: keywords: the tolerance for each directional derivative, by default 50 `h ** 2` each.
    seed: a keyword: of the random numbers, by default 0. It stands in the error.

  Raises:
    AssertionError: it names the mode, the order, the argument and the index that differ most, and the analytic and the numeric number.
    TypeError, ValueError: as `gradients`.

  Example:
    >>> from tfgradcompat import custom_grad, testing
    >>> square = custom_grad(lambda x: (x * x, lambda dy: 2. * x * dy))
    >>> testing.check_gradients(square, [1., 2.])
    >>> wrong = custom_grad(lambda x: (x * x, lambda dy: 3. * x * dy))
    >>> try:
    ...   testing.check_gradients(wrong, [1., 2.])
    ... except AssertionError as error:
    ...   print("caught" if "argument 0" in str(error) else error)
    caught
  """
  from . import testing_numeric  # a file of its own
  testing_numeric.check(f, args, options)


# ---- running

def _mode(options):
  mode = options.pop("mode", None)
  found = modes()
  if mode is not None and mode not in found:
    raise errors.make(ValueError, None, "testing: this process has the modes %s; got %r. Eager mode is chosen when TensorFlow starts." %
                      (", ".join(found), mode))
  return mode or found[0]


def _no_more(options):
  if options:
    raise errors.make(TypeError, None, "testing: unknown keyword %r." % sorted(options)[0])


def _array(api, value):
  """A number, list or array as an array: floats become float32 unless they are numpy already."""
  if isinstance(value, (api.np.ndarray, api.np.generic)):
    return api.np.asarray(value)
  array = api.np.asarray(value)
  narrow = {"float64": "float32", "int64": "int32", "complex128": "complex64"}.get(array.dtype.name)
  return array.astype(narrow) if narrow else array


def _run(mode, program, args):
  """`program` of the arguments as tensors and variables; what it returns as numpy."""
  api = loading.load()
  if mode == GRAPH:
    with api.tf.Graph().as_default():
      made = [_made(api, mode, i, arg) for i, arg in enumerate(args)]
      tensors, merge = _split(api, program(*made))
      with api.v1.Session() as session:
        session.run(api.v1.global_variables_initializer())
        return merge(session.run(tensors) if tensors else [])
  made = [_made(api, mode, i, arg) for i, arg in enumerate(args)]
  tensors, merge = _split(api, program(*made))
  return merge([tensor.numpy() for tensor in tensors])


def _made(api, mode, i, arg):
  if not isinstance(arg, variable):
    return api.constant(_array(api, arg))
  return api.new_variable("testing_%d" % i, _array(api, arg.value), mode != GRAPH or arg.use_resource)


def _split(api, nest):
  """`(tensors, merge)`: the tensors of a nest, and what puts others into their places."""
  tensors = []

  def leaf(leaf):
    if not api.is_tensor(leaf):
      return leaf
    tensors.append(api.convert_to_tensor(leaf))
    return _PLACE
  outline = nests.rebuild(nest, leaf)

  def merge(values):
    values = iter(values)
    return nests.rebuild(outline, lambda leaf: next(values) if leaf is _PLACE else leaf)
  return tensors, merge


_PLACE = object()


def _flat(nest):
  found = []
  nests.rebuild(nest, found.append)
  return found


def _differentiated(mode, f, args, upstream):
  """`(value, gradients)` as tensors."""
  api = loading.load()

  def loss_of(value):
    targets = [t for t in _split(api, value)[0] if api.is_differentiable(t.dtype.base_dtype)]
    if not targets:
      raise errors.make(ValueError, None, "testing: the function returned no floating or complex tensor. Let it return one.")
    ups = [None] * len(targets) if upstream is None else [upstream] if len(targets) == 1 else list(upstream)
    if len(ups) != len(targets):
      raise errors.make(ValueError, None, "testing: %d upstream gradients for %d results. Pass one for each." % (len(ups), len(targets)))
    weighted = []
    for target, up in zip(targets, ups):
      if up is not None:
        target = target * api.constant(api.np.conj(api.np.asarray(up, target.dtype.base_dtype.as_numpy_dtype)))
      weighted.append(api.tf.reduce_sum(target))
    total = weighted[0]
    for other in weighted[1:]:
      total = total + api.tf.cast(other, total.dtype)
    return total
  sources = [i for i, arg in enumerate(args) if api.is_differentiable(arg.dtype.base_dtype)]
  if mode == GRAPH:
    value = f(*args)
    loss = loss_of(value)
    found = api.v1.gradients(loss, [args[i] for i in sources], api.tf.ones_like(loss))
  else:
    value, found = _by_tape(api, mode, f, args, sources, loss_of)
  gradients = [None] * len(args)
  for i, gradient in zip(sources, found):
    if gradient is not None:
      gradient = api.convert_to_tensor(gradient)  # IndexedSlices
    gradients[i] = gradient
  return value, gradients


def _by_tape(api, mode, f, args, sources, loss_of):
  if mode == FUNCTION:
    f = _compiled(api, f, args)
  with api.new_tape() as tape:
    for i in sources:
      if isinstance(args[i], api.Tensor):
        tape.watch(args[i])
    value = f(*args)
    loss = loss_of(value)
  return value, tape.gradient(loss, [args[i] for i in sources])


def _compiled(api, f, args):
  """`f` inside a TensorFlow function, which takes the tensors; the variables reach it from outside."""
  kept = {}

  def body(*tensors):
    tensors = iter(tensors)
    found, kept["merge"] = _split(api, f(*[next(tensors) if isinstance(a, api.Tensor) else a for a in args]))
    return found
  function = api.compiled(body)

  def call(*args):
    found = function(*[a for a in args if isinstance(a, api.Tensor)])
    return kept["merge"](found if isinstance(found, (list, tuple)) else [] if found is None else [found])
  return call


# ---- comparing

def _compare(where, what, got, wanted, rtol, atol):
  np = loading.load().np
  if got is None or wanted is None:
    if (got is None) != (wanted is None):
      raise AssertionError("%s: %s is %s; expected %s" % (where, what, got, wanted))
    return
  if not isinstance(got, (np.ndarray, np.generic)) and not isinstance(wanted, (np.ndarray, np.generic, list, tuple, float, int, complex)):
    if got != wanted:
      raise AssertionError("%s: %s is %r; expected %r" % (where, what, got, wanted))
    return
  got, wanted = np.asarray(got), np.asarray(wanted)
  if got.shape != wanted.shape:
    raise AssertionError("%s: %s has shape %s; expected %s" % (where, what, got.shape, wanted.shape))
  if got.dtype.kind not in "fciub":
    off = got != wanted
  else:
    off = ~np.isclose(got, wanted, rtol=rtol, atol=atol, equal_nan=True)
  if np.any(off):
    index = tuple(int(n) for n in np.argwhere(off)[0])
    raise AssertionError("%s: %s is %s at index %s; expected %s. All of it: %s; expected %s" % (
        where, what, got[index], list(index), wanted[index], got.tolist(), wanted.tolist()))
