"""How TensorFlow runs all iterations of a loop as one, as each release has it."""

from __future__ import absolute_import, division, print_function


class ParallelLoops(object):
  """The part of `tensorflow_api.Api` that knows pfor, of which `tf.vectorized_map` and jacobians are made.

  It traces the body of a loop once, and then makes each operation again, on *stacked* inputs: those of all iterations
  in a new first dimension. An input that is the same in all iterations is not stacked. Of attributes that have to do
  with gradients the new operations know nothing.
  """

  def _probe_parallel_loops(self, private):
    self._pfor = private("ops.parallel_for.pfor")  # before 1.15 in jacobians only
    self._func_graph = private("framework.func_graph")

  def watch_parallel_loops(self, is_ours, convert, module):
    """Lets `convert(making)` make those operations again for which `is_ours(op)` or, in functions, `is_ours(node)` holds.

    pfor asks of each operation whether it is stateful, and makes one that is not only once if all of its inputs are
    the same in all iterations. Ours are made for each iteration: their gradients differ. It also asks the operation
    itself for its converter. `module` has these functions: it must live as long as they do, since Python 2 empties a module
    that nobody has imported any more, such as a copy of this package that was reloaded.
    """
    if self._pfor is None:
      return
    is_stateful = self._pfor._is_stateful_pfor_op

    def asked(op):
      if isinstance(op, self.tf.Operation):  # else a loop of old, which asks again for what is in it
        if is_ours(op):
          op.pfor_converter = convert
          return True
        if any(is_ours(node) for node in self.nodes_within(op)):
          return True
      return is_stateful(op)
    asked.module = module
    self._pfor._is_stateful_pfor_op = asked

  # ---- while operations are made again; `making` is what pfor gives to converters

  def made_by_pfor(self, making, attribute):
    """The outputs of an operation as pfor makes them where nobody is in its way, wrapped.

    `attribute` is the one that names the gradient; up to 2.5 or so an attribute that pfor does not know is an error.
    """
    value = self.attr_value(self.get_attr(making.op, attribute))
    making.op._clear_attr(attribute)  # 1.14
    try:
      return self._made_by_pfor(making)
    finally:
      self.set_attr(making.op, attribute, value)

  def _made_by_pfor(self, making):
    op = making.op
    if not op.op_def.is_stateful and not any(wrapped.is_stacked for wrapped in making.inputs):
      made = self._pfor._create_op(
          op.type, [wrapped.t for wrapped in making.inputs], [t.dtype for t in op.outputs], op.node_def.attr)
      return [self._pfor.wrap(t, False) for t in made.outputs]
    convert = self._pfor._pfor_converter_registry.get(op.type, self._pfor._fallback_converter)
    outputs = convert(making)
    return [outputs] if isinstance(outputs, self._pfor.WrappedTensor) else list(outputs)

  def as_stacked(self, tensor):
    return self._pfor.wrap(tensor, True)

  def as_the_same(self, tensor):
    """`tensor`, which is the same in all iterations."""
    return self._pfor.wrap(tensor, False)

  @staticmethod
  def stacked(loop, wrapped):
    """The tensor with the values of all iterations in its first dimension."""
    return loop._unwrap_or_tile(wrapped)

  @staticmethod
  def made_again(loop, tensor):
    """What `tensor`, in the body of `loop`, becomes, or has become; wrapped."""
    return loop._convert_helper(tensor)

  # ---- afterwards

  @staticmethod
  def depends_on_iteration(loop, tensor):
    """Whether `tensor`, in any graph, may be another one in each iteration of `loop`."""
    around, graph = [], loop.loop_var.graph
    while graph is not None:
      around.append(graph)
      graph = getattr(graph, "outer_graph", None)
    seen, todo = set(), [tensor]
    while todo:
      tensor = todo.pop()
      if id(tensor) in seen or not hasattr(tensor, "op"):
        continue
      seen.add(id(tensor))
      captured = dict((id(inner), outer) for outer, inner in _captures(tensor.graph))
      if id(tensor) in captured:
        todo.append(captured[id(tensor)])
      elif tensor is loop.loop_var or tensor.op.type == "Placeholder" and tensor.graph not in around:
        return True  # an argument of a function that is called in the loop
      else:
        todo.extend(tensor.op.inputs)
    return False

  def new_body(self, name):
    """A graph of its own, which captures the tensors that it takes from others."""
    return self._func_graph.FuncGraph(name)

  def again(self, loop, operations, known):
    """A loop like `loop`, which makes `operations` again for all iterations, in the current graph.

    `known` are pairs of a tensor and what stands for it, wrapped.
    """
    length = self.constant_value(loop.loop_len_vector)
    options = {}
    if hasattr(loop, "fallback_to_while_loop"):  # 2.2
      options["fallback_to_while_loop"] = loop.fallback_to_while_loop
    again = self._pfor.PFor(
        loop_var=loop.loop_var, loop_len=loop.loop_len_vector[0] if length is None else self.tf.constant(length[0]),
        pfor_ops=operations, all_indices=loop.all_indices, all_indices_partitioned=loop.all_indices_partitioned,
        pfor_config=loop._pfor_config, **options)
    again._conversion_map.update(known)
    return again

  @staticmethod
  def known(loop):
    """What stands for which tensor in `loop`."""
    return loop._conversion_map

  @staticmethod
  def captures(body):
    """Pairs of a tensor outside and the tensor in the graph `body` that stands for it."""
    return _captures(body)


def _captures(graph):
  return zip(getattr(graph, "external_captures", ()), getattr(graph, "internal_captures", ()))
