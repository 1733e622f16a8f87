"""Packages that break a TensorFlow beside which they are installed, and the pin that mends it.

Each was seen to break the releases named with it, and not the first one that is free of it.
"""
from __future__ import absolute_import, division, print_function

import collections

from . import matrix

# A TensorFlow from `since` on and older than `before` needs the pin.
Pair = collections.namedtuple("Pair", "pin since before what")

# Of those that concern one package, the strictest is the last.
PAIRS = [
    Pair("protobuf<3.21", "0.12", "2.12", "importing TensorFlow fails"),  # seen on 1.15, 2.9
    Pair("numpy<2", "0.12", "2.18", "importing TensorFlow fails"),  # 2.9, 2.15
    Pair("numpy<1.24", "0.12", "2.7", "importing TensorFlow fails"),  # 2.3, 2.6; not 2.9
    Pair("numpy<1.20", "1.13", "2.4", "tf.zeros and tf.ones with a tensor in the shape fail"),  # 1.15, 2.0, 2.3; not 2.6
    Pair("h5py<3", "1.4", "2.4", "loading a Keras model from HDF5 fails"),  # 1.15, 2.0, 2.3; not 2.6
    Pair("gast==0.2.2", "1.13", "2.2", "AutoGraph cannot convert Python control flow"),  # 1.14, 1.15, 2.0
]


def of(tensorflow):
    """The pairs that concern a version of TensorFlow."""
    version = matrix.numbers(tensorflow)[:2]
    pairs = [pair for pair in PAIRS if matrix.numbers(pair.since) <= version < matrix.numbers(pair.before)]
    if (2, 6) <= version <= (2, 15):  # tf.keras is the package keras; seen on 2.6 (2.8, 2.9), 2.9 (2.10), 2.15 (3.3)
        pairs.append(Pair("keras<%d.%d" % (version[0], version[1] + 1), None, None, "tf.keras fails"))
    return pairs


def warnings(tensorflow, cell, installed):
    """What is wrong, or was not tested, among the packages beside a TensorFlow.

    Args:
      tensorflow: its version.
      cell: the `matrix.Cell` that was tested on this Python, or None.
      installed: {name in lower case: version}.

    Returns:
      A list of lines, each with the pin.
    """
    broken = collections.OrderedDict()
    for pair in of(tensorflow):
        name = matrix.name_of(pair.pin)
        if name in installed and not matrix.satisfies(installed[name], pair.pin):
            broken.setdefault(name, []).append(pair)
    lines = ["%s %s breaks TensorFlow %s: %s. pip install '%s'" % (
        name, installed[name], tensorflow, pairs[0].what, pairs[-1].pin) for name, pairs in broken.items()]
    for pin in cell.pins if cell else ():
        name = matrix.name_of(pin)
        if name in installed and name not in broken and not matrix.satisfies(installed[name], pin):
            lines.append("%s %s was not tested with TensorFlow %s; %s was" % (name, installed[name], tensorflow, pin))
    return lines
