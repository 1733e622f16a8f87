"""What was found in the installed TensorFlow, by the names of the probes in tensorflow_api.py and the parts of its class."""
from __future__ import absolute_import, division, print_function

# In every release, or with a stand-in where TensorFlow lacks it, or made on first use.
_NO_PROBES = ("tf", "np", "v1", "_ops", "_private", "Tensor", "SymbolicTensor", "convert_to_tensor", "identity", "eager_identity",
              "get_default_graph", "executing_eagerly", "is_recording", "stop_recording", "pause_recording",
              "watch_variables", "carrier", "backward_type")


def of(api):
    """{name: whether this TensorFlow has it}, for the probes that answer with yes or no, or with the thing itself."""
    found = {}
    for name, value in vars(api).items():
        if name not in _NO_PROBES and (isinstance(value, bool) or value is None or callable(value) or
                                       hasattr(value, "__file__")):
            found[name.lstrip("_")] = bool(value) and value is not type(None)
    return found
