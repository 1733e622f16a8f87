"""The operation that runs Python code, as each release has it."""

from __future__ import absolute_import, division, print_function

from . import compat


class PythonOps(object):
  """The part of `tensorflow_api.Api` that makes operations of Python functions."""

  def _probe_python_ops(self, private):
    self._script_ops = private("ops.script_ops")
    self._numpy_function = getattr(self.tf, "numpy_function", None)  # 1.14
    undecorated = getattr(self._numpy_function, "__wrapped__", self._numpy_function)
    self._is_stateful_optional = undecorated is not None and compat.accepts_keyword(undecorated, "stateful")  # 2.9
    # Up to 1.2 the message of an exception goes to the log, and the caller is told to look there.
    self.python_errors_are_lost = self.version < (1, 3)

  def crossing(self, dtype):
    """The dtype in which numbers go to Python code and back: a wider one where the kernel does not know `dtype`."""
    if dtype == self.tf.float16 and self.version < (1, 4) or dtype == self.tf.bfloat16 and self.version < (1, 14):
      return self.tf.float32
    return dtype

  def python_op(self, run, tensors, dtypes, stateful, name, token):
    """The tensors that the operation of the Python function `run` gives.

    TensorFlow names functions by numbers, which in another process that loads the graph are those of other functions.
    `token` takes the place of the number: there it is a name that is not known.
    """
    if self._numpy_function is not None and (stateful or self._is_stateful_optional):
      options = {} if stateful else {"stateful": False}
      outputs = self._numpy_function(run, tensors, dtypes, name=name, **options)
    else:
      outputs = self.v1.py_func(run, tensors, dtypes, stateful=stateful, name=name)
    self._rename(outputs[0].op, token)
    return outputs

  def _rename(self, op, token):
    registry = self._script_ops._py_funcs
    given = op.get_attr("token")
    given = given if isinstance(given, str) else given.decode("ascii")
    registry._funcs[token] = registry._funcs.pop(given)
    graph = op.graph
    while graph is not None:  # up to 1.13 what removes the function with its graph knows it by name
      for cleanup in getattr(graph, "_cleanup_py_funcs_used_in_graph", ()):
        if cleanup._token == given:
          cleanup._token = token
      graph = getattr(graph, "outer_graph", None) or getattr(graph, "_outer_graph", None)
    self.set_attr(op, "token", self.attr_value(token if isinstance(token, bytes) else token.encode("utf-8")))
