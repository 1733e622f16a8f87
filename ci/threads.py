# -*- coding: utf-8 -*-
"""Eight threads that build one graph: does each call get its own gradient?

    python ci/threads.py [--threads 8] [--calls 600] [--ways ours native]

Run it with the Python of an environment that has TensorFlow and this package. The interpreter changes threads as often as it
can. Each call has an input and a gradient of its own; all gradients are computed and compared. It fails if one of ours is wrong
or missing. `refused`: TensorFlow before 1.9 has one stack of names for all threads, and raises when two meet in it; such a call
is made again.
"""
from __future__ import absolute_import, division, print_function

import argparse
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests"))

import tensorflow as tf

import bench_ways
import hasty_threads
import tfgradcompat

v1 = bench_ways.v1


def function(decorate, factor):
    """A function whose gradient is `factor`, as a tensor that is made in the forward pass."""
    @decorate
    def f(x):
        scale = tf.constant(factor)
        return x * 2., lambda dy: dy * scale
    return f


def wrong_of(decorate, threads, calls):
    """`(wrong, missing, refused)`: how many gradients of `threads * calls`, and the errors of calls that had to be made again."""
    factor = lambda t, c: 1. + t * calls + c
    with tf.Graph().as_default() as graph:
        xs = dict(((t, c), tf.constant(1.)) for t in range(threads) for c in range(calls))
        refused = []

        def build(t, c):
            while True:
                try:
                    # An absolute name: before 1.8 the names that threads make would grow from operation to operation.
                    with graph.as_default(), tf.name_scope("thread%d_call%d/" % (t, c)):
                        return function(decorate, factor(t, c))(xs[t, c])
                except (ValueError, KeyError) as error:
                    refused.append(error)
                    if len(refused) > threads * calls:
                        raise

        ys = hasty_threads.in_threads(build, threads, calls)
        keys = sorted(xs)
        found = zip(keys, v1.gradients([ys[key] for key in keys], [xs[key] for key in keys]))
        gradients = dict((key, gradient) for key, gradient in found if gradient is not None)
        config = v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        with v1.Session(graph=graph, config=config) as session:
            got = session.run(gradients)
        wrong = [key for key, value in got.items() if float(value) != factor(*key)]
        return len(wrong), len(keys) - len(gradients), refused


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--calls", type=int, default=600)
    parser.add_argument("--ways", nargs="+", choices=["ours", "native"], default=["ours", "native"])
    options = parser.parse_args()
    bad = False
    for way in options.ways:
        if way == "native" and bench_ways.NATIVE is None:
            print("native: TensorFlow %s has no tf.custom_gradient" % tf.__version__)
            continue
        wrong, missing, refused = wrong_of(
            tfgradcompat.custom_grad if way == "ours" else bench_ways.NATIVE, options.threads, options.calls)
        print("TensorFlow %s, %s: %d wrong, %d missing of %d gradients; %d calls refused%s" % (
            tf.__version__, way, wrong, missing, options.threads * options.calls, len(refused),
            " (%s: %s)" % (type(refused[0]).__name__, str(refused[0])[:100]) if refused else ""))
        bad = bad or way == "ours" and bool(wrong or missing)
    sys.exit(bad)


if __name__ == "__main__":
    main()
