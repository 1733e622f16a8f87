"""A network whose weights and activations are -1 or 1, trained by straight-through gradients.

    python examples/binarised_network.py [--json FILE] [--epochs 20] [--seeds 0 1 2]

The derivative of the sign is 0, so a network of signs has nothing to learn from. `straight_through` lets the gradient
pass as if there were no sign (Bengio et al. 2013, arXiv 1308.3432); for activations, it passes only where they are not
far from 0: `surrogate` gives the sign the gradient of a clipped line (Courbariaux et al. 2016, arXiv 1602.02830).
Beside these stand the same network with the true gradient, and the same without any sign.
"""
from __future__ import absolute_import, division, print_function

import argparse

import numpy as np
import tensorflow as tf

import common
from tfgradcompat import minimize, straight_through, surrogate

BATCH = 50
HIDDEN = 256
SHOWN = 24  # hidden units in the picture


def clipped_line(x):
    return tf.clip_by_value(x, -1., 1.)


#: What becomes of weights and of activations.
WAYS = {
    "straight-through": (straight_through(tf.sign), surrogate(tf.sign, clipped_line)),
    "true gradient": (tf.sign, tf.sign),
    "not binarised": (tf.identity, clipped_line),
}


class Network(object):
    """Two layers of weights. Each sum is divided by a constant, which makes the gradients a size that can be learned from."""

    def __init__(self, random, way):
        self.binarise_weights, self.binarise = WAYS[way]
        self.first = tf.Variable(random.uniform(-1., 1., (64, HIDDEN)).astype(np.float32))
        self.second = tf.Variable(random.uniform(-1., 1., (HIDDEN, 10)).astype(np.float32))

    def logits(self, images):
        hidden = self.binarise(tf.matmul(2. * images - 1., self.binarise_weights(self.first)) / 8.)
        return tf.matmul(hidden, self.binarise_weights(self.second)) / 16.


def train(seed, way, epochs):
    """Trains; returns the accuracy on held-out digits before and after each epoch, and the weights of the first layer."""
    random = np.random.RandomState(seed)
    images, labels, test_images, test_labels = common.load_digits()
    with common.new_world():
        network = Network(random, way)
        variables = [network.first, network.second]
        optimizer = common.v1.train.AdamOptimizer(0.002)
        step = common.compiled(lambda images, labels: minimize(
            optimizer, lambda: common.cross_entropy(labels, network.logits(images)), variables))
        predict = common.compiled(lambda images: tf.argmax(network.logits(images), 1))
        accuracies = [np.mean(predict(test_images) == test_labels)]
        for _ in range(epochs):
            for batch in common.batches(random, len(images), BATCH):
                step(images[batch], labels[batch])
            accuracies.append(np.mean(predict(test_images) == test_labels))
        used = common.compiled(lambda: network.binarise_weights(network.first))()
    return [round(float(a), 4) for a in accuracies], used


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    common.add_json(parser)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    options = parser.parse_args(argv)
    numbers = {"epochs": options.epochs, "seeds": options.seeds, "accuracies": {}}
    print("%-20s%-24s%s" % ("", "accuracy before", "after %d epochs (mean of %d seeds)" % (options.epochs, len(options.seeds))))
    for way in ("not binarised", "straight-through", "true gradient"):
        trained = [train(seed, way, options.epochs) for seed in options.seeds]
        curves = numbers["accuracies"][way] = [accuracies for accuracies, _ in trained]
        print("%-20s%-24.3f%.3f" % (way, np.mean([curve[0] for curve in curves]), np.mean([curve[-1] for curve in curves])))
        if way == "straight-through":
            used = trained[0][1]
            numbers["values of weights"] = sorted(set(used.ravel().tolist()))
            numbers["weights"] = used[:, :SHOWN].T.astype(int).tolist()
    if options.json:
        common.write_json(options.json, "binarised_network", numbers)


if __name__ == "__main__":
    main()
