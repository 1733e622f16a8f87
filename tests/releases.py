# -*- coding: utf-8 -*-
"""What this process has: its TensorFlow, its Python, its set-up, and what the releases call things.

Importing it turns eager mode on where the set-up says so.
"""
from __future__ import absolute_import, division, print_function

import os
import re
import sys

import tensorflow as tf

try:
    import h5py
except ImportError:
    h5py = None

VERSION = tuple(int(part) for part in re.match(r"(\d+)\.(\d+)", tf.__version__).groups())
PY2 = sys.version_info[0] == 2
v1 = tf.compat.v1 if VERSION >= (1, 13) else tf

SETUP = os.environ.get("TEST_SETUP") or ("eager" if VERSION >= (2, 0) else "graph")
if SETUP not in ("graph", "eager", "override"):
    raise ValueError("TEST_SETUP is %r: expected graph, eager or override" % SETUP)

EAGER = VERSION >= (2, 0) or SETUP == "eager"
if EAGER and VERSION < (2, 0):
    if VERSION >= (1, 7):
        tf.enable_eager_execution()
    else:
        tf.contrib.eager.enable_eager_execution()

# From this release on a tape may be opened inside a function: before 1.8 TensorFlow itself raises.
TAPE_INSIDE_FROM = (1, 8)
# Before this release the second derivative of any operation is None, or a LookupError, when the tapes stand around a function.
HIGHER_ORDER_AROUND_FUNCTION_FROM = (1, 15)
GRAPH_UNDER_EAGER_FROM = (1, 9)
HAS_FUNCTION = VERSION >= (1, 14)
KERAS_3 = VERSION >= (2, 16)
# Keras of TensorFlow before 2.5 cannot read what h5py 3 gives it.
HAS_H5 = h5py is not None and (VERSION >= (2, 5) or h5py.version.version_tuple.major < 3)
WITHOUT_AUTOGRAPH = ("3", "4", "5", "9", "10")  # sections of the contract: see Mode.for_test


# ---------------------------------------------------------------------------------------------- what the releases call things
def import_private(module, name):
    return getattr(__import__(module, fromlist=[name]), name)


if VERSION >= (1, 8):
    GradientTape = tf.GradientTape
elif EAGER:
    GradientTape = tf.contrib.eager.GradientTape
else:
    GradientTape = None

if VERSION >= (2, 0):
    do_not_convert = tf.autograph.experimental.do_not_convert
elif VERSION >= (1, 14):
    do_not_convert = import_private("tensorflow.python.autograph.impl.api", "do_not_convert")()
    if not callable(do_not_convert):
        do_not_convert = tf.autograph.experimental.do_not_convert
else:
    do_not_convert = lambda f: f  # AutoGraph is not used here before 1.14

IndexedSlices = tf.IndexedSlices
HAS_RESOURCE = VERSION >= (1, 2)


def compiled_function(f, autograph, **options):
    """`f` as a TensorFlow function of this release, converted by AutoGraph or not (never before 1.14)."""
    if VERSION >= (1, 14):
        return tf.function(f, autograph=autograph, **options)
    if VERSION >= (1, 13):
        return tf.contrib.eager.function(f, autograph=False, **options)
    return tf.contrib.eager.defun(f, **options)
