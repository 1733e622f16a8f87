"""The demo's training in numpy float64, its backward pass written by hand: the demo must give these losses.

It shares no code with the package and uses no TensorFlow: data order, starting weights and formulas are repeated here.
Run as a program, it prints the module of the package that holds the first 50 losses:

    python tests/digits_oracle.py > tfgradcompat/tools/digits_losses.py
"""
from __future__ import absolute_import, division, print_function

import gzip
import os

import numpy as np

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "tfgradcompat", "tools", "digits.csv.gz")


def read(path):
    with gzip.open(path) as file:
        rows = np.array([line.split(b",") for line in file.read().split()]).astype(np.float64)
    rows = rows[np.random.RandomState(0).permutation(1797)]
    return rows[:, :-1] / 16., rows[:, -1].astype(int)


def sign(w):
    return np.where(w >= 0., 1., -1.)


def train(steps=50, path=DATA, clip=0.005, gate=1., report=None):
    """Returns (losses, accuracy on the 297 held-out images); other `clip` and `gate` show that both matter."""
    images, labels = read(path)
    random = np.random.RandomState(1)
    w1 = random.uniform(-1., 1., (64, 64))
    w2 = random.uniform(-1., 1., (64, 10))
    b1, b2 = np.zeros(64), np.zeros(10)
    shuffle = np.random.RandomState(2)
    losses = []
    for step in range(steps):
        if step % 30 == 0:
            order = shuffle.permutation(1500)
        batch = order[step % 30 * 50:][:50]
        x, one_hot = images[batch], np.eye(10)[labels[batch]]

        hidden = np.tanh(x.dot(sign(w1)) / 4. + b1)
        logits = hidden.dot(sign(w2)) / 4. + b2
        logits -= logits.max(axis=1, keepdims=True)
        log_softmax = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        losses.append(-(one_hot * log_softmax).sum() / 50.)

        d_logits = (np.exp(log_softmax) - one_hot) / 50.
        d_hidden = d_logits.dot(sign(w2).T) / 4.
        d_clipped = np.minimum(np.maximum(d_hidden, -clip), clip)
        d_before_tanh = d_clipped * (1. - hidden * hidden)
        rate = 6. * 0.8 ** (step // 30)
        if report is not None:
            report(w1, w2, d_hidden)
        w2_gradient = hidden.T.dot(d_logits) / 4. * (np.abs(w2) <= gate)
        w1_gradient = x.T.dot(d_before_tanh) / 4. * (np.abs(w1) <= gate)
        w1, b1 = w1 - rate * w1_gradient, b1 - rate * d_before_tanh.sum(axis=0)
        w2, b2 = w2 - rate * w2_gradient, b2 - rate * d_logits.sum(axis=0)
    held_out = np.tanh(images[1500:].dot(sign(w1)) / 4. + b1).dot(sign(w2)) / 4. + b2
    return losses, np.mean(held_out.argmax(axis=1) == labels[1500:])


if __name__ == "__main__":
    print('"""The losses of the first 50 training steps, as ``python tests/digits_oracle.py`` prints them."""\n')
    print("LOSSES = [")
    for loss in train()[0]:
        print("    %.12f," % loss)
    print("]")
