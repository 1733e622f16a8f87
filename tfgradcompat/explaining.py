"""Explains which gradients arrive, and which do not: "my custom gradient has no effect"."""

from __future__ import absolute_import, division, print_function

import collections

from . import errors
from . import functions
from . import gradient_ways
from . import graphdata
from . import leaves
from . import loading
from . import nests
from . import routes


class Way(collections.namedtuple("Way", "x arrives custom_gradients stops text")):
  """What `explain` says about one of the xs.

  Attributes:
    x: it.
    arrives: whether a gradient arrives; None where that cannot be told.
    custom_gradients: the custom gradients that it meets, in words, those nearest to the ys first.
    stops: what stops it on its ways, in words; on some of them, if one arrives.
    text: all this in words.
  """

  __slots__ = ()


class Explanation(collections.namedtuple("Explanation", "ways")):
  """What `explain` says: `ways` has a `Way` for each of the xs. As a string, all in words."""

  __slots__ = ()

  def __str__(self):
    return "\n".join(way.text for way in self.ways)

  __repr__ = __str__


@functions.unconverted
def explain(ys, xs):
  """Says which custom gradients are on the way from `ys` to `xs`, and where a gradient is stopped.

  For a custom gradient that seems to have no effect, and for a gradient that is None. It looks at the operations of the
  graph of `ys`, adds none, and calls no gradient function: a custom one that returns None is not seen. In eager mode no
  operations are kept. There it says, within the `with` block of a tape, what can be told; call it in a `tf.function` for
  the rest.

  Args:
    ys: the tensors that are differentiated, of one graph or of eager mode: a tensor, or a nest of tensors.
    xs: what they are differentiated with respect to: a tensor or a variable, or a nest of these.

  Returns:
    An `Explanation`, to be printed. Its `ways` hold, for each of the xs, `arrives` (None where that cannot be told),
    `custom_gradients` and `stops`, lists of words.

  Raises:
    ImportError: TensorFlow is not installed.
    TypeError: something among `ys` is no tensor.
    ValueError: there are no `ys`, or they belong to different graphs.

  Example:
    >>> import tensorflow as tf
    >>> from tfgradcompat import explain, scale_gradient
    >>> with tf.Graph().as_default():
    ...   x = tf.constant(2., name="x")
    ...   print(explain(tf.stop_gradient(scale_gradient(x, 5.), name="cut"), x))
    x:0: no gradient arrives from cut:0. On the way it is stopped by
      tf.stop_gradient, operation 'cut'
  """
  api = loading.load()
  ys, xs = _flat(ys), _flat(xs)
  wrong = [y for y in ys if api.kind(y) is not leaves.TENSOR]
  if wrong:
    raise errors.make(TypeError, None, "explain: ys must be tensors; got %s." % errors.kind_of(wrong[0]))
  graphs = _graphs(api, ys)
  if len(graphs) != 1:
    raise errors.make(ValueError, None, "explain: ys must be tensors of one graph, or of eager mode; got %s." % (
        "tensors of %d of them" % len(graphs) if graphs else "none"))
  graph, names = graphs[0], ", ".join(_named(api, y) for y in ys)
  if graph is None:
    return Explanation([_in_eager_mode(api, ys, x) for x in xs])
  ways = gradient_ways.Ways(api, ys)
  return Explanation([_in_graph(api, graph, ways, names, x) for x in xs])


def _flat(nest):
  found = []
  nests.rebuild(nest, found.append)
  return found


def _graphs(api, tensors):
  """The graphs of some tensors, once each; None for eager mode."""
  found = []
  for tensor in tensors:
    graph = None if isinstance(tensor, api.EagerTensor) else tensor.graph
    if not any(graph is other for other in found):
      found.append(graph)
  return found


def _named(api, value):
  """How a tensor or a variable is called in a text."""
  if isinstance(value, api.EagerTensor):
    return "an eager tensor of %s with shape %s" % (value.dtype.base_dtype.name, api.shape(value))
  if hasattr(value, "name"):
    return str(value.name)
  return errors.kind_of(value)  # not of a variable, which tapes would watch then, since it is read for that


# ---- in graphs

def _in_graph(api, graph, ways, names, x):
  """The `Way` from the ys of `ways`, which are called `names`, to `x`."""
  name, tensors = _named(api, x), api.tensors_of(x)
  stop = _no_number(api, name, tensors, x)
  if stop:
    return _no(x, stop)
  here = [t if not isinstance(t, api.EagerTensor) and t.graph is graph else api.captured(graph, t) for t in tensors]
  if all(tensor is None for tensor in here):
    return _no(x, "%s: no gradient arrives from %s, which belongs to another graph%s." % (
        name, names, " and takes nothing from it" if api.is_capturing(graph) else ". Build both in one graph"))
  found = [ways.to(tensor.name) for tensor in here if tensor is not None]
  found = [one for one in found if one is not None]
  if not found:
    return _no(x, "%s: no gradient arrives from %s, which is not computed from it.%s" % (
        name, names, _elsewhere(graph)))
  arrives = any(one.arrives for one in found)
  customs = [text for one in found for text in one.customs]
  stops = [text for one in found for text in one.stops]
  if not arrives:
    return Way(x, False, [], stops, "%s: no gradient arrives from %s. On the way it is stopped by%s" % (
        name, names, _listed(stops)))
  text = "%s: a gradient arrives from %s" % (name, names)
  if customs:
    text += " (route %s). On the way it meets%s" % (routes.route(), _listed(customs))
  else:
    text += ". It meets no custom gradient on the way.%s" % _elsewhere(graph)
  if stops:
    text += "\n  Other ways are stopped by%s" % _listed(stops)
  return Way(x, True, customs, stops, text)


def _no(x, text):
  return Way(x, False, [], [], text)


def _listed(texts):
  return "".join("\n  " + text for text in texts)


def _elsewhere(graph):
  """The decorated functions that are called in a graph, for a text that says that they are not on the way."""
  names = sorted(set(call.describe() for call in graphdata.of(graph).calls.values()))
  if not names:
    return ""
  return " Called in its graph, but not on the way: %s%s" % (", ".join(names[:9]), ", ..." if names[9:] else ".")


# ---- in eager mode

def _in_eager_mode(api, ys, x):
  """The `Way` to `x` as far as the tapes that are open know it."""
  name, tensors = _named(api, x), api.tensors_of(x)
  stop = _no_number(api, name, tensors, x)
  if stop:
    return _no(x, stop)
  if not all(isinstance(tensor, api.EagerTensor) for tensor in tensors):
    return _no(x, "%s: it belongs to a graph, and ys to eager mode." % name)
  if all(not api.is_differentiable(y.dtype) for y in ys):
    return _no(x, "%s: no gradient arrives, for ys is of %s, and only floating and complex numbers have gradients." % (
        name, ys[0].dtype.base_dtype.name))
  if not api.is_recording():
    return Way(x, None, [], [], "%s: eager mode keeps no operations, and no tape is open here. Call explain within the "
               "`with` block of the tape, or in a tf.function." % name)
  if not api.is_watched(tensors):
    return _no(x, "%s: no gradient arrives, for no open tape watches it. Call tape.watch(x) before it is used; a variable is "
               "watched from its first use on, if it is trainable." % name)
  if not api.is_watched(ys):
    return _no(x, "%s: no gradient arrives, for ys depends on nothing that an open tape watches. It was computed before the "
               "tape was opened or x was watched, from other values, through numpy or integers, tf.stop_gradient, or by a "
               "decorated function that takes x from its closure. Called in a tf.function, explain says which." % name)
  return Way(x, None, [], [], "%s: it is watched, and ys depends on something that is. Whether on this, and through which "
             "custom gradients, eager mode does not keep: call explain in a tf.function." % name)


def _no_number(api, name, tensors, x):
  """Why `x`, with its `tensors`, can have no gradient anywhere, or None."""
  if not tensors:
    return "%s: it is no tensor and no variable." % name
  dtype = api.tf.as_dtype(x.dtype).base_dtype
  if not api.is_differentiable(dtype):
    return "%s: it is of %s, and only floating and complex numbers have gradients." % (name, dtype.name)
  return None
