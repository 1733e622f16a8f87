# -*- coding: utf-8 -*-
"""How much memory `recompute` saves: peaks of a chain of 40 layers, with it and without, in every mode.

    python ci/memory.py [--eager] [--megabytes 1]

Run it with the Python of an environment that has TensorFlow and this package, on Linux. Each line is a mode: the peaks above
what the process needed before, and their ratio. It fails if one is above a half. Each mode is a process of its own, since
what has been freed is not always given back.
"""
from __future__ import absolute_import, division, print_function

import argparse
import ctypes
import gc
import os
import subprocess
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow as tf

from tfgradcompat import recompute

v1 = getattr(getattr(tf, "compat", None), "v1", None) or tf
VERSION = tuple(int(part) for part in tf.__version__.split("-")[0].split(".")[:2])
MODES = ("graph", "eager", "function", "function_inside")


def layer(x):
    for _ in range(3):
        x = tf.sin(x) * tf.cos(x)
    return x


def chain(layer):
    def run(x):
        for _ in range(40):
            x = layer(x)
        return x
    return run


def function(f):
    if VERSION >= (1, 14):
        return tf.function(f, input_signature=[tf.TensorSpec(None, tf.float32)], autograph=False)
    return tf.contrib.eager.function(f, autograph=False) if VERSION == (1, 13) else tf.contrib.eager.defun(f)


def program(mode, f):
    """A function from an array to the gradient of `f`, built or traced already."""
    if mode == "graph":
        with tf.Graph().as_default() as graph:
            x = v1.placeholder(tf.float32, [None])
            [gradient] = v1.gradients(f(x), [x])
        session = v1.Session(graph=graph)
        return lambda array: session.run(gradient, {x: array})
    tape_type = tf.GradientTape if hasattr(tf, "GradientTape") else tf.contrib.eager.GradientTape
    wrapped = function(f) if mode == "function" else f

    def gradient(x):
        with tape_type() as tape:
            tape.watch(x)
            y = wrapped(x)
        return tape.gradient(y, x)
    run = function(gradient) if mode == "function_inside" else gradient
    return lambda array: run(tf.constant(array))


def memory(name):
    with open("/proc/self/status") as file:
        return [int(line.split()[1]) / 1024. for line in file if line.startswith(name)][0]


def peaks(mode, megabytes):
    """The peaks of recompute and of the plain chain, and the seconds that they took."""
    array = np.linspace(0., 1., int(megabytes * 2 ** 18)).astype(np.float32)
    programs = [program(mode, chain(f)) for f in (recompute(layer), layer)]
    for run in programs:
        run(array[:9])
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    before, found = memory("VmRSS"), []
    for run in programs:  # recompute first: what it has freed is used again by the other
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # sets back VmHWM
        start = time.time()
        run(array)
        found.append((memory("VmHWM") - before, time.time() - start))
    return found


def modes(eager):
    """The modes that this TensorFlow has."""
    if not eager:
        return ["graph"]
    found = ["eager", "function"] if VERSION >= (2, 2) else ["function"]
    return found + (["function_inside"] if VERSION >= (1, 8) else []) + (["graph"] if VERSION >= (1, 9) else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", choices=MODES)
    parser.add_argument("--megabytes", type=float, default=1.)
    parser.add_argument("--eager", action="store_true", help="turn eager mode on, in TensorFlow 1")
    options = parser.parse_args()
    eager = options.eager or VERSION >= (2, 0)
    if not options.mode:
        sys.exit(max([subprocess.call([sys.executable] + sys.argv + ["--mode", mode]) for mode in modes(eager)]))
    if eager and VERSION < (2, 0):
        getattr(v1, "enable_eager_execution", None) and v1.enable_eager_execution() or (
            VERSION < (1, 7) and tf.contrib.eager.enable_eager_execution())
    (ours, seconds), (plain, plain_seconds) = peaks(options.mode, options.megabytes)
    ratio = ours / plain
    print("TensorFlow %-10s %-16s recompute %7.1f MB %6.2f s   plain %7.1f MB %6.2f s   ratio %.2f" % (
        tf.__version__, options.mode, ours, seconds, plain, plain_seconds, ratio))
    sys.exit(ratio > 0.5)


if __name__ == "__main__":
    main()
