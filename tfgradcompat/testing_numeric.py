"""Numeric derivatives, for `testing.check_gradients`."""

from __future__ import absolute_import, division, print_function

from . import errors
from . import loading
from . import testing

_WIDE = {"float16": "float64", "float32": "float64", "complex64": "complex128"}
_ELEMENTS = 1000  # in which the one that differs most is looked for


def check(f, args, options):
  """See `testing.check_gradients`."""
  api = loading.load()
  order, seed = options.pop("order", 1), options.pop("seed", 0)
  directions, delta = options.pop("directions", 3), options.pop("delta", None)
  rtol, atol = options.pop("rtol", None), options.pop("atol", None)
  modes = options.pop("modes", None)
  testing._no_more(options)
  if order not in (1, 2):
    raise errors.make(ValueError, None, "testing: order is %r; expected 1 or 2." % (order,))
  random = api.np.random.RandomState(seed)
  args = _widened(api, f, args)
  for mode in modes or testing.modes():
    if order == 1:
      _Check(api, mode, f, args, random, delta, rtol, atol, "order 1, seed %r" % seed).run(directions)
    elif mode != testing.FUNCTION or modes or api.version >= (1, 15):  # before, those of any function are missing
      g = _gradient_along(api, mode, f, args, random)
      # A function is called from the gradient; the derivative of that is taken outside of it.
      outer = testing.EAGER if mode == testing.FUNCTION else mode
      _Check(api, outer, g, args, random, delta, rtol, atol, "order 2, seed %r, mode %s" % (seed, mode)).run(directions)


def _widened(api, f, args):
  """The arguments in double precision, if `f` can take them."""
  def wide(arg):
    if isinstance(arg, testing.variable):
      return testing.variable(wide(arg.value), arg.use_resource)
    array = testing._array(api, arg)
    return array.astype(_WIDE.get(array.dtype.name, array.dtype.name))
  tried = [wide(arg) for arg in args]
  try:
    testing.evaluate(f, *tried)
  except (TypeError, ValueError, api.tf.errors.InvalidArgumentError):  # it has constants of its own
    return list(args)
  return tried


def _gradient_along(api, mode, f, args, random):
  """The function whose gradients are the second derivatives of `f`: its gradients along a random direction, as one number."""
  upstream = _like_results(api, mode, f, args, random)
  along = [_normal(api, random, _value(api, arg)) for arg in args]

  def g(*tensors):
    found = testing._differentiated(mode, f, tensors, upstream)[1]
    parts = []
    for gradient, direction in zip(found, along):
      if gradient is not None and direction is not None:
        product = gradient * api.constant(api.np.conj(direction))
        parts.append(api.tf.reduce_sum(api.v1.real(product) if product.dtype.is_complex else product))
    if not parts:
      raise AssertionError("%s: there are no first gradients, so there are no second ones" % mode)
    total = api.tf.cast(parts[0], api.tf.float64)
    for part in parts[1:]:
      total = total + api.tf.cast(part, api.tf.float64)
    return total
  return g


class _Check(object):
  """One function in one mode."""

  def __init__(self, api, mode, f, args, random, delta, rtol, atol, what):
    self.api, self.mode, self.f, self.args, self.random, self.what = api, mode, f, args, random, what
    self.arrays = [_value(api, arg) for arg in args]
    floating = [a.dtype for a in self.arrays if a.dtype.kind in "fc"]
    precision = max([api.np.finfo(dtype).eps for dtype in floating] or [1e-7])
    self.delta = delta or float(precision) ** (1. / 3.)
    self.rtol = 50. * self.delta ** 2 if rtol is None else rtol
    self.atol = 50. * self.delta ** 2 if atol is None else atol
    self.upstream = _like_results(api, mode, f, args, random)

  def run(self, directions):
    found = testing.gradients(self.f, *self.args, mode=self.mode, upstream=self.upstream)
    for _ in range(directions):
      along = self._unit()
      analytic = sum(_dot(self.api, g, v) for g, v in zip(found, along) if g is not None and v is not None)
      numeric = self._numeric(along)
      if not abs(analytic - numeric) <= self.atol + self.rtol * abs(numeric):
        self._fail(found, analytic, numeric)

  def _unit(self):
    along = [_normal(self.api, self.random, array) for array in self.arrays]
    length = sum(_dot(self.api, v, v) for v in along if v is not None) ** 0.5
    return [None if v is None else (v / length).astype(v.dtype) for v in along]

  def _numeric(self, along):
    return (self._loss(along, self.delta) - self._loss(along, -self.delta)) / (2. * self.delta)

  def _loss(self, along, delta):
    """In float64, at a step `delta` along a direction."""
    moved = []
    for arg, array, direction in zip(self.args, self.arrays, along):
      value = array if direction is None else (array + delta * direction).astype(array.dtype)
      moved.append(testing.variable(value, arg.use_resource) if isinstance(arg, testing.variable) else value)
    results = _results(self.api, testing.evaluate(self.f, *moved, mode=self.mode))
    return sum(_dot(self.api, result, up) for result, up in zip(results, _listed(self.upstream)))

  def _fail(self, found, analytic, numeric):
    worst = (-1.,)
    for i, (gradient, array) in enumerate(zip(found, self.arrays)):
      for index in list(self.api.np.ndindex(array.shape))[:_ELEMENTS] if array.dtype.kind in "fc" else ():
        parts = (1., 1j) if array.dtype.kind == "c" else (1.,)
        slopes = []
        for part in parts:
          along = [None] * len(found)
          along[i] = self.api.np.zeros(array.shape, array.dtype)
          along[i][index] = part
          slopes.append(self._numeric(along))
        expected = slopes[0] + 1j * slopes[1] if len(parts) == 2 else slopes[0]
        got = None if gradient is None else gradient[index]
        off = abs((0. if got is None else got) - expected)
        if not off <= worst[0]:
          worst = off, i, list(index), got, expected
    where = "at argument %d, index %s the gradient is %s; numerically it is %s" % worst[1:] if len(worst) > 1 else "no argument is floating"
    raise AssertionError("%s (%s): along a random direction the derivative is %s; numerically it is %s (step %.1e). Most of it %s." % (
        self.mode, self.what, analytic, numeric, self.delta, where))


def _value(api, arg):
  return testing._array(api, arg.value if isinstance(arg, testing.variable) else arg)


def _normal(api, random, array):
  """Random numbers of the shape and dtype of a floating or complex array, else None."""
  if array.dtype.kind not in "fc":
    return None
  drawn = random.normal(size=array.shape)
  if array.dtype.kind == "c":
    drawn = drawn + 1j * random.normal(size=array.shape)
  return api.np.asarray(drawn).astype(array.dtype)


def _results(api, value):
  return [r for r in testing._flat(value) if isinstance(r, (api.np.ndarray, api.np.generic)) and r.dtype.kind in "fc"]


def _like_results(api, mode, f, args, random):
  """Random upstream gradients, in the form in which `testing.gradients` takes them."""
  found = [_normal(api, random, api.np.asarray(r)) for r in _results(api, testing.evaluate(f, *args, mode=mode))]
  return found[0] if len(found) == 1 else found


def _listed(upstream):
  return upstream if isinstance(upstream, list) else [upstream]


def _dot(api, a, b):
  """The real part of the inner product, in double precision."""
  np = api.np
  return float(np.sum(np.real(np.conj(np.asarray(a, "complex128")) * np.asarray(b, "complex128"))))
