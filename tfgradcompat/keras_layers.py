"""Decorated functions in Keras: on the symbolic tensors of its functional API, and as layers that can be saved.

A Keras model runs its layers again on other tensors: in `fit`, in a copy of the model, after loading it. So a call on
symbolic tensors becomes a layer, in which the function is called as anywhere else.
"""

from __future__ import absolute_import, division, print_function

import itertools

from . import errors
from . import functions
from . import imported
from . import leaves
from . import loading
from . import nests
from . import variables as variables_

class _Slot(object):
  """Stands for an input among arguments, and for a tensor in a result."""


_SLOT = _Slot()


@functions.unconverted
def keras_layer(f, **options):
  """A Keras layer that calls a decorated function.

  `tf.keras.layers.Lambda` does the same, but cannot always be loaded again. This layer is saved as the name of its
  function; `custom_objects` says how it is loaded. It has no weights: a function that reads variables belongs into the
  `call` method of a layer that owns them.

  Args:
    f: a function decorated with `custom_grad`, or a ready-made one. To be saved, it must stand at the top of a module.
    **options: further arguments of `f` by keyword: numbers, strings, None, and nests of them. `name` and `dtype` are
      those of the layer.

  Returns:
    A layer of `tf.keras`. Called on a tensor it gives `f(x, **options)`, on a list or tuple `f(*inputs, **options)`.

  Raises:
    TypeError: `f` is not decorated; or, when the layer is called and eager mode is on, `f` reads trainable variables.
    RuntimeError: this TensorFlow's Keras is too old (before 1.13).

  Example:
    >>> inputs = tf.keras.Input([3])  # the names of today (TensorFlow 2)
    >>> hidden = tf.keras.layers.Dense(2)(inputs)
    >>> outputs = keras_layer(clip_gradient_by_value, lo=-1., hi=1.)(hidden)
    >>> model = tf.keras.Model(inputs, outputs)
    >>> len(model.trainable_weights)
    2
  """
  api = loading.load()
  function = functions.of(f)
  if function is None:
    raise errors.make(TypeError, None, "keras_layer: f must be a function decorated with custom_grad; got %s. Decorate it." %
                      errors.kind_of(f))
  of_layer = dict((name, options.pop(name)) for name in ("name", "dtype") if name in options)
  return _layer_type(api, api.keras())(_Call(function, None, options), **of_layer)


@functions.unconverted
def custom_objects(keras=None):
  """What a loader of Keras models needs to know of this package.

  The module that decorates must have been imported; else loading is a LookupError that names the function.

  Args:
    keras: the Keras that loads; by default `tf.keras`.

  Returns:
    A dict for `tf.keras.models.load_model(path, custom_objects=...)` and its like.

  Raises:
    RuntimeError: this TensorFlow has no Keras (before 1.13).

  Example:
    >>> list(custom_objects())  # the Keras of today (TensorFlow 2)
    ['CustomGradLayer']
  """
  api = loading.load()
  return {"CustomGradLayer": _layer_type(api, keras or api.keras())}


def are_symbolic(api, arguments):
  """Whether there are symbolic Keras tensors in a nest."""
  found = []
  nests.rebuild(arguments, lambda leaf: found.append(leaf) if api.is_symbolic_keras(leaf) else None)
  return bool(found)


def call(api, function, args, kwargs, run=None):
  """The call of `function` with symbolic Keras tensors among its arguments: the symbolic result of a layer.

  `run` is what the layer calls, if it is not the function as it is decorated; it cannot be saved.
  """
  symbolic = []

  def leaf(leaf):
    if not api.is_symbolic_keras(leaf):
      if api.kind(leaf) is leaves.VARIABLE:
        _refuse_variables(api, function, [leaf])
      return leaf
    symbolic.append(leaf)
    return _SLOT
  template = nests.rebuild([list(args), dict(kwargs)], leaf)
  made = _Call(function, template, {}, run)
  outputs = _layer_type(api, api.keras(symbolic[0]))(made)(symbolic)
  return made.pack(outputs if isinstance(outputs, (list, tuple)) else [outputs])


def _refuse_variables(api, function, variables):
  names = ", ".join("'%s'" % v.name for v in variables if getattr(v, "trainable", True))
  if names and api.is_eager_outside():
    raise errors.make(
        TypeError, function, "is called on symbolic Keras tensors and uses the variables %s, which the model would not "
        "train, since no layer owns them. Call it in the `call` method of a layer that makes them with `add_weight`." % names)


class _Call(object):
  """What a layer calls: a function and its arguments but the inputs.

  In an object of our own, since Keras looks into the lists and dicts that are attributes of a layer.
  """

  def __init__(self, function, template, options, run=None):
    """`template`: `[args, kwargs]` with slots for the inputs, or None where a user called the layer."""
    self.function, self._template, self._options, self._run = function, template, options, run
    self._outline = None

  def __call__(self, api, inputs):
    from . import decorator  # which needs this module
    call = self._run or decorator.caller(self.function)
    inputs = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    before, api.calling_layer.yes = getattr(api.calling_layer, "yes", False), True
    try:
      with variables_.watch(api, None) as watcher:
        if self._template is None:
          result = call(*inputs, **self._options)
        else:
          args, kwargs = _filled(self._template, inputs)
          result = self._flat(api, call(*args, **kwargs))
    finally:
      api.calling_layer.yes = before
    _refuse_variables(api, self.function, watcher.watched_variables())
    return result

  def _flat(self, api, result):
    """The tensors of a result, since Keras wants nothing else from a layer."""
    found = []

    def leaf(leaf):
      if api.kind(leaf) is leaves.OTHER:
        return leaf
      found.append(leaf)
      return _SLOT
    self._outline = nests.rebuild(result, leaf)
    return found if len(found) > 1 else found[0]

  def pack(self, tensors):
    """The result with other tensors, of a call on symbolic tensors."""
    return _filled(self._outline, tensors)

  def config(self, api):
    """The same in JSON.

    Raises:
      NotImplementedError, as by all layers that cannot be saved: the function cannot be found again, or an argument is
        nothing that JSON keeps.
    """
    if self._run or not self.function.can_be_found:
      self._fail("cannot be found by its name, as what is defined within a function, by a lambda or by a call. Define it at the "
                 "top of a module, with a decorator")

    def lost(kind):
      self._fail("has an argument of type %s. Only numbers, strings, None, and lists, tuples and dicts of them can be "
                 "saved; pass a tensor through an Input" % kind)
    noted = [imported.noted(api, value, lambda leaf: leaf is _SLOT, lost) for value in (self._template, self._options)]
    return {"function": self.function.qualified_name + self.function.suffix, "template": noted[0], "options": noted[1]}

  def _fail(self, what):
    raise errors.make(NotImplementedError, self.function, "the layer that calls it cannot be saved, since it %s." % what)

  @classmethod
  def from_config(cls, api, config):
    name = config["function"]
    function = imported.function_named(name)
    if function is None:
      raise errors.make(
          LookupError, None, "the Keras model has a layer with the custom gradient of '%s', which is not known in this "
          "process. Import the module that decorates it before the model is loaded." % name)
    template, options = [imported.restored(api, config[key], itertools.repeat(_SLOT)) for key in ("template", "options")]
    return cls(function, template, options)


@functions.unconverted
def _run(made, api, inputs):
  """1.14 lets AutoGraph convert the `call` of each layer, whatever it says of itself."""
  return made(api, inputs)


def _filled(template, values):
  values = iter(values)
  return nests.rebuild(template, lambda leaf: next(values) if leaf is _SLOT else leaf)


def _layer_type(api, keras):
  """The class of these layers for one of the Kerases that a process may have."""
  base = keras.layers.Layer
  if base not in api.keras_layer_types:
    api.keras_layer_types[base] = _make_layer_type(api, base)
  return api.keras_layer_types[base]


def _make_layer_type(api, base):

  class CustomGradLayer(base):

    def __init__(self, made, **options):
      super(CustomGradLayer, self).__init__(**options)
      # The function gets what it would get outside of a layer: Keras 2 reads the first, Keras 3 the second.
      self._autocast = self.autocast = False
      self.made = made

    def call(self, inputs):
      return _run(self.made, api, inputs)

    def get_config(self):
      return dict(super(CustomGradLayer, self).get_config(), **self.made.config(api))

    @classmethod
    def from_config(cls, config):
      config = dict(config)
      made = _Call.from_config(api, dict((key, config.pop(key)) for key in ("function", "template", "options")))
      return cls(made, **config)

  return CustomGradLayer
