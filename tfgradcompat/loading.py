"""Loads TensorFlow, and with it all of this package that knows TensorFlow, at the first call of a decorated function."""

from __future__ import absolute_import, division, print_function

import sys
import threading

from . import errors

_lock = threading.Lock()
_api = None
_waiting = []


def when_loaded(action):
  """Calls `action(api)` now if TensorFlow has been imported, else when it is loaded here. Imports nothing."""
  if _api is None and not hasattr(sys.modules.get("tensorflow"), "Graph"):
    _waiting.append(action)
  else:
    action(load())


def load():
  """The `tensorflow_api.Api` of the TensorFlow that is installed; imported at the first call."""
  return _load() if _api is None else _api


def _load():
  global _api
  try:
    import tensorflow as tf
  except ImportError as error:
    raise errors.make(
        ImportError, None, "this needs TensorFlow, which cannot be imported (%s). Install it: `pip install tensorflow` (any "
        "release from 0.12 on; `tensorflow-cpu` will do)." % error)
  from . import tensorflow_api
  with _lock:
    if _api is None:
      _api = tensorflow_api.Api(tf)
  while _waiting:
    _waiting.pop()(_api)
  return _api
