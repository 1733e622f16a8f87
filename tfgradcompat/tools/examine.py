"""Imports TensorFlow and tries custom gradients in every mode of this process. `doctor` runs it as a child.

    python -m <this package>.tools.examine [eager]

"eager" switches eager execution on first, which TensorFlow 1 does not do by itself. What was found is printed as one line
of JSON, the last one. Whatever goes wrong is part of it: TensorFlow may be broken in any way, and end the process.
"""
from __future__ import absolute_import, division, print_function

import json
import os
import sys
import traceback


def main(arguments):
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # read when TensorFlow is imported
    found = {}
    try:
        find(found, "eager" in arguments)
    except Exception as error:  # a TensorFlow beside packages that it does not fit raises nearly anything
        found["error"] = describe(error)
    print()
    print(json.dumps(found))


def find(found, eager):
    """Fills the dictionary `found`, as far as it gets."""
    import tensorflow as tf
    found["file"] = getattr(tf, "__file__", None)
    found["version"] = tf.__version__
    if eager:
        # Under this name from 1.7 on.
        (getattr(tf, "enable_eager_execution", None) or tf.contrib.eager.enable_eager_execution)()
    from .. import loading, route, routes
    from . import modes, probes, self_check

    found["probes"] = probes.of(loading.load())
    found["forced"] = os.environ.get(routes.ENVIRONMENT) or None
    found["route"] = route()
    found["modes"] = modes.available_modes()
    found["checks"] = [attempt(check, mode) for mode in found["modes"] for check in self_check.CHECKS]


def attempt(check, mode):
    """The outcome of one check in one mode: what was expected, what came, and whether it is the same."""
    import numpy as np

    outcome = {"name": check.__name__.replace("_", " "), "mode": mode, "ok": False}
    try:
        expected, got = check(mode)
        outcome["expected"] = expected
        outcome["got"] = None if got is None else np.asarray(got).tolist()
        outcome["ok"] = got is not None and np.shape(got) == np.shape(expected) and bool(
            np.allclose(got, expected, rtol=1e-5, atol=0.))
    except Exception as error:  # the other checks shall run too
        outcome["error"] = describe(error)
    return outcome


def describe(error):
    """The type and text of an exception, and where it was raised, on a few lines."""
    frame = traceback.extract_tb(sys.exc_info()[2])[-1]
    return "%s: %s (%s:%d)" % (type(error).__name__, str(error).strip()[-1000:], frame[0], frame[1])


if __name__ == "__main__":
    main(sys.argv[1:])
