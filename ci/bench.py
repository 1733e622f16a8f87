# -*- coding: utf-8 -*-
"""What a decorated function costs, against tf.custom_gradient and tf.identity, side by side in one run.

    python ci/bench.py [--repeats 15]

Run it with the Python of an environment that has TensorFlow and this package. Each line is a ratio of medians over
interleaved repeats: ours / other. Where a release has no tf.custom_gradient the graph is compared with the way that
people write by hand there: an override of Identity, registered once per call.
"""
from __future__ import absolute_import, division, print_function

import argparse
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow as tf

from tfgradcompat import custom_grad, route

v1 = getattr(getattr(tf, "compat", None), "v1", None) or tf


def times_ten(x):
    return x * 2., lambda dy: 10. * dy


def by_hand(x, names=[0]):
    """The answer that is pasted most: a fresh name, and an override of Identity."""
    names[0] += 1
    name = "ByHand%d" % names[0]

    @tf.RegisterGradient(name)
    def gradient(op, dy):
        return 10. * dy
    with v1.get_default_graph().gradient_override_map({"Identity": name}):
        return tf.identity(tf.stop_gradient(x * 2.))


def native_decorator():
    """tf.custom_gradient, or what 1.4 to 1.6 have of it; None before."""
    try:
        return tf.custom_gradient
    except AttributeError:
        pass
    try:
        from tensorflow.python.eager.custom_gradient import custom_gradient
        return custom_gradient
    except ImportError:
        return None


OURS = custom_grad(times_ten)
NATIVE = native_decorator()
OTHER_NAME, OTHER = ("tf.custom_gradient", NATIVE(times_ten)) if NATIVE else ("by hand", by_hand)


def side_by_side(measured, repeats):
    """The median seconds of each of the functions `{name: f}`, called in turn."""
    seconds = dict((name, []) for name in measured)
    for f in measured.values():
        f()
    for _ in range(repeats):
        for name in sorted(measured):
            start = time.time()
            measured[name]()
            seconds[name].append(time.time() - start)
    return dict((name, float(np.median(values))) for name, values in seconds.items())


def report(what, found, ours, other, scale, unit):
    print("%-34s %8.3f %s  %-20s %8.3f %s  ratio %.3f" % (
        what, found[ours] * scale, unit, other, found[other] * scale, unit, found[ours] / found[other]))


def bench_eager(repeats):
    x = tf.constant([1., 2.])

    def calls(f, count=300):
        def run():
            for _ in range(count):
                f(x)
        return run

    def gradients(f, count=150):
        def run():
            for _ in range(count):
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = f(x)
                tape.gradient(y, x)
        return run
    report("eager call", side_by_side({"ours": calls(OURS), OTHER_NAME: calls(OTHER)}, repeats),
           "ours", OTHER_NAME, 1e6 / 300, "us")
    report("eager call and gradient", side_by_side({"ours": gradients(OURS), OTHER_NAME: gradients(OTHER)}, repeats),
           "ours", OTHER_NAME, 1e6 / 150, "us")


def bench_build(repeats):
    def build(f, count=100, variables=0, chained=False):
        def run():
            with tf.Graph().as_default():
                for i in range(variables):
                    v1.get_variable("v%d" % i, shape=[])
                x = tf.constant([1., 2.])
                start = time.time()
                for _ in range(count):
                    y = f(x)
                    if chained:
                        x = y
                seconds.append(time.time() - start)
        seconds = []
        run.seconds = seconds
        return run

    def compare(what, **options):
        programs = {"ours": build(OURS, **options), OTHER_NAME: build(OTHER, **options)}
        side_by_side(programs, repeats)
        found = dict((name, float(np.median(program.seconds[1:]))) for name, program in programs.items())
        report(what, found, "ours", OTHER_NAME, 1e6 / 100, "us")
    compare("graph build, per call")
    compare("graph build, chained")
    compare("graph build, 300 variables around", variables=300)


def bench_step(repeats):
    handed = custom_grad(lambda t: (t, lambda dy: dy))
    # An identity alone costs a fraction of a microsecond; in a network it stands between operations that compute.
    bench_chain("step, chain of 20, 4 KB", [1024], lambda t: t, handed, repeats)
    bench_chain("step, chain of 20, 16 MB", [4 * 1024 * 1024], lambda t: t, handed, repeats)
    weights = np.eye(128, dtype=np.float32)
    bench_chain("step, 20 matmuls of 128 x 128", [128, 128], lambda t: tf.matmul(t, weights), handed, repeats)


def bench_chain(what, shape, layer, handed, repeats, length=20):
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, shape)
        fetches = {}
        for name, f in (("ours", handed), ("tf.identity", tf.identity)):
            y = tf.identity(x)
            for _ in range(length):
                y = f(layer(y))
            fetches[name] = tf.reduce_sum(y[:1]).op
        config = v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        with v1.Session(config=config) as session:
            feed = {x: np.ones(shape, np.float32)}

            # One run takes some ten microseconds: twenty of them are one measurement.
            def step(fetch):
                def run():
                    for _ in range(20):
                        session.run(fetch, feed)
                return run
            programs = dict((name, step(fetch)) for name, fetch in fetches.items())
            report(what, side_by_side(programs, 2 * repeats), "ours", "tf.identity", 1e6 / 20, "us")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--eager", action="store_true", help="turn eager mode on, in TensorFlow 1")
    options = parser.parse_args()
    if options.eager and hasattr(v1, "enable_eager_execution"):
        v1.enable_eager_execution()
    print("TensorFlow %s, route %s" % (tf.__version__, route()))
    if hasattr(tf, "executing_eagerly") and tf.executing_eagerly():
        bench_eager(options.repeats)
    if not options.eager:
        bench_build(options.repeats)
        bench_step(options.repeats)


if __name__ == "__main__":
    main()
