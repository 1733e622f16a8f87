"""Real data for the demo: 1,797 handwritten digits of 8 x 8 pixels (source and licence: `digits.txt`).

Everything random comes from one fixed seed through the legacy generator of numpy, whose stream never changes, so
that every release trains on the same numbers in the same order.
"""
from __future__ import absolute_import, division, print_function

import gzip
import io
import pkgutil

import numpy as np

TRAINING_IMAGES = 1500
BATCH = 50
STEPS_PER_EPOCH = TRAINING_IMAGES // BATCH
HIDDEN = 64


def load():
    """Returns (training images, their labels, held-out images, their labels).

    Images are float64 of shape [n, 64] between 0 and 1, labels int64 of shape [n].
    """
    packed = io.BytesIO(pkgutil.get_data(__name__, "digits.csv.gz"))
    with gzip.GzipFile(fileobj=packed) as unpacked:
        rows = np.loadtxt(unpacked, delimiter=",")
    rows = rows[np.random.RandomState(0).permutation(len(rows))]
    images, labels = rows[:, :64] / 16., rows[:, 64].astype(np.int64)
    return images[:TRAINING_IMAGES], labels[:TRAINING_IMAGES], images[TRAINING_IMAGES:], labels[TRAINING_IMAGES:]


def starting_weights():
    """The weights and biases before training: [64, HIDDEN], [HIDDEN], [HIDDEN, 10], [10], float64."""
    random = np.random.RandomState(1)
    return [random.uniform(-1., 1., (64, HIDDEN)), np.zeros(HIDDEN),
            random.uniform(-1., 1., (HIDDEN, 10)), np.zeros(10)]


def batches(steps):
    """Yields (epoch, indices of the training images) `steps` times; each epoch has an order of its own."""
    random = np.random.RandomState(2)
    for step in range(steps):
        epoch, position = divmod(step, STEPS_PER_EPOCH)
        if position == 0:
            order = random.permutation(TRAINING_IMAGES)
        yield epoch, order[position * BATCH:(position + 1) * BATCH]
