# -*- coding: utf-8 -*-
"""What bench.py measures: each program does one thing in one of the ways, and says what it took.

`run(program, way, options)` gives a dictionary: `wall` and `cpu`, the seconds per call or step; for sizes, numbers; or
`missing`, the reason why there is nothing to measure.
"""
from __future__ import absolute_import, division, print_function

import ctypes
import gc
import time

import numpy as np
import tensorflow as tf

import bench_ways as ways
import tfgradcompat
from bench_ways import v1

_wall = getattr(time, "perf_counter", time.time)
_cpu = getattr(time, "process_time", None) or time.clock  # Python 2: the time of this process, all threads
VARIABLES = 1000
CHAIN = 20
_steps = {}


def run(program, way, options):
    return {"decorate": decorate, "eager": eager, "build": build, "differentiate": differentiate, "step": step, "ready": ready,
            "size": size, "memory": memory}[program](way, **options)


def timed(f, count):
    """What `f()` takes, divided by `count`."""
    gc.collect()
    wall, cpu = _wall(), _cpu()
    f()
    return {"wall": (_wall() - wall) / count, "cpu": (_cpu() - cpu) / count}


def repeat(f, count):
    def run():
        for _ in range(count):
            f()
    return run


# --------------------------------------------------------------------------------------------------- decorating, eager mode
def decorate(way, count=200):
    if way in ("identity", "per call", "py_func"):
        return {"missing": "nothing to decorate"}
    work, make = ways.twice(), ways.WAYS[way]
    return unless(ways.lacks(way), lambda: timed(repeat(lambda: make(work), count), count))


def eager(way, gradient, count=300):
    def measure():
        f, x = ways.WAYS[way](ways.twice()), tf.constant([1., 2.])
        tape_type = getattr(tf, "GradientTape", None) or tf.contrib.eager.GradientTape

        def differentiated():
            with tape_type() as tape:
                tape.watch(x)
                y = f(x)
            tape.gradient(y, x)
        once = differentiated if gradient else lambda: f(x)
        once()
        return timed(repeat(once, count), count)
    return unless(ways.lacks(way, eager=True), measure)


def unless(reason, measure):
    return {"missing": reason} if reason else measure()


# ----------------------------------------------------------------------------------------------------------------- graphs
def calls(work, f, count):
    """Makes `count` calls in a graph and gives their results."""
    def make(results):
        for _ in range(count):
            y = f(*xs)
            if work.outside:
                work.outside[0] = y
            results.append(y)
    xs = [tf.constant([1., 2.]) for _ in range(work.count)]
    if work.outside:
        work.outside[0] = xs[0]
    return make, xs


def work_of(variant):
    if variant == "inputs":
        return ways.total(100)
    work = ways.twice_and_last() if variant == "capturing" else ways.twice()
    if variant == "capturing":
        work.outside.append(None)
    return work


def build(way, variant="plain", count=100):
    """A graph of calls. variant: `capturing` takes the result of the call before from outside; `variables`, `inputs`: so many."""
    work = work_of(variant)

    def measure():
        f = ways.WAYS[way](work)
        with tf.Graph().as_default():
            if variant == "variables":
                for i in range(VARIABLES):
                    v1.get_variable("v%d" % i, shape=[])
            make, _ = calls(work, f, count)
            return timed(lambda: make([]), count)
    return unless(ways.lacks(way, count=work.count, outside=bool(work.outside)), measure)


def differentiate(way, count=100):
    def measure():
        work = ways.twice()
        with tf.Graph().as_default():
            make, xs = calls(work, ways.WAYS[way](work), count)
            results = []
            make(results)
            return timed(lambda: v1.gradients(results, xs), count)
    return unless(ways.lacks(way), measure)


def size(way, count=100):
    """What a call adds to the serialized graph."""
    def measure():
        work = ways.twice()
        with tf.Graph().as_default() as graph:
            make, _ = calls(work, ways.WAYS[way](work), count)
            before = graph.as_graph_def().ByteSize(), len(graph.get_operations())
            make([])
            return {"bytes": (graph.as_graph_def().ByteSize() - before[0]) / count,
                    "operations": (len(graph.get_operations()) - before[1]) / count}
    return unless(ways.lacks(way), measure)


def memory(way, count=500):  # tf.custom_gradient is quadratic here
    """What a call takes of memory while its graph lives, and what is left of that when the graph is gone. On Linux."""
    work = work_of("capturing")

    def measure():
        def graph_of(count):
            f = ways.WAYS[way](work)
            with tf.Graph().as_default():
                make, xs = calls(work, f, count)
                results = []
                make(results)
                v1.gradients(results[:1], xs)
                return results
        graph_of(10)
        before = resident()
        alive = graph_of(count)
        during = resident()
        del alive
        work.outside[0] = None
        return {"alive": (during - before) / count, "kept": (resident() - before) / count}
    return unless(ways.lacks(way, outside=True), measure)


def resident():
    """The bytes of memory that this process needs."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/status") as file:
        return [int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS")][0]


# ------------------------------------------------------------------------------------------------------------------ steps
def stepper(key, chain, floats):
    """A function that runs one step: the chain of the operations that `chain(x)` makes, on one thread."""
    if key not in _steps:
        with tf.Graph().as_default() as graph:
            x = v1.get_variable("x", initializer=np.ones([floats], np.float32))  # fed, it would be copied in each step
            fetch = tf.reduce_sum(chain(tf.identity(x))[:1]).op
            initializer = v1.global_variables_initializer()
        config = v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        session = v1.Session(graph=graph, config=config)
        session.run(initializer)
        _steps[key] = lambda: session.run(fetch)
        _steps[key]()
    return _steps[key]


def step(way, floats, gradient=False, matrix=0, count=100):
    """A chain of calls that hand over their argument: forward, or forward and backward; between products of matrices."""
    def chain(x):
        f, y = ways.WAYS[way](ways.handed()), x
        weights = tf.constant(np.eye(matrix, dtype=np.float32))
        for _ in range(CHAIN):
            if matrix:
                y = tf.reshape(tf.matmul(tf.reshape(y, [-1, matrix]), weights), [-1])
            y = f(y)
        return v1.gradients(y, [x], x)[0] if gradient else y  # with an upstream gradient that is no constant
    return unless(ways.lacks(way), lambda: timed(repeat(
        stepper(("step", way, floats, gradient, matrix), chain, floats), count), count))


# What people write for the same, with tf.identity and an override.
READY = {
    "clip by value": (lambda x: tfgradcompat.clip_gradient_by_value(x, -0.1, 0.1), lambda dy: tf.clip_by_value(dy, -0.1, 0.1)),
    "clip by norm": (lambda x: tfgradcompat.clip_gradient_by_norm(x, 0.1), lambda dy: tf.clip_by_norm(dy, 0.1)),
    "clip by global norm": (lambda x: tfgradcompat.clip_gradients_by_global_norm([x], 0.1)[0],
                            lambda dy: tf.clip_by_global_norm([dy], 0.1)[0][0]),
    "scale": (lambda x: tfgradcompat.scale_gradient(x, 0.5), lambda dy: dy * 0.5),
    "reverse": (lambda x: tfgradcompat.reverse_gradient(x), lambda dy: -dy)}


def ready(way, name, floats, count=100):
    """The gradient of a chain of ready-made functions, or of the same by hand."""
    made, backward = READY[name]

    def chain(x):
        y = x
        f = made if way == "ours" else ways.override(ways.Work(None, lambda dy, _: backward(dy)))
        for _ in range(CHAIN):
            y = f(y * 1.5)
        return v1.gradients(y, [x], x)[0]
    if way not in ("ours", "override"):
        return {"missing": "not by hand"}
    return timed(repeat(stepper(("ready", way, name, floats), chain, floats), count), count)
