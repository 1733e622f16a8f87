"""Changes between computing gradients and applying them: what `minimize` takes as `transform`.

A transform is a plain function that takes a list of pairs (gradient, variable) and returns one; write your own as you
like. Each function here makes one. A gradient is a tensor, IndexedSlices (those of embeddings) or None, which stays
None. IndexedSlices stay sparse: rows that occur more than once are added up first where that matters.

Numbers may be given as tensors or variables too, which are read each time a step is taken.
"""

from __future__ import absolute_import, division, print_function

from . import checks
from . import errors
from . import functions
from . import gradient_math
from . import loading


@functions.unconverted
def clip_by_value(lo, hi):
  """A transform that brings each element of each gradient between `lo` and `hi`. NaN stays NaN.

  IndexedSlices stay sparse where `lo` and `hi` are known to have 0 between them, else the rows that they do not name
  would have to change as well, and they become dense.

  Args:
    lo: a number, or a scalar tensor or variable; may be -infinity.
    hi: the same, not less than `lo`; may be infinity.

  Raises:
    TypeError: a bound is no real number. The transform raises it for complex gradients.
    ValueError: a bound is known to be NaN, `lo` is known to be greater than `hi`, or a bound is no scalar.

  Example:
    >>> clip = clip_by_value(-0.5, 0.5)
    >>> def clipped(x):
    ...   [(gradient, _)] = clip([(x, "the variable")])
    ...   return tf.reduce_sum(gradient)
    >>> # clipped([0.2, 3.]) is 0.7 with the gradient [1., 0.]
  """
  api, who = loading.load(), "clip_by_value"
  known = checks.bounds(api, who, lo, hi)
  for name, bound in (("lo", lo), ("hi", hi)):
    checks.scalar(api, who, name, bound)
  around_zero = known[0] is not None and known[1] is not None and known[0] <= 0 <= known[1]

  def change(gradient, variable):
    if gradient.dtype.is_complex:
      raise errors.make(TypeError, None, "%s: the gradient for %s is complex (%s); expected real ones, since complex numbers "
                        "have no order. Clip by norm." % (who, checks.name_of(variable), gradient.dtype.name))
    if api.is_slices(gradient):
      gradient = api.each_row_once(gradient) if around_zero else api.convert_to_tensor(gradient)
    return _on_values(api, gradient, lambda g: gradient_math.clipped_by_value(api, g, api.now(lo), api.now(hi)))
  return _each(who, change)


@functions.unconverted
def clip_by_norm(norm):
  """A transform that scales each gradient down to the Euclidean norm `norm` where its own is greater.

  Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks" (2013), algorithm 1.

  Args:
    norm: a finite number that is not negative, or a scalar tensor or variable.

  Raises:
    TypeError, ValueError: `norm` is no such number, as far as it is known.

  Example:
    >>> clip = clip_by_norm(1.)
    >>> def clipped(x):
    ...   [(gradient, _)] = clip([(3. * x, "the variable")])
    ...   return tf.reduce_sum(gradient * [1., 0.])
    >>> # clipped([1., 0.]) is 1. with the gradient [0., 0.]
  """
  api, who = loading.load(), "clip_by_norm"
  checks.norm(api, who, norm)

  def change(gradient, _):
    if api.is_slices(gradient):
      gradient = api.each_row_once(gradient)
    return _on_values(api, gradient, lambda g: gradient_math.clipped_by_norm(api, g, api.now(norm)))
  return _each(who, change)


@functions.unconverted
def clip_by_global_norm(norm):
  """A transform that scales all gradients down together where the norm of all of them is greater than `norm`.

  The norm is the root of the sum of the squared norms. Where it is not finite, all gradients are NaN, as with the
  `tf.clip_by_global_norm` of the newest release.

  Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks" (2013), algorithm 1.

  Args:
    norm: a finite number that is not negative, or a scalar tensor or variable.

  Raises:
    TypeError, ValueError: `norm` is no such number, as far as it is known.

  Example:
    >>> clip = clip_by_global_norm(1.)
    >>> def clipped(x, y):
    ...   [(for_v, _), (for_w, _)] = clip([(x, "v"), (y, "w")])
    ...   return tf.stop_gradient(for_v) + for_w
    >>> # clipped(0.3, 0.4) is 0.7 with the gradients 0., 1.
  """
  api, who = loading.load(), "clip_by_global_norm"
  checks.norm(api, who, norm)

  @functions.unconverted
  def transform(pairs):
    gradients, variables = _split(who, pairs)
    gradients = [api.each_row_once(g) if g is not None and api.is_slices(g) else g for g in gradients]
    values = gradient_math.clipped_by_global_norm(api, [_values(api, g) for g in gradients], api.now(norm))
    return list(zip([_with_values(api, g, v) for g, v in zip(gradients, values)], variables))
  return transform


@functions.unconverted
def scale(factor):
  """A transform that multiplies all gradients by `factor`.

  Args:
    factor: a finite number, or a scalar tensor or variable.

  Raises:
    TypeError, ValueError: `factor` is no such number, as far as it is known.

  Example:
    >>> double = scale(2.)
    >>> def doubled(x):
    ...   [(gradient, _)] = double([(x, "the variable")])
    ...   return tf.reduce_sum(gradient)
    >>> # doubled([1., 2.]) is 6. with the gradient [2., 2.]
  """
  api, who = loading.load(), "scale"
  checks.number(api, who, "factor", factor)
  checks.scalar(api, who, "factor", factor)
  return _each(who, lambda gradient, _: _on_values(
      api, gradient, lambda g: gradient_math.scaled(api, g, api.now(factor))))


@functions.unconverted
def add_noise(stddev, seed=None):
  """A transform that adds Gaussian noise, another one in each step, to all elements of all gradients.

  Neelakantan et al., "Adding Gradient Noise Improves Learning for Very Deep Networks" (2015). IndexedSlices become
  dense, since every row gets noise.

  Args:
    stddev: the standard deviation: a finite number that is not negative, or a scalar tensor or variable.
    seed: an integer, or None. Each gradient has a seed of its own that is made from it.

  Raises:
    TypeError, ValueError: `stddev` is no such number, as far as it is known, or `seed` is no integer. The transform
      raises TypeError for complex gradients.

  Example:
    >>> noise = add_noise(0.)
    >>> def noisy(x):
    ...   [(gradient, _)] = noise([(x, "the variable")])
    ...   return tf.reduce_sum(gradient)
    >>> # noisy([1., 2.]) is 3. with the gradient [1., 1.]
  """
  api, who = loading.load(), "add_noise"
  checks.number(api, who, "stddev", stddev, negative_allowed=False)
  checks.scalar(api, who, "stddev", stddev)
  if seed is not None:
    checks.integer(who, "seed", seed)

  @functions.unconverted
  def transform(pairs):
    changed = []
    for i, (gradient, variable) in enumerate(zip(*_split(who, pairs))):
      if gradient is not None:
        if gradient.dtype.is_complex:
          raise errors.make(TypeError, None, "%s: the gradient for %s is complex (%s); expected real ones. Add noise to real "
                            "and imaginary part yourself." % (who, checks.name_of(variable), gradient.dtype.name))
        gradient = api.convert_to_tensor(gradient)
        gradient = gradient + api.normal(gradient, api.now(stddev), None if seed is None else seed + i)
      changed.append((gradient, variable))
    return changed
  return transform


@functions.unconverted
def skip_on_nan():
  """A transform that skips the step if any gradient holds NaN or infinity.

  `minimize` then leaves everything as it is, variables, slots and counters of the optimizer. Used without `minimize`,
  it gives gradients of zeros in that case, with which an optimizer that has momentum still moves.

  Example:
    >>> skip = skip_on_nan()
    >>> def skipped(x):
    ...   [(gradient, _)] = skip([(x, "the variable")])
    ...   return tf.reduce_sum(gradient)
    >>> # skipped([1., float("nan")]) is 0. with the gradient [0., 0.]
  """
  api, who = loading.load(), "skip_on_nan"

  @functions.unconverted
  def transform(pairs):
    gradients, variables = _split(who, pairs)
    given = [_values(api, g) for g in gradients if g is not None]
    if not given:
      return pairs
    finite = api.is_finite(given)
    changed = Pairs(zip([g if g is None else _on_values(api, g, lambda values: api.or_zeros(finite, values))
                         for g in gradients], variables))
    changed.apply_if = finite
    return changed
  return transform


@functions.unconverted
def chain(*transforms):
  """A transform that does one transform after the other. `minimize` takes a list of them as well.

  Args:
    transforms: functions that take a list of pairs (gradient, variable) and return one.

  Raises:
    TypeError: one is not callable. The transform raises it where one returns something else than a list of pairs.

  Example:
    >>> change = chain(scale(2.), clip_by_value(-1., 1.))
    >>> def changed(x):
    ...   [(gradient, _)] = change([(x, "the variable")])
    ...   return tf.reduce_sum(gradient)
    >>> # changed([0.25, 2.]) is 1.5 with the gradient [2., 0.]
  """
  for i, transform in enumerate(transforms):
    checks.function("chain", "transform %d" % i, transform)

  @functions.unconverted
  def chained(pairs):
    api = loading.load()
    condition = getattr(pairs, "apply_if", None)
    for transform in transforms:
      pairs = api.converted(transform)(pairs)
      _split("chain", pairs, "%s returned" % getattr(transform, "__name__", "a transform"))
      new = getattr(pairs, "apply_if", None)
      if new is not condition and new is not None:
        condition = new if condition is None else api.tf.logical_and(condition, new)
    pairs = Pairs(pairs)
    pairs.apply_if = condition
    return pairs
  return chained


class Pairs(list):
  """Pairs (gradient, variable), to be applied only if the boolean tensor `apply_if` holds, or always if that is None."""

  apply_if = None


def _each(who, change):
  """A transform that puts `change(gradient, variable)` in the place of each gradient."""
  @functions.unconverted
  def transform(pairs):
    return [(g if g is None else change(g, v), v) for g, v in zip(*_split(who, pairs))]
  return transform


def _split(who, pairs, got="got"):
  """`(gradients, variables)` of a list of pairs."""
  if not isinstance(pairs, (list, tuple)) or not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pairs):
    raise errors.make(TypeError, None, "%s: a transform takes and returns a list of pairs (gradient, variable); %s %s. Return "
                      "such a list." % (who, got, errors.kind_of(pairs)))
  api = loading.load()
  for gradient, variable in pairs:
    if gradient is not None and not isinstance(gradient, api.Tensor) and not api.is_slices(gradient):
      raise errors.make(TypeError, None, "%s: the gradient for %s must be a tensor, IndexedSlices or None; %s %s. Convert it "
                        "with tf.convert_to_tensor." % (who, checks.name_of(variable), got, errors.kind_of(gradient)))
  return [g for g, _ in pairs], [v for _, v in pairs]


def _values(api, gradient):
  return gradient.values if gradient is not None and api.is_slices(gradient) else gradient


def _with_values(api, gradient, values):
  if gradient is None or not api.is_slices(gradient):
    return values
  return api.tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)


def _on_values(api, gradient, change):
  """A gradient with changed values; IndexedSlices keep their rows."""
  return _with_values(api, gradient, change(_values(api, gradient)))
