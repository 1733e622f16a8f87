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
import threading

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow as tf

import bench_ways
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
    """`(wrong, missing, refused)`: how many gradients of `threads * calls`, and how many calls that had to be made again."""
    with tf.Graph().as_default() as graph:
        xs = [[tf.constant(1.) for _ in range(calls)] for _ in range(threads)]
        ys = [[None] * calls for _ in range(threads)]
        factors = [[1. + t * calls + c for c in range(calls)] for t in range(threads)]
        refused, start = [], threading.Event()

        def build(t):
            start.wait()
            with graph.as_default():
                for c in range(calls):
                    while ys[t][c] is None:
                        try:
                            ys[t][c] = function(decorate, factors[t][c])(xs[t][c])
                        except (ValueError, KeyError) as error:
                            refused.append(error)
                            if len(refused) > threads * calls:
                                raise
        workers = [threading.Thread(target=build, args=(t,)) for t in range(threads)]
        for worker in workers:
            worker.start()
        start.set()
        for worker in workers:
            worker.join()
        flat = lambda rows: [value for row in rows for value in row]
        gradients = v1.gradients(flat(ys), flat(xs))
        there = [i for i, gradient in enumerate(gradients) if gradient is not None]
        config = v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        with v1.Session(graph=graph, config=config) as session:
            got = session.run([gradients[i] for i in there])
        expected = flat(factors)
        wrong = [i for i, value in zip(there, got) if float(value) != expected[i]]
        return len(wrong), len(gradients) - len(there), refused


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--calls", type=int, default=600)
    parser.add_argument("--ways", nargs="+", choices=["ours", "native"], default=["ours", "native"])
    options = parser.parse_args()
    if hasattr(sys, "setswitchinterval"):
        sys.setswitchinterval(1e-6)
    else:
        sys.setcheckinterval(1)  # Python 2
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
