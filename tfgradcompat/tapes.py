"""How gradient tapes learn of a call, and tell which variables it read, by release."""

from __future__ import absolute_import, division, print_function

import functools

from . import compat


class Tapes(object):
  """The part of `tensorflow_api.Api` that knows gradient tapes."""

  def _probe_tapes(self, private):
    # `record` took this part of `tape` over in 2.12. There are tapes from 1.4 on.
    module = private("eager.record") or private("eager.tape")
    self._backprop = private("eager.backprop")
    # Only where there is a GradientTape (1.5): the tapes of 1.4 cannot be open inside a graph, and record otherwise.
    self.record_operation = module.record_operation if hasattr(self._backprop, "GradientTape") else None
    # Whether a tape or a forward accumulator is open in this thread; public to TensorFlow's own modules since 1.4.
    self.is_recording = getattr(module, "could_possibly_record", lambda: False)
    # Whether an open tape watches one of some tensors, or something that they were computed from; renamed in 2.1.
    self.is_watched = getattr(module, "should_record_backprop", getattr(module, "should_record", None))
    # Up to 2.1 only a tape tells which variables are read, and it records everything else as well. In a plain graph it
    # is not needed: the walk in variables.py sees them.
    self.has_watcher = hasattr(module, "VariableWatcher")
    if self.has_watcher:  # 2.2
      self.watch_variables = module.VariableWatcher
    elif hasattr(self._backprop, "GradientTape"):  # 1.5
      self.watch_variables = functools.partial(_TapeWatcher, module.push_new_tape, module.pop_tape)
    else:
      self.watch_variables = NoWatcher
    self.stop_recording = getattr(module, "stop_recording", compat.NoContext)
    # The same where it is known that something records: the generator in the other takes longer than the operation within.
    runtime = getattr(module, "pywrap_tfe", None) or getattr(module, "pywrap_tensorflow", None)  # renamed in 2.2
    if hasattr(runtime, "TFE_Py_TapeSetStopOnThread"):  # 1.6 or 1.7
      pause = _Pause(runtime.TFE_Py_TapeSetStopOnThread, runtime.TFE_Py_TapeSetRestartOnThread)
      self.pause_recording = lambda: pause
    else:
      self.pause_recording = self.stop_recording

  def is_stale_zero(self, dy, dtype):
    """Whether `dy`, for an output of `dtype`, is a zero that a tape took out of its cache by mistake.

    Up to 1.10 it hands zeros that it made in a graph to eager mode; 1.5 gives the zero before for a dtype of which it
    could make none.
    """
    if self.version > (1, 10) or not isinstance(dy, self.Tensor) or not self.executing_eagerly():
      return False
    return not isinstance(dy, self.EagerTensor) or dy.dtype != dtype


class NoWatcher(compat.NoContext):
  """Stands in for a variable watcher where there are no tapes, or where none is needed."""

  def watched_variables(self):
    return ()


class _Pause(object):

  __slots__ = ("_stop", "_go_on")

  def __init__(self, stop, go_on):
    self._stop, self._go_on = stop, go_on

  def __enter__(self):
    self._stop()

  def __exit__(self, *unused):
    self._go_on()
    return False


class _TapeWatcher(object):
  """A tape that is asked which variables it watched, and nothing more: what GradientTape makes, at half its cost."""

  __slots__ = ("_push", "_pop", "_tape")

  def __init__(self, push, pop):
    self._push, self._pop = push, pop

  def __enter__(self):
    self._tape = self._push()
    return self

  def __exit__(self, *unused):
    if self._tape is None:  # up to 1.5 tapes are on a stack
      self._tape = self._pop()
    else:
      self._pop(self._tape)
    return False

  def watched_variables(self):
    return self._tape.watched_variables()
