"""What a call leaves in its graph, so that it can be made again where the graph was imported.

A graph that was exported and imported holds the carrier of a call, with the outputs and the inputs of the function going
through it, but not the call. The gradient is found all the same if the function can be: one that is defined at the top
of a module (or of a class), which has been imported. It is run again on the operation's own inputs. What cannot be
made again, such as a function that took something from its closure, is an error and never another gradient.
"""

from __future__ import absolute_import, division, print_function

import threading
import weakref

from . import compat
from . import errors
from . import leaves
from . import nests

_ARGUMENTS = "_custom_grad_arguments"
_CO_NESTED = 0x10  # set for a function that is defined inside another one, on every Python

_lock = threading.Lock()
_definitions = {}  # {qualified name: the code objects that have had it, in order}
_functions = weakref.WeakValueDictionary()  # by registered name


def can_be_found(target):
  """Whether the name of the function `target` says all that it is."""
  code = getattr(target, "__code__", None)
  return code is not None and not code.co_flags & _CO_NESTED and target.__name__ != "<lambda>"


def number(qualified_name, code):
  """Tells the definitions of one name apart: the first is 1. The same on each import, and again after a reload."""
  with _lock:
    known = _definitions.setdefault(qualified_name, [])
    if code not in known:
      known.append(code)
    return known.index(code) + 1


def announce(name, function):
  """Lets the operations that carry the registered `name` find `function`."""
  _functions[name] = function


def function_named(name):
  """The function that is called `name`, as it is registered but for the name of the package; None if it is not known."""
  return next((function for registered, function in list(_functions.items()) if registered.partition(":")[2] == name), None)


def describe(api, call, op):
  """Notes on `op`, the carrier of `call`, what its inputs have been to the function."""
  taken, function = call.taken, call.function
  if not function.can_be_found:
    return
  if not call.variables and not taken.kwargs and len(taken.args) == len(taken.tensors) == function.signature.count and (
      taken.skeleton == taken.positions):
    return  # nothing but tensors, by position: what most calls look like
  import json  # not at the top: importing this package takes no time
  outputs = len(op.inputs) - len(call.inputs) - len(call.variables)
  is_input = lambda leaf: api.kind(leaf) == leaves.TENSOR
  lost = lambda kind: {"lost": kind}
  found = {"outputs": outputs, "variables": [v.name for v in call.variables],
           "args": [noted(api, value, is_input, lost) for value in taken.args],
           "kwargs": [[name, noted(api, taken.kwargs[name], is_input, lost)] for name in sorted(taken.kwargs)]}
  api.set_attr(op, _ARGUMENTS, api.attr_value(json.dumps(found).encode("ascii")))


def describe_lost(api, op, why):
  """Notes on `op` that, and why, nobody can make its call again."""
  import json  # see `describe`
  api.set_attr(op, _ARGUMENTS, api.attr_value(json.dumps({"lost": why}).encode("ascii")))


def count_of_outputs(api, op, name):
  """How many outputs of a call `op` hands through. LookupError where nobody knows: it would have no gradient, in silence."""
  found, function = _note(api, op), _functions.get(name)
  if found is not None:
    return found.get("outputs", len(op.inputs))
  if function is None:
    fail(op, name, "the function is not known in this process. Import the module that decorates it")
  return len(op.inputs) - function.signature.count


def _note(api, op):
  import json  # see `describe`
  found = api.get_attr(op, _ARGUMENTS)
  return None if found is None else json.loads(found.decode("ascii"))


def noted(api, value, is_input, lost):
  """`value` in JSON: null for an input, a list for a list, an object for everything else; `lost(kind)` for what cannot be."""
  again = lambda child: noted(api, child, is_input, lost)
  if type(value) is list:
    return [again(child) for child in value]
  if type(value) is tuple:
    return {"tuple": [again(child) for child in value]}
  if type(value) is dict and all(isinstance(key, str) for key in value):
    return {"dict": [[key, again(value[key])] for key in sorted(value)]}
  if isinstance(value, api.np.generic):
    return {"scalar": [value.dtype.str, value.item()]} if value.dtype.kind in "biuf" else lost(errors.kind_of(value))
  if value is None or isinstance(value, (bool, float) + compat.string_types + compat.integer_types):
    return {"value": value}
  if isinstance(value, api.tf.DType):
    return {"dtype": value.name}
  return None if not nests.is_nest(value) and is_input(value) else lost(errors.kind_of(value))


def arguments(api, op, name):
  """`(function, args, kwargs, outputs)`: the call that `op`, which carries the registered `name`, was made by.

  Raises:
    LookupError: it cannot be made again.
  """
  function, found = _functions.get(name), _note(api, op)
  if found is not None and "lost" in found:
    fail(op, name, found["lost"])
  if function is None:
    fail(op, name, "the function is not known in this process. Import the module that decorates it; a lambda, or a "
          "function inside another one, cannot be found again: define it at the top of a module")
  tensors = list(op.inputs)
  if found is None:
    args, kwargs, outputs = [None] * function.signature.count, [], len(tensors) - function.signature.count
  else:
    if found["variables"]:
      fail(op, name, "it read the variables %s, which it cannot find again. Pass them as arguments" %
            ", ".join("'%s'" % v for v in found["variables"]))
    args, kwargs, outputs = found["args"], found["kwargs"], found["outputs"]
  following = iter(tensors[outputs:])
  try:
    args = tuple([restored(api, node, following) for node in args])
    kwargs = dict([(key, restored(api, node, following)) for key, node in kwargs])
  except _Lost as lost:
    fail(op, name, "one of its arguments was %s, which a graph cannot keep. Pass tensors, numbers and strings, in lists, "
          "tuples and dicts" % lost)
  return function, args, kwargs, outputs


class _Lost(Exception):
  pass


def restored(api, node, tensors):
  """What `noted` made, with the next of `tensors` for each input."""
  if node is None:
    return next(tensors)
  if isinstance(node, list):
    return [restored(api, child, tensors) for child in node]
  if "tuple" in node:
    return tuple([restored(api, child, tensors) for child in node["tuple"]])
  if "dict" in node:
    return dict([(str(key), restored(api, child, tensors)) for key, child in node["dict"]])
  if "scalar" in node:
    return api.np.dtype(node["scalar"][0]).type(node["scalar"][1])
  if "dtype" in node:
    return api.tf.as_dtype(node["dtype"])
  if "lost" in node:
    raise _Lost(node["lost"])
  return node["value"]


def fail(op, name, why):
  """Raises the LookupError of a call that cannot be made again."""
  raise errors.make(
      errors.NoGradientError, None, "the operation '%s' carries the custom gradient of '%s', but its graph was imported or copied, and %s." %
      (op.name, name.partition(":")[2], why))
