"""Compute gradients, change them, apply them: the same call for every kind of optimizer, in every mode."""

from __future__ import absolute_import, division, print_function

from . import checks
from . import compat
from . import errors
from . import functions
from . import leaves
from . import loading
from . import nests
from . import transforms


@functions.unconverted
def value_and_gradients(f, xs, allow_unconnected=False):
  """The value of f and its gradients with respect to xs.

  Args:
    f: a function that returns a tensor of floating or complex numbers; if that is no scalar, the gradients are those
      of the sum of its elements. It is called as `f(*xs)` where `xs` is a list or tuple, as `f(xs)` where it is
      anything else, and as `f()` if it takes no arguments: then it reads `xs` itself.
    xs: tensors, variables or numpy arrays of floating or complex numbers: one of them or a nest.
    allow_unconnected: whether a gradient may be None because the value does not depend on it.

  Returns:
    `(value, gradients)`; `gradients` has the structure of `xs` and holds tensors and IndexedSlices. In a graph they
    are computed by `tf.gradients`, in eager mode and in functions with a tape.

  Raises:
    TypeError: `f` is no function or does not return such a tensor, or `xs` holds something else.
    ValueError: `xs` is empty, or a gradient is None; the text says of which.
    RuntimeError: inside of a function, before TensorFlow 1.8, or in eager mode before 1.5: there are no tapes.

  Example:
    >>> def squared_gradient(x):
    ...   value, [gradient] = value_and_gradients(lambda x: tf.reduce_sum(x * x), [x])
    ...   return value + tf.reduce_sum(gradient)
    >>> # squared_gradient([1., 2.]) is 11. with the gradient [4., 6.]
  """
  api, who = loading.load(), "value_and_gradients"
  checks.function(who, "f", f)
  names = []

  def visit(leaf):
    kind = api.kind(leaf)
    if kind not in (leaves.TENSOR, leaves.VARIABLE, leaves.ARRAY) or not api.is_differentiable(
        api.tf.as_dtype(leaf.dtype)):
      raise errors.make(TypeError, None, "%s: xs must be a tensor, a variable or a numpy array of floating or complex numbers, or "
                        "a nest of them; got %s in it. Convert it with tf.constant." % (who, errors.kind_of(leaf)))
    names.append(checks.name_of(leaf) if kind is leaves.VARIABLE else "leaf %d of xs" % len(names))
    return api.from_array(leaf) if kind is leaves.ARRAY else leaf
  xs = nests.rebuild(xs, visit)
  if not names:
    raise errors.make(ValueError, None, "%s: xs is empty. Pass the tensors or variables whose gradients you want." % who)
  args = () if _takes_nothing(f) else xs if type(xs) in (list, tuple) else (xs,)
  sources = []
  nests.rebuild(xs, lambda leaf: sources.append(leaf))
  value, found = _differentiate(api, who, lambda: api.converted(f)(*args), sources)
  if not allow_unconnected:
    _check_connected(who, found, names)
  found = iter(found)
  return value, nests.rebuild(xs, lambda leaf: next(found))


@functions.unconverted
def minimize(optimizer, loss, variables, transform=None, allow_unconnected=False):
  """One step of an optimizer: computes the gradients of loss, changes them with transform, and applies them.

  Args:
    optimizer: an optimizer of `tf.train` (`tf.compat.v1.train`) or of `tf.keras.optimizers` with `apply_gradients`
      (Keras 2 from TensorFlow 1.14 on, Keras 3). If it scales losses, for mixed precision, that is taken care of:
      `transform` gets the gradients of the loss itself.
    loss: a function without arguments that returns the loss, a tensor; in a graph it may be that tensor.
    variables: a variable, or a list of those that shall be changed.
    transform: a function that takes a list of pairs (gradient, variable) and returns one, see `transforms`, or a list
      of such functions. It may leave pairs out.
    allow_unconnected: whether variables on which the loss does not depend are left alone. Else they are an error.

  Returns:
    In a graph, the operation that takes the step, to be run in a session. In eager mode, and in functions, the step is
    taken at once, and the value of the loss before it is returned. In a graph this call makes the slots of the
    optimizer: initialize variables after it.

  Raises:
    TypeError: the optimizer has no `apply_gradients`, `loss` is not what it must be, `variables` holds something else
      than variables, or `transform` does not return a list of pairs of a gradient and one of the variables.
    ValueError: `variables` is empty or holds one twice, or there are gradients of None; the text names their variables.
    RuntimeError: inside of a function, before TensorFlow 1.8, or in eager mode before 1.5: there are no tapes.

  Example: (eager mode)
    >>> w = tf.Variable(1.)
    >>> loss = minimize(tf.keras.optimizers.SGD(0.1), lambda: w ** 2., [w], transform=transforms.clip_by_value(-0.5, 0.5))
    >>> print("%.2f %.2f" % (loss.numpy(), w.numpy()))
    1.00 0.95
  """
  api, who = loading.load(), "minimize"
  if not callable(getattr(optimizer, "apply_gradients", None)):
    raise errors.make(TypeError, None, "%s: the optimizer must have a method apply_gradients; got %s. Pass an optimizer of %s, or "
                      "of tf.keras.optimizers from TensorFlow 1.14 on." %
                      (who, errors.kind_of(optimizer), "tf.train" if api.v1 is api.tf else "tf.compat.v1.train"))
  variables = _variables(api, who, variables)
  transform = _transform(who, transform)
  in_plain_graph = api.in_plain_graph()
  if not callable(loss) and not (in_plain_graph and isinstance(loss, api.Tensor)):
    raise errors.make(TypeError, None, "%s: loss must be a function without arguments%s; got %s. Write `lambda: ...`." % (
        who, " or a tensor" if in_plain_graph else " outside of graphs", errors.kind_of(loss)))
  if not api.is_of_train(optimizer):
    _check_no_references(api, who, variables, "an optimizer of Keras changes resource variables only")
  api.build_optimizer(optimizer, variables)
  value, pairs, scale = _computed(api, who, optimizer, loss, variables)
  names = [checks.name_of(v) for v in variables]
  if not allow_unconnected or all(g is None for g, _ in pairs):
    _check_connected(who, [g for g, _ in pairs], names)
  pairs = [(g, v) for g, v in pairs if g is not None]
  condition = None
  if transform is not None:
    pairs = transform(pairs)
    condition = pairs.apply_if
    pairs = _checked(who, pairs, variables)
    if condition is not None and api.is_cond_a_function():
      _check_no_references(api, who, variables, "a step can be skipped only with resource variables where control flow is v2",
                           ", or call tf.compat.v1.disable_control_flow_v2()")
  if scale is not None:
    pairs = transforms.scale(scale)(pairs)
    if isinstance(scale, float):  # Keras divides by it with `/`, which IndexedSlices do not have
      pairs = [(api.convert_to_tensor(g), v) for g, v in pairs]
  if api.is_of_train(optimizer):
    pairs = [(g, api.watched(v)) for g, v in pairs]  # it does not know the variables of Keras 3
  step = api.apply_gradients(optimizer, pairs, condition)
  if in_plain_graph:
    return step
  if isinstance(step, api.tf.Operation):  # functions before 1.14 run only what their results depend on
    with api.tf.control_dependencies([step]):
      return api.identity(value)
  return value


def _takes_nothing(f):
  spec = compat.argspec(f)
  return spec is not None and not spec.names and not spec.varargs


def _variables(api, who, variables):
  if api.kind(variables) is leaves.VARIABLE:
    variables = [variables]
  if not isinstance(variables, (list, tuple)) or any(api.kind(v) is not leaves.VARIABLE for v in variables):
    raise errors.make(TypeError, None, "%s: variables must be a list of variables; got %s. Pass `model.trainable_variables`, "
                      "`tf.trainable_variables()` or [w]." % (who, errors.kind_of(variables)))
  variables = list(variables)
  if not variables:
    raise errors.make(ValueError, None, "%s: the list of variables is empty. Pass those that shall be changed." % who)
  twice = [v for i, v in enumerate(variables) if any(v is other for other in variables[:i])]
  if twice:
    raise errors.make(ValueError, None, "%s: %s is twice in the list of variables. Pass each once." %
                      (who, checks.name_of(twice[0])))
  return variables


def _check_no_references(api, who, variables, why, remedy=""):
  references = [checks.name_of(v) for v in variables if api.is_reference(v)]
  if references:
    raise errors.make(TypeError, None, "%s: %s; got the reference %s. Make them with use_resource=True%s." %
                      (who, why, ", ".join(references), remedy))


def _transform(who, transform):
  if transform is None:
    return None
  several = transform if isinstance(transform, (list, tuple)) else [transform]
  for i, function in enumerate(several):
    checks.function(who, "transform" if several is not transform else "transform[%d]" % i, function)
  return transforms.chain(*several)


def _checked(who, pairs, variables):
  """The pairs that a transform returned, if they can be applied."""
  strange = [v for _, v in pairs if not any(v is other for other in variables)]
  if strange:
    raise errors.make(TypeError, None, "%s: transform returned a gradient for %s, which is none of the variables. Return pairs "
                      "(gradient, variable) with the variables that it got." % (who, errors.kind_of(strange[0])))
  if not pairs:
    raise errors.make(ValueError, None, "%s: transform returned no pairs, so there is nothing to apply. Return at least one." % who)
  _check_connected(who, [g for g, _ in pairs], [checks.name_of(v) for _, v in pairs], "transform returned None as the gradient")
  return list(pairs)


def _check_connected(who, gradients, names, what="there is no gradient"):
  missing = [name for gradient, name in zip(gradients, names) if gradient is None]
  if missing:
    raise errors.make(ValueError, None, "%s: %s for %s: the value does not depend on it, or only through operations without a "
                      "gradient. Leave it out, or say allow_unconnected=True." % (who, what, ", ".join(missing)))


def _computed(api, who, optimizer, loss, variables):
  """The value of the loss, its gradients as pairs, and by what to multiply them before they are applied, or None."""
  values = []

  def compute():
    value = api.converted(loss)() if callable(loss) else loss
    _check_value(api, who, "loss", value)
    values.append(value)
    return value
  if api.has_compute_gradients(optimizer):  # wrapped optimizers do there what they are for
    _check_tape(api, who)
    pairs = optimizer.compute_gradients(compute() if api.in_plain_graph() else compute, var_list=[api.watched(v) for v in variables])
    return values[0], list(zip([g for g, _ in pairs], variables)), None
  scale = api.loss_scale(optimizer)
  _, gradients = _differentiate(api, who, lambda: api.scaled_loss(optimizer, compute()), variables)
  pairs = list(zip(api.unscaled_gradients(optimizer, gradients), variables))
  if scale is not None:
    pairs = transforms.scale(1. / scale)(pairs)
  return values[0], pairs, scale


def _differentiate(api, who, f, sources):
  """The value of `f()` and its gradients."""
  _check_tape(api, who)
  if api.in_plain_graph():
    value = f()
    _check_value(api, who, "f", value)
    return value, api.v1.gradients(value, [api.watched(s) for s in sources])
  with api.GradientTape() as tape:
    for source in sources:
      if isinstance(source, api.Tensor):
        tape.watch(source)
    value = f()
  _check_value(api, who, "f", value)
  return value, list(tape.gradient(value, [api.watched(s) for s in sources]))


def _check_value(api, who, name, value):
  if not isinstance(value, api.Tensor) or not api.is_differentiable(value.dtype):
    raise errors.make(TypeError, None, "%s: %s must return a tensor of floating or complex numbers; got %s. Return the tensor that "
                      "was computed, before any numpy()." % (who, name, errors.kind_of(value)))


def _check_tape(api, who):
  if api.lacks_tape():
    raise errors.make(RuntimeError, None, "%s: TensorFlow %s cannot take gradients %s. Call it in a graph%s." % (
        who, api.tf.__version__, "in eager mode" if api.executing_eagerly() else "inside of a function",
        "" if api.executing_eagerly() else " or in eager mode"))
