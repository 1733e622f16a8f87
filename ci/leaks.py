# -*- coding: utf-8 -*-
"""What is left of 1,000 graphs that used decorated functions, and of 1,000 functions, when their users have let go of them.

    python ci/leaks.py [--count 1000] [--kinds graphs functions ...] [--ways ours native identity]

Run it with the Python of an environment that has TensorFlow and this package, on Linux. Each line is a process of its own: the
graphs that are alive after the last gc.collect(), how much memory grew between the 200th and the 1,000th, and the entries
that TensorFlow's registry of gradients has more. `identity` is TensorFlow without any custom gradient. It fails if a graph of
ours is alive, if the registry grew, or if memory grew by more than 5 % and more
than without a custom gradient.
"""
from __future__ import absolute_import, division, print_function

import argparse
import gc
import json
import os
import subprocess
import sys
import weakref

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow as tf
from tensorflow.python.framework import ops

import bench_worker
import tfgradcompat
from bench_programs import resident
from bench_ways import NATIVE, VERSION, v1

KINDS = ["graphs", "functions", "eager calls", "traces of a function"]
WAYS = ["ours", "native", "identity"]
# Functions of older releases lose the gradients of branches, with any operation: see docs/limits.md.
BRANCHES_IN_FUNCTIONS_FROM = (1, 15)


def capturing(way, factor):
    """A function whose gradient takes a tensor from the forward pass, decorated anew each time."""
    def f(x):
        y = x * 2.
        return y, lambda dy: factor * dy * y
    if way == "identity":
        return lambda x: tf.identity(f(x)[0])
    return (tfgradcompat.custom_grad if way == "ours" else NATIVE)(f)


def program(way, x, branches=True):
    """Two functions, one around the other, and one of them in a branch too."""
    f, g = capturing(way, 3.), capturing(way, 5.)
    y = f(g(x))
    return y + tf.cond(tf.reduce_sum(x) > 0., lambda: g(x), lambda: x) if branches else y


# --------------------------------------------------------------------------------------------------------------- the kinds
class Kind(object):
    """Something that is done again and again. `graphs` are weak references to the graphs that it made."""

    def __init__(self, way):
        self.way, self.graphs = way, []

    def traced(self, x):
        if not isinstance(x, ops.EagerTensor):
            self.graphs.append(weakref.ref(v1.get_default_graph()))
        return program(self.way, x, VERSION >= BRANCHES_IN_FUNCTIONS_FROM)


class Graphs(Kind):
    """Built, differentiated, run and dropped."""

    def once(self):
        with tf.Graph().as_default() as graph:
            x = v1.placeholder(tf.float32, [])
            [dx] = v1.gradients(program(self.way, x), [x])
            config = v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
            with v1.Session(graph=graph, config=config) as session:
                session.run(dx, {x: 1.})
            self.graphs.append(weakref.ref(graph))


class Functions(Kind):
    """Traced, called under a tape and dropped."""

    def once(self):
        differentiate(function(self.traced), tf.constant(1.))


class EagerCalls(Kind):
    """A program that decorates its functions each time it is called."""

    def once(self):
        differentiate(self.traced, tf.constant(1.))


class Traces(Kind):
    """The same in one function, which is traced anew for each shape."""

    def __init__(self, way):
        super(Traces, self).__init__(way)
        self.function = function(self.traced)

    def once(self):
        differentiate(self.function, tf.ones([len(self.graphs) + 1]))


def function(f):
    return tf.function(f) if VERSION >= (1, 14) else tf.contrib.eager.defun(f)


def differentiate(f, x):
    tape_type = getattr(tf, "GradientTape", None) or tf.contrib.eager.GradientTape
    with tape_type() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


# ------------------------------------------------------------------------------------------------------------- measuring
def measure(name, way, count):
    """What is left; in this process."""
    if way == "native" and NATIVE is None:
        return {"missing": "no tf.custom_gradient"}
    if name != "graphs":
        if VERSION < (1, 5):
            return {"missing": "no eager mode with a GradientTape"}
        bench_worker.enable_eager()
    kind = dict(zip(KINDS, (Graphs, Functions, EagerCalls, Traces)))[name](way)
    for _ in range(10):
        kind.once()  # what TensorFlow and the package make once
    gc.collect()
    before, memory, graphs = registered(), [], kind.graphs
    for number in range(1, count + 1):
        kind.once()
        if number in (count // 5, count):
            memory.append(resident())
    del kind
    gc.collect()
    return {"made": len(graphs), "alive": len([ref for ref in graphs if ref() is not None]), "memory": memory[1] / memory[0] - 1.,
            "megabytes": (memory[1] - memory[0]) / 1e6, "registry": len(registered() - before)}


def registered():
    """The names in TensorFlow's registry of gradients but those that 1.14 enters for each of its own functions."""
    return set(name for name in list(ops._gradient_registry._registry) if "PartitionedCall" not in name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--here", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print(json.dumps(measure(options.here[0], options.here[1], options.count)))
        return
    bad, figures = [], {}
    print("%-26s %-9s %6s %6s %9s %9s %9s" % ("", "", "made", "alive", "memory", "", "registry"))
    for kind in options.kinds:
        for way in reversed(options.ways):
            command = [sys.executable, __file__, "--count", str(options.count), "--here", kind, way]
            found = json.loads(subprocess.check_output(command, env=bench_worker.environment()).decode().splitlines()[-1])
            figures["%s, %s" % (kind, way)] = found
            if "missing" in found:
                print("%-26s %-9s %s" % (kind, way, found["missing"]))
                continue
            print("%-26s %-9s %6d %6d %+8.1f%% %+6.1f MB %9d" % (
                kind, way, found["made"], found["alive"], 100. * found["memory"], found["megabytes"], found["registry"]))
            sys.stdout.flush()
            without = figures.get("%s, identity" % kind, {}).get("memory", 0.)
            if way == "ours" and (found["alive"] or found["registry"] or found["memory"] > max(0.05, without + 0.02)):
                bad.append(kind)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(figures, file, indent=1, sort_keys=True)
    sys.exit("Something is kept: %s" % ", ".join(bad) if bad else 0)


if __name__ == "__main__":
    main()
