"""The memory of a training step against the depth of the network, with `recompute` and without.

    python examples/recompute_memory.py [--json FILE] [--depths 8 16 32 64]

The backward pass needs what the layers computed in the forward pass, so all of it is kept, and memory grows with depth.
`recompute(block)` keeps what goes into a block of layers only, and runs the block again when its gradient is taken
(Chen et al. 2016, arXiv 1604.06174). The gradients are the same; the price is a second forward pass.

Each way is measured in a process of its own, as the peak of its resident memory above that before the first step.
Linux tells it in /proc/self/status.
"""
from __future__ import absolute_import, division, print_function

import argparse
import json
import subprocess
import sys
import time

import numpy as np
import tensorflow as tf

import common
from tfgradcompat import recompute, value_and_gradients

WIDTH = 256
BLOCK = 4  # layers that are run again together
COPIES = 2  # of the training digits, in a batch
WAYS = ("plain", "recompute")


def make_block(layers, depth):
    """A function that goes through some residual layers."""
    def block(x):
        for layer in layers:
            x += tf.tanh(common.dense(x, layer)) / depth
        return x
    return block


def make_step(way, depth):
    """A function of digits and labels that returns the loss and the norm of all its gradients."""
    random = np.random.RandomState(0)
    first, last = common.new_layer(random, 64, WIDTH), common.new_layer(random, WIDTH, 10)
    layers = [common.new_layer(random, WIDTH, WIDTH) for _ in range(depth)]
    blocks = [make_block(layers[i:i + BLOCK], depth) for i in range(0, depth, BLOCK)]
    if way == "recompute":
        blocks = [recompute(block) for block in blocks]
    variables = sum(layers, first + last)

    def step(images, labels):
        def loss():
            x = common.dense(images, first)
            for block in blocks:
                x = block(x)
            return common.cross_entropy(labels, common.dense(x, last))
        value, gradients = value_and_gradients(loss, variables)
        return value, tf.sqrt(sum(tf.reduce_sum(gradient * gradient) for gradient in gradients))
    return common.compiled(step)


def peak():
    """The largest resident memory so far, in MB."""
    with open("/proc/self/status") as stream:
        return [int(line.split()[1]) / 1024. for line in stream if line.startswith("VmHWM")][0]


def measure(way, depths):
    """For each depth: MB of the peak, seconds, loss and norm of the gradients. To be called in a new process."""
    images, labels = [np.concatenate([array] * COPIES) for array in common.load_digits()[:2]]
    found = []
    with common.new_world():
        steps = [make_step(way, depth) for depth in depths]
        for step in steps:  # builds them
            step(images[:2], labels[:2])
        before = peak()
        for step in steps:  # from small to large, so that each peak is that of its own depth
            start = time.time()
            loss, norm = step(images, labels)
            found.append({"megabytes": round(peak() - before, 1), "seconds": round(time.time() - start, 2),
                          "loss": float(loss), "norm": float(norm)})
    return found


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    common.add_json(parser)
    parser.add_argument("--depths", type=int, nargs="+", default=[8, 16, 32, 64])
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)  # the process that measures it
    options = parser.parse_args(argv)
    depths = sorted(options.depths)
    if options.way:
        print(json.dumps(measure(options.way, depths)))
        return
    numbers = {"depths": depths}
    for way in WAYS:
        command = [sys.executable, __file__, "--way", way, "--depths"] + [str(depth) for depth in depths]
        numbers[way] = json.loads(subprocess.check_output(command).decode().splitlines()[-1])
    print("%-8s%-18s%-18s%s" % ("layers", "plain", "recompute", "difference of the gradients' norms"))
    for depth, plain, ours in zip(depths, numbers["plain"], numbers["recompute"]):
        print("%-8d%-18s%-18s%.1e" % ((depth,) + tuple(
            "%.0f MB %.2f s" % (one["megabytes"], one["seconds"]) for one in (plain, ours)) + (abs(plain["norm"] - ours["norm"]),)))
    if options.json:
        common.write_json(options.json, "recompute_memory", numbers)


if __name__ == "__main__":
    main()
