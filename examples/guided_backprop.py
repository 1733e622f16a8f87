"""What a network looks at: guided backpropagation against plain gradients (Springenberg et al. 2015, arXiv 1412.6806).

    python examples/guided_backprop.py [--json FILE] [--epochs 10]

A small convolutional network learns digits. Then the gradient of its best class with respect to the pixels is taken
twice: as it is, and with rectifiers that hand back only what is positive. The second way shows cleaner strokes, since it
leaves out everything that speaks against the class. It also shows less of which class was asked for, and how much
less is printed too (Adebayo et al. 2018, arXiv 1810.03292).
"""
from __future__ import absolute_import, division, print_function

import argparse

import numpy as np
import tensorflow as tf

import common
from tfgradcompat import guided_backprop, minimize, value_and_gradients

BATCH = 50
SHOWN = 10  # images in the picture: one of each digit


def make_network(random):
    """A function from images to logits, and its variables."""
    filters = [common.weights(random, 3, 3, 1, 16), common.weights(random, 3, 3, 16, 32)]
    layer = common.new_layer(random, 8 * 8 * 32, 10)

    def logits(images):
        x = tf.reshape(images, [-1, 8, 8, 1])
        for kernel in filters:
            x = tf.nn.relu(tf.nn.conv2d(x, kernel, strides=[1, 1, 1, 1], padding="SAME"))
        return common.dense(tf.reshape(x, [-1, 8 * 8 * 32]), layer)
    return logits, filters + layer


def train(logits, variables, images, labels, epochs, random):
    optimizer = common.v1.train.AdamOptimizer(0.002)
    step = common.compiled(lambda images, labels: minimize(
        optimizer, lambda: common.cross_entropy(labels, logits(images)), variables))
    for _ in range(epochs):
        for batch in common.batches(random, len(images), BATCH):
            step(images[batch], labels[batch])


def plain_saliency(logits, images, rank=0):
    """The gradient, with respect to the images, of the logit that is the best but `rank` for each."""
    def score(images):
        return tf.reduce_sum(tf.nn.top_k(logits(images), rank + 1)[0][:, rank])
    return value_and_gradients(score, images)[1]


def guided_saliency(logits, images, rank=0):
    """The same where the rectifiers that `logits` makes hand back only what is positive."""
    def guided_logits(images):
        with guided_backprop():
            return logits(images)
    return plain_saliency(guided_logits, images, rank)


def correlation(maps, others):
    """The mean correlation of the pixels of two lists of maps."""
    return float(np.mean([np.corrcoef(a, b)[0, 1] for a, b in zip(maps, others)]))


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    common.add_json(parser)
    parser.add_argument("--epochs", type=int, default=10)
    options = parser.parse_args(argv)
    random = np.random.RandomState(0)
    images, labels, test_images, test_labels = common.load_digits()
    with common.new_world():
        logits, variables = make_network(random)
        train(logits, variables, images, labels, options.epochs, random)
        predicted = common.compiled(lambda images: tf.argmax(logits(images), 1))(test_images)
        maps = {}
        for name, saliency in (("plain", plain_saliency), ("guided", guided_saliency)):
            maps[name] = [common.compiled(lambda images: saliency(logits, images, rank))(test_images) for rank in (0, 1)]
    numbers = {"accuracy": float(np.mean(predicted == test_labels)), "ink": float(np.mean(test_images > 0.))}
    print("accuracy on held-out digits: %.3f; %.0f %% of their pixels have ink" % (numbers["accuracy"], 100. * numbers["ink"]))
    shown = [int(np.flatnonzero(test_labels == digit)[0]) for digit in range(SHOWN)]
    numbers["images"] = np.round(test_images[shown], 3).tolist()
    for name, (best, second) in sorted(maps.items()):
        strength = np.abs(best)
        numbers[name] = {
            "on ink": float(np.mean(np.sum(strength * (test_images > 0.), 1) / np.sum(strength, 1))),
            "like the image": correlation(strength, test_images),
            "like the second class": correlation(best, second),
            "negative": float(np.mean(np.sum(np.maximum(-best, 0.), 1) / np.sum(strength, 1))),
            "maps": np.round(best[shown], 3).tolist()}
        print("%-8s%3.0f %% of the gradient on ink, %3.0f %% of it negative, correlation with the image %.2f, "
              "with the map of the second best class %.2f" % (
                  name, 100. * numbers[name]["on ink"], 100. * numbers[name]["negative"], numbers[name]["like the image"],
                  numbers[name]["like the second class"]))
    if options.json:
        common.write_json(options.json, "guided_backprop", numbers)


if __name__ == "__main__":
    main()
