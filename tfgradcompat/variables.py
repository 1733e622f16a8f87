"""Which variables a function read without taking them as arguments.

Resource variables tell the tapes when they are read, in every mode. Ref variables tell nobody, and in graphs before
1.5 there are no tapes: there the operations that the call has made are walked from its results back to its inputs.
The walk stops at whatever was there before the call, so it costs what the function itself costs, in any graph, and the
variables behind a captured tensor are not taken for the function's own.
"""

from __future__ import absolute_import, division, print_function

from . import compat
from . import graphdata
from . import leaves
from . import tapes

_REF = ("Variable", "VariableV2")
_RESOURCE = ("VarHandleOp",)


def watch(api, graph):
  """A context that is told of the resource variables that are read in it, where that is needed and possible."""
  if api.has_watcher or graph is None or api.is_capturing(graph):
    return api.watch_variables()
  return tapes.NoWatcher()


def read_for_gradient(api, in_grad):
  """Reads, in a function that is being built, the variables in the closure of its gradient function.

  Up to 1.14 the backward pass of a function can read only the variables that its forward pass has read.
  """
  if api.backward_captures:
    return
  for content in compat.closure(in_grad):
    if api.kind(content) is leaves.VARIABLE:
      api.read(content)


def read_by_call(api, watched, outputs, taken):
  """The trainable variables that a call read, sorted by name.

  Args:
    watched: the variables of which a tape was told.
    outputs: the tensors of the result.
    taken: the arguments.
  """
  found = list(watched)
  if taken.graph is not None and not api.is_capturing(taken.graph):
    seen = set(id(v) for v in found)
    found += [v for v in _in_graph(api, outputs, taken) if id(v) not in seen]
  return sorted(found, key=lambda v: v.name) if found else found


def _in_graph(api, outputs, taken):
  trainable = taken.graph.get_collection_ref(api.v1.GraphKeys.TRAINABLE_VARIABLES)
  if not trainable:
    return []
  stop = set(id(t) for t in taken.tensors)
  names, seen, todo = set(), set(), list(outputs)
  while todo:
    tensor = todo.pop()
    if id(tensor) in stop or id(tensor) in seen:
      continue
    seen.add(id(tensor))
    name = _variable_op_name(tensor)
    if name is not None:
      names.add(name)
    elif tensor.op._id > taken.newest_id:
      todo.extend(tensor.op.inputs)
  by_name = _trainable_by_name(graphdata.of(taken.graph), trainable) if names else {}
  return [by_name[name] for name in names if name in by_name]


def is_made_here(op, newest_id):
  """Whether an operation is a variable that was made since then."""
  return op.type in _REF + _RESOURCE and op._id > newest_id


def made_for(outputs, newest_id):
  """The operations made since then on which `outputs` depend."""
  found, seen, todo = [], set(), [tensor.op for tensor in outputs]
  while todo:
    op = todo.pop()
    if op in seen or op._id <= newest_id:
      continue
    seen.add(op)
    found.append(op)
    todo.extend(tensor.op for tensor in op.inputs)
    todo.extend(op.control_inputs)
  return found


def before(outputs, newest_id, known):
  """The tensors that were there before, behind `outputs` and not behind the tensors `known`; values of variables left out."""
  stop = set(id(t) for t in known)
  found, seen, todo = [], set(), list(outputs)
  while todo:
    tensor = todo.pop()
    if id(tensor) in stop or id(tensor) in seen or _variable_op_name(tensor) is not None:
      continue
    seen.add(id(tensor))
    if tensor.op._id > newest_id:
      todo.extend(tensor.op.inputs)
    else:
      found.append(tensor)
  return found


def _trainable_by_name(data, trainable):
  """An index of the graph's trainable variables, renewed when there are more, so that a read costs no search."""
  if data.variables_seen != len(trainable):
    data.variables, data.variables_seen = dict((v.op.name, v) for v in trainable), len(trainable)
  return data.variables


def _variable_op_name(tensor):
  """The name of the variable's operation if `tensor` is a variable or the value that is read from one."""
  op = tensor.op
  if op.type == "Identity" and op.inputs[0].op.type in _REF:
    op = op.inputs[0].op
  return op.name if op.type in _REF + _RESOURCE else None
