"""Decorate: the data's way through a call, from top to bottom.

bind (signature.py), flatten (inputs.py, nests.py), run `f` and see which variables it reads (variables.py), route
(routes.py, graphdata.py), pack (inputs.py). Where the gradient is built later, `calls.Call.backward` goes the other
way: upstream gradients, `in_grad`, check (gradients.py).
"""

from __future__ import absolute_import, division, print_function

import types

from . import calls
from . import compat
from . import errors
from . import functions
from . import graphdata
from . import inputs as inputs_
from . import keras_layers
from . import loading
from . import routes
from . import running
from . import variables as variables_


def custom_grad(f=None):
  """Decorates a function that returns its result and its own gradient function.

  Works as `tf.custom_gradient` does, and gives the same numbers on every TensorFlow from 0.12 on, in graphs, in eager
  mode and inside `tf.function`. `@custom_grad`, `@custom_grad()` and `custom_grad(f)` are the same.

  Args:
    f: a function `f(*args, **kwargs)` that returns `(result, in_grad)`. Its arguments may be nests of tensors,
      variables, sparse and ragged tensors, numpy arrays and anything else; `f` gets the first ones as tensors of
      unchanged shape and dtype and the rest untouched. `result` is a tensor or a nest of tensors and other values.
      `in_grad(*dys)` gets one dense tensor per tensor of `result`, of its shape and dtype (None for one that is not
      floating or complex), and returns one gradient per tensor among the arguments, in signature order: a tensor,
      `IndexedSlices`, numpy array or number of the argument's shape (or a broadcast of it, which is summed), or None.
      If `f` reads trainable variables that it does not take as arguments, `in_grad` must take a keyword `variables`,
      a list sorted by name, and return `(input_gradients, variable_gradients)`.

  Returns:
    A function with the signature of `f` that returns `result`.

  Raises:
    TypeError: `f` is not callable. The decorated function raises ImportError without TensorFlow; TypeError where
      arguments do not bind, `f` does not return `(result, in_grad)`, variables are not taken or a gradient is of a
      wrong kind; ValueError where gradients have a wrong number, structure or shape.

  Example:
    >>> import numpy as np
    >>> import tensorflow as tf
    >>> from tfgradcompat import custom_grad
    >>> @custom_grad
    ... def clip_gradient(x):
    ...   return x, lambda dy: tf.clip_by_value(dy, -0.1, 0.1)
    >>> def loss(x):
    ...   return tf.reduce_sum(clip_gradient(x))  # its gradient with respect to x is 0.1, not 1
  """
  if f is None:
    return custom_grad
  if isinstance(f, (staticmethod, classmethod)):
    return type(f)(custom_grad(f.__func__))
  if not callable(f):
    raise errors.make(TypeError, None, "custom_grad decorates a function; got %s. Write @custom_grad above a def, or "
                      "custom_grad(f) with a callable f." % errors.kind_of(f))
  function = functions.Function(f)
  graphdata.announce(function)

  return dress(caller(function), function, f)


def caller(function):
  """What calls a decorated function, of which only its `functions.Function` is given."""
  def decorated(*args, **kwargs):
    try:
      return _call(function, args, kwargs)
    except errors.TYPES as error:
      if not errors.is_ours(error):
        raise
      errors.reraise(error)
  return decorated


def dress(decorated, function, f):
  """Gives `decorated` the name, docs and signature of `f`; also on Python 2 and for objects without a name."""
  target = function.signature.target
  decorated.__name__ = function.name
  for attribute in ("__module__", "__doc__", "__qualname__", "__annotations__"):
    if hasattr(target, attribute):
      setattr(decorated, attribute, getattr(target, attribute))
  if isinstance(f, types.FunctionType):
    decorated.__dict__.update(f.__dict__)
  decorated.__wrapped__ = f
  setattr(decorated, functions.ATTRIBUTE, function)
  return functions.unconverted(decorated)  # the function itself is converted in running.py


def _call(function, args, kwargs):
  """The data's way."""
  api = loading.load()
  eager = api.executing_eagerly()
  args, kwargs = function.signature.bind(function, args, kwargs)
  if eager and not api.is_recording():
    return _unrecorded(api, function, args, kwargs)
  taken = inputs_.take(api, function, args, kwargs, eager)
  if taken is None:
    return keras_layers.call(api, function, args, kwargs)
  if eager or taken.graph is api.get_default_graph():
    return _make(api, function, taken, eager)
  with taken.graph.as_default():  # as TensorFlow's own operations do, the call goes to the graph of its inputs
    return _make(api, function, taken, eager)


def _make(api, function, taken, eager):
  """One call in the graph that is the default one now, or in eager mode."""
  if not eager:
    taken.newest_id = api.newest_id(taken.graph)
  with variables_.watch(api, taken.graph) as watcher:
    result, in_grad = running.run(api, function, taken.args, taken.kwargs)
    given = inputs_.Given(api, function, result, taken.graph)
  if not given.tensors:
    return result
  read = variables_.read_by_call(
      api, watcher.watched_variables(), given.tensors, taken)
  _check_variables(function, in_grad, read)
  if not eager and api.is_capturing(taken.graph):
    variables_.read_for_gradient(api, in_grad)
  tensors = taken.tensors + [api.read(v) for v in read] if read else taken.tensors
  call = calls.Call(api, function, taken, running.Gradient(api, function, in_grad), read, given.tensors, tensors)
  outputs = _carried(api, call, given.tensors, tensors, eager)
  call.give_out(outputs)
  return given.packed(outputs)


def _unrecorded(api, function, args, kwargs):
  """The same in eager mode while nobody can ask for a gradient: without all that is kept for it."""
  if kwargs or not inputs_.are_plain(api, args, None):
    taken = inputs_.take(api, function, args, kwargs, True)
    if taken is None:
      return keras_layers.call(api, function, args, kwargs)
    args, kwargs = taken.args, taken.kwargs
  with api.watch_variables() as watcher:
    result, in_grad = running.run(api, function, args, kwargs)
    given = None if api.is_plain(result, None) else inputs_.Given(api, function, result, None)
  if given is not None and not given.tensors:
    return result
  _check_variables(function, in_grad, watcher.watched_variables())
  # The identities keep apart what tf.custom_gradient would keep apart.
  return api.eager_identity(result) if given is None else given.packed([api.eager_identity(t) for t in given.tensors])


def _carried(api, call, outputs, inputs, eager):
  """`outputs`, of which the differentiable ones carry the gradient of `call` now; the others have none to carry."""
  differentiable = [i for i, t in enumerate(outputs) if api.is_differentiable(t.dtype)]
  if len(differentiable) == len(outputs):
    return routes.carry(api, call, outputs, inputs, eager)
  carried = list(outputs)
  if differentiable:
    for i, tensor in zip(differentiable, routes.carry(api, call, [outputs[i] for i in differentiable], inputs, eager)):
      carried[i] = tensor
  return carried


def _check_variables(function, in_grad, read):
  """Raises TypeError where the gradient function does not take the variables that the call `read`."""
  if not read or compat.accepts_keyword(in_grad, "variables"):
    return
  names = ", ".join("'%s'" % name for name in sorted(v.name for v in read))
  raise errors.make(
      TypeError, function, "reads the variable%s %s without taking %s as %s, and its gradient function takes no "
      "`variables`, so %s would get no gradient. Pass %s as arguments, or let the gradient function take "
      "`variables=None` and return (input_grads, variable_grads)." %
      (("s", names, "them", "arguments", "they", "them") if len(read) > 1 else
       ("", names, "it", "an argument", "it", "it")))


