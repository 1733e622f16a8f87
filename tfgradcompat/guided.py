"""Guided backpropagation: what each rectifier lets back through is positive."""

from __future__ import absolute_import, division, print_function

from . import errors
from . import functions
from . import loading
from . import overriding
from .decorator import custom_grad

#: The types of operations that are rectifiers, of which a release has some.
OPERATIONS = ("Relu", "Relu6", "LeakyRelu", "Elu", "Selu")

# The functions, and the layers of Keras that compute without one.
_ACTIVATIONS = ("relu", "relu6", "leaky_relu", "elu", "selu", "crelu")
_LAYERS = ("ReLU", "LeakyReLU", "PReLU", "ELU", "ThresholdedReLU")


@functions.unconverted
def guided_backprop(model=None):
  """A context in which rectifiers hand back only what is positive of their upstream gradient.

  Springenberg, Dosovitskiy, Brox and Riedmiller, "Striving for Simplicity: The All Convolutional Net" (2015), section
  3.4: the gradient of a rectifier is its own, at an upstream gradient whose negative elements are 0. So for relu it is
  `dy` where both `dy` and the input are positive, and 0 elsewhere.

  Args:
    model: None, in a graph or `tf.function`: rectifiers that are made inside of the block are guided (the operations
      Relu, Relu6, LeakyRelu, Elu and Selu), as with `override_gradient`. Or a Keras model or layer that has been built
      already, in any mode: its activations relu, relu6, leaky_relu, elu, selu and crelu and its layers ReLU,
      LeakyReLU, PReLU, ELU and ThresholdedReLU are guided where it is called in the block. A `tf.function` that was
      traced before stays as it is.

  Returns:
    A context manager, for one `with`.

  Raises:
    TypeError: `model` has no layers.
    ValueError: it has no rectifier; or, at the end of a block without a model, none was made.
    RuntimeError: as for `override_gradient`.

  Example:
    >>> @tf.function(autograph=False)
    ... def guided(x):
    ...   with guided_backprop():
    ...     return tf.nn.relu(x)
    >>> x = tf.constant([1., -1., 2.])  # the function is called from here (eager mode)
    >>> with tf.GradientTape() as tape:
    ...   tape.watch(x)
    ...   loss = tf.reduce_sum(guided(x) * [1., 1., -1.])
    >>> loss.numpy().item(), (tape.gradient(loss, x) + 0.).numpy().tolist()
    (-1.0, [1.0, 0.0, 0.0])
  """
  api = loading.load()
  return _Operations(api) if model is None else _Model(api, model)


class _Operations(overriding.override_gradient):

  _all_needed = False
  _name = "guided_backprop"

  def __init__(self, api):
    overriding.override_gradient.__init__(self, dict((t, _guided) for t in OPERATIONS if api.op_def(t) is not None))


@functions.unconverted
def _guided(op, dy):
  api = loading.load()
  # Up to 0.12 operations do not broadcast where one of them is empty: no scalar here.
  return api.registry[op.type]["type"](op, api.tf.maximum(dy, api.tf.zeros_like(dy)))


@custom_grad
def _positive_gradient(y):
  """y, with what is positive of its gradient."""
  api = loading.load()
  return y, lambda dy: api.tf.maximum(dy, api.tf.zeros_like(dy))


class _Model(object):
  """The rectifiers of a model, which are guided within a `with`."""

  autograph_info__ = None

  def __init__(self, api, model):
    self._api = api
    self._found = _rectifiers(model)
    self._kept = []

  def __enter__(self):
    for layer, attribute in self._found:
      self._kept.append((layer, attribute, attribute in vars(layer), getattr(layer, attribute)))
      setattr(layer, attribute, _guiding(self._api, getattr(layer, attribute)))
    return self

  def __exit__(self, *error):
    while self._kept:
      layer, attribute, was_there, value = self._kept.pop()
      if was_there:
        setattr(layer, attribute, value)
      else:  # the method of a class
        delattr(layer, attribute)
    return False


def _guiding(api, f):
  def guided(*args, **kwargs):
    return _positive_gradient(api.converted(f)(*args, **kwargs))
  return functions.unconverted(guided)


def _rectifiers(model):
  """`(layer, attribute)` for what computes a rectifier in a model."""
  if not hasattr(model, "call") and not hasattr(model, "layers"):
    raise errors.make(TypeError, None, "guided_backprop: expected a Keras model or layer, or nothing; got %s. For "
                      "operations, put what makes them inside the block." % errors.kind_of(model))
  found, seen, todo = [], set(), [model]
  while todo:
    layer = todo.pop()
    if id(layer) in seen:
      continue
    seen.add(id(layer))
    if getattr(getattr(layer, "activation", None), "__name__", None) in _ACTIVATIONS:
      found.append((layer, "activation"))
    elif type(layer).__name__ in _LAYERS:
      found.append((layer, "call"))
    todo.extend(_within(layer))
  if not found:
    raise errors.make(ValueError, None, "guided_backprop: the model %s has no rectifier among its layers. Known are "
                      "the activations %s and the layers %s." % (
                          getattr(model, "name", model), ", ".join(_ACTIVATIONS), ", ".join(_LAYERS)))
  return found


def _within(layer):
  """The layers in a model or layer, wherever it keeps them."""
  found = list(getattr(layer, "layers", None) or ()) + list(getattr(layer, "_layers", None) or ())
  for value in list(vars(layer).values()):
    for one in value if isinstance(value, (list, tuple)) else [value]:
      if hasattr(one, "call") and hasattr(one, "get_config"):
        found.append(one)
  return [one for one in found if hasattr(one, "call")]
