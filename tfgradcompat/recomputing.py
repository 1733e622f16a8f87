"""Recompute: a function that keeps no intermediate values for the backward pass, and is run again there instead."""

from __future__ import absolute_import, division, print_function

import itertools

from . import compat
from . import decorator
from . import errors
from . import functions
from . import inputs as inputs_
from . import leaves
from . import loading
from . import nests
from . import variables as variables_

_ASSIGN_FIRST = ("Assign", "ResourceScatter")
_SCATTER = frozenset(
    first + last for first in ("Scatter", "ScatterNd") for last in ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max"))


@functions.unconverted
def recompute(f, seed=None):
  """The function f, which takes less memory in training: it is run again in the backward pass.

  Chen, Xu, Zhang and Guestrin, "Training Deep Nets with Sublinear Memory Cost" (2016). Of a call only the arguments
  are kept, and what lies between them and the result is computed anew when its gradient is needed. It costs a second
  forward pass.

  Values and derivatives, of any order, are those of `f`. Its arguments, and trainable variables that it reads or makes
  (in graphs, with `tf.get_variable`), get their gradients; a tensor that it takes from its closure gets none, so pass
  it as an argument. Whatever else `f` does, it does twice.

  Args:
    f: a function of any arguments and result, among them nests of tensors, for example a layer or a group of layers.
      Use about as many groups as each has layers.
    seed: None, or an integer; then `f` is also given `seed=` a tensor of two int64 numbers, other ones each time, but
      the same ones in the backward pass. Draw from it with `tf.random.stateless_uniform` and the like: a dropout mask
      is the same then.

  Returns:
    A function with the signature of `f`.

  Raises:
    TypeError: `f` is not callable, or `seed` is no integer or not taken by `f`.
    RuntimeError: at the call, if its gradient can be asked for, and when the gradient is built: `f` draws random
      numbers with operations that would draw others in the backward pass, changes integer variables (counters and the
      states of random generators), or makes or reads other variables in the second run.

  Example:
    >>> def layer(x):
    ...   return tf.square(tf.sin(x))
    >>> def loss(x):
    ...   return tf.reduce_sum(recompute(layer)(x))
    >>> # loss([0., 0.]) is 0. with the gradient [0., 0.]
  """
  if not callable(f):
    raise errors.make(TypeError, None, "recompute takes a function; got %s." % errors.kind_of(f))
  if seed is not None and (isinstance(seed, bool) or not isinstance(seed, compat.integer_types)):
    raise errors.make(TypeError, None, "recompute: seed must be an integer or None; got %s." % errors.kind_of(seed))
  function = functions.Function(f)
  if seed is not None and not compat.accepts_keyword(f, "seed"):
    raise errors.make(TypeError, function, "recompute was given a seed, but the function takes no `seed`. Let it take "
                      "`seed`, and draw random numbers from it with stateless operations.")
  shown = functions.Function(_run).shown_as(f)
  counter = itertools.count()

  def recomputed(*args, **kwargs):
    api = loading.load()
    if seed is not None:
      if "seed" in kwargs:
        raise errors.make(TypeError, function, "`seed` is given to it by recompute. Leave it out of the call.")
      kwargs["seed"] = _drawn(api, seed, counter, (args, kwargs))
    args, kwargs = function.signature.bind(function, args, kwargs)
    names = function.signature.ordered(kwargs)
    segment = _Segment(api, function, names)
    return decorator.caller(shown)(segment, list(args), [kwargs[name] for name in names])
  return decorator.dress(recomputed, function, f)


def _drawn(api, seed, counter, arguments):
  """Two random integers, a tensor, for one call."""
  if not api.executing_eagerly():
    seed += 1000003 * next(counter)  # calls in one graph shall differ; in eager mode the numbers run on
  with inputs_.graph_of(api, arguments):
    return api.v1.random_uniform([2], maxval=2 ** 31 - 1, dtype=api.tf.int64, seed=seed % (2 ** 31 - 1))


class _Segment(object):
  """The user's function, and how it is called."""

  def __init__(self, api, function, names):
    self.api, self.function, self.names = api, function, names
    self._f = api.converted(function.signature.target)

  def __call__(self, args, values):
    return self._f(*args, **dict(zip(self.names, values)))

  def check(self, op_type, is_integer):
    """Raises RuntimeError where an operation makes the second run another one than the first."""
    if self.api.is_random(op_type):
      raise errors.make(
          RuntimeError, self.function, "draws random numbers (%s), which would be others when it is run again in the "
          "backward pass. Write recompute(f, seed=1) and draw from the `seed` that f then gets, with "
          "tf.random.stateless_uniform and the like; or draw outside and pass the numbers as an argument." % op_type)
    if is_integer and _is_assignment(op_type):
      raise errors.make(
          RuntimeError, self.function, "changes an integer variable (%s), such as the state of a random generator or a "
          "counter, and would change it twice, since recompute runs it again in the backward pass. Change it "
          "outside." % op_type)

  def check_made(self, graph, newest_id, results):
    """The same for the operations made in `graph` since; random ones only where `results` come from them.

    Others are the initial values of variables.
    """
    api = self.api
    for op in api.ops_since(graph, newest_id):
      if _is_assignment(op.type) and not variables_.is_made_here(op.inputs[0].op, newest_id):
        values = [t for t in op.inputs if t.dtype.base_dtype not in api._opaque]
        self.check(op.type, bool(values) and values[-1].dtype.base_dtype.is_integer)
    for op in variables_.made_for(results, newest_id):
      self.check(op.type, False)
      for node in api.nodes_within(op):
        self.check_node(node)

  def check_node(self, node):
    # Asking for an attribute that is not there would make it.
    kind = next((node.attr[name].type for name in ("dtype", "T") if name in node.attr), None)
    self.check(node.op, bool(kind) and self.api.tf.as_dtype(kind).is_integer)

  def check_executed(self, op_type, attributes):
    """The same for an operation that eager mode has run."""
    kind = attributes.get("dtype") or attributes.get("T")
    self.check(op_type, bool(kind) and self.api.tf.as_dtype(kind).is_integer)
    if self.api.op_def(op_type) is None:  # a function
      for node in self.api.nodes_of([op_type]):
        self.check_node(node)


def _run(segment, args, values):
  """The function that is decorated."""
  api = segment.api
  graph = None if api.executing_eagerly() else api.get_default_graph()
  names = None if graph is None else api.names_of_variables()
  result = _forward(api, segment, graph, args, values)
  tensors = _tensors(api, (args, values))

  def in_grad(*dys, **taken):
    variables = taken.get("variables") or []
    back = _Backward(api, segment, args, values, names)
    found = back.gradients(tensors, variables, dys)
    return (found[:len(tensors)], found[len(tensors):]) if variables else found
  return result, in_grad


def _tensors(api, nest):
  """The tensors in a nest, and those in the composite tensors in it."""
  found = []

  def leaf(leaf):
    kind = api.kind(leaf)
    if kind not in (leaves.OTHER, leaves.ARRAY, leaves.VARIABLE):
      found.append(leaf if kind is leaves.TENSOR else api.values_of(leaf, kind))
    return leaf
  nests.rebuild(nest, leaf)
  return found


def _forward(api, segment, graph, args, values):
  """Runs the function the first time; in eager mode no tape keeps what it computes."""
  if graph is not None:
    newest_id = api.newest_id(graph)
    result = segment(args, values)
    segment.check_made(graph, newest_id, _tensors(api, result))
    return result
  if not api.is_recording():
    return segment(args, values)
  end = api.watch_executed(segment.check_executed)
  try:
    if not api.can_run_unrecorded:
      return segment(args, values)
    with api.stop_recording():
      return segment(args, values)
  finally:
    end()


class _Backward(object):
  """The second run, and its gradients."""

  def __init__(self, api, segment, args, values, names):
    self._api, self._segment, self._names = api, segment, names
    self._arguments = args, values

  def gradients(self, tensors, variables, dys):
    """One gradient, or None, for each of `tensors`, the tensors among the arguments, and of `variables`."""
    api = self._api
    dys = [dy for dy in dys if dy is not None]
    places = [i for i, t in enumerate(tensors) if api.is_differentiable(t.dtype)]
    if api.executing_eagerly():
      again = [api.identity(t) for t in tensors]
      found = self._by_tape(again, places, variables, dys, None)
    else:
      graph = api.get_default_graph()
      again = api.after(dys, tensors)
      with api.tf.control_dependencies(dys):
        if api.is_capturing(graph) and (
            api.has_good_tape_in_functions or variables and api.has_tape_in_functions):
          found = self._by_tape(again, places, variables, dys, graph)
        else:
          found = self._by_graph(again, places, variables, dys, graph)
    gradients = [None] * len(tensors) + list(found[len(places):])
    for i, gradient in zip(places, found):
      gradients[i] = gradient
    return gradients

  def _by_tape(self, again, places, variables, dys, graph):
    api = self._api
    sources = [again[i] for i in places]
    with api.new_tape() as tape:
      for tensor in sources:
        tape.watch(tensor)
      target = api.tape_target(self._results(again, graph), dys)
    seen = set(id(v) for v in api.watched_by(tape))
    other = [v.name for v in variables if id(v) not in seen]
    if other:
      raise errors.make(RuntimeError, self._segment.function, "read the variable%s %s when it was called, and not when "
                        "it was run again for the gradient: recompute needs a function that does the same each time. "
                        "Make variables outside." %
                        ("" if len(other) == 1 else "s", ", ".join("'%s'" % n for n in other)))
    return api.tape_gradients(tape, target, sources + variables)

  def _by_graph(self, again, places, variables, dys, graph):
    api = self._api
    newest_id = api.newest_id(graph)
    count = len(graph.get_collection_ref(api.v1.GraphKeys.GLOBAL_VARIABLES))
    with api.same_variables(self._names):
      results = self._results(again, graph)
    if len(graph.get_collection_ref(api.v1.GraphKeys.GLOBAL_VARIABLES)) != count:
      raise errors.make(RuntimeError, self._segment.function, "makes a variable each time it is run, and recompute "
                        "runs it twice. Make it outside, or with tf.get_variable, which finds it the second time.")
    sources = [again[i] for i in places]
    # What was there before is no way to the variables: it is an argument, or comes from the closure.
    stop = sources + [t for t in variables_.before(results, newest_id, again) if api.is_differentiable(t.dtype)]
    return api.gradients(results, sources + variables, dys, stop)

  def _results(self, again, graph):
    """Runs the function; its results that have a gradient."""
    api = self._api
    following = iter(again)

    def leaf(leaf):
      kind = api.kind(leaf)
      if kind is leaves.OTHER:
        return leaf
      return next(following) if kind is leaves.TENSOR else api.with_values(leaf, kind, next(following))
    args, values = nests.rebuild(self._arguments, leaf)
    given = inputs_.Given(api, self._segment.function, self._segment(args, values), graph)
    return [t for t in given.tensors if api.is_differentiable(t.dtype)]


def _is_assignment(op_type):
  return op_type.startswith(_ASSIGN_FIRST) or op_type in _SCATTER
