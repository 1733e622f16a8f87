"""Runs the well-known custom gradients, then trains on real digits, and compares both with numbers made elsewhere.

First each pattern in each mode that this TensorFlow has (graph, eager, function) with its expected gradient; then a
digit classifier with binary weights (straight-through gradient) and a gradient clipped between its layers, whose
losses are compared with those of a program written in numpy. With a wrong gradient there is no training.

The exit status is 0 when all gradients are right, the losses agree, and the final accuracy on images that were
not trained on is above its floor; 2 without TensorFlow.
"""
from __future__ import absolute_import, division, print_function

import os
import platform
import sys
import time

import numpy as np

from .digits_losses import LOSSES
from .progress import Bar

TOLERANCE = 1e-6


def add_arguments(parser):
    parser.add_argument("--epochs", type=positive, default=10, help="training epochs (default: %(default)s)")


def positive(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def run(arguments):
    """Prints the report and returns the exit status: 0 when everything is right, 1 otherwise, 2 without TensorFlow."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # read when TensorFlow is imported
    from .. import loading, route
    try:
        tf = loading.load().tf
    except ImportError as error:
        print(error, file=sys.stderr)
        return 2
    from . import modes

    print("TensorFlow %s, Python %s, route %s, modes: %s" % (
        tf.__version__, platform.python_version(), route(), ", ".join(modes.available_modes())))
    failures = check_patterns() or check_training(arguments.epochs)  # nothing to train with wrong gradients
    print("\n%s" % ("all right" if not failures else "WRONG: " + "; ".join(failures)))
    return 1 if failures else 0


def check_patterns():
    """Prints a table of all patterns in all modes and returns a list of what is wrong."""
    from . import modes, patterns

    failures = []
    for mode in modes.available_modes():
        print("\n%-34s%-40s%s" % ("gradients, " + mode, "expected", "got"))
        for pattern in patterns.PATTERNS:
            outcome = patterns.check(pattern, mode)
            print("%-34s%-40s%-40s %s" % (outcome.name, show(outcome.expected), show(outcome.got),
                                          "ok" if outcome.ok else "WRONG"))
            if not outcome.ok:
                failures.append("%s (%s)" % (outcome.name.strip(), mode))
    return failures


def show(arrays):
    """Arrays on one line, a few digits each; None where there is none."""
    return ", ".join(str(array) if array is None else number_text(array) for array in arrays)


def number_text(array):
    if np.ndim(array) == 0:
        return "%.7g" % array
    rows = [number_text(row) for row in array]
    if len(rows) > 1 and np.ndim(array) > 1 and len(set(rows)) == 1:
        return "%d x %s" % (len(rows), rows[0])
    return "[%s]" % ", ".join(rows)


def accuracy_floor(epochs):
    """The least accuracy on held-out images that counts as success (numpy reaches 0.80, 0.86, 0.93, ... 0.95)."""
    return 0.7 if epochs < 3 else 0.9


def check_training(epochs):
    """Trains, prints loss and accuracy of each epoch, and returns a list of what is wrong."""
    from . import digits, modes, training

    mode = modes.available_modes()[0]
    print("\n%-8s%-12s%-12sseconds   (binary weights, clipped gradient, %d digits, %s)" % (
        "epoch", "mean loss", "accuracy", digits.TRAINING_IMAGES, mode))
    held_out_images, held_out_labels = digits.load()[2:]
    bar = Bar(epochs * digits.STEPS_PER_EPOCH, "training")
    accuracies = []
    start = time.time()

    def after_step(trainer, losses):
        bar.advance()
        epoch, rest = divmod(len(losses), digits.STEPS_PER_EPOCH)
        if rest == 0:
            bar.wipe()
            accuracies.append(trainer.accuracy(held_out_images, held_out_labels))
            print("%-8d%-12.4f%-12.4f%.1f" % (
                epoch, np.mean(losses[-digits.STEPS_PER_EPOCH:]), accuracies[-1], time.time() - start))

    losses = training.train(epochs * digits.STEPS_PER_EPOCH, mode, after_step)
    return check_losses(losses) + check_accuracy(accuracies[-1], epochs)


def check_losses(losses):
    """Compares with the numbers of the numpy program."""
    oracle = LOSSES[:len(losses)]
    difference = np.max(np.abs(np.subtract(losses[:len(oracle)], oracle)))
    print("largest difference from numpy in the first %d losses: %.1e (at most %.0e)" % (
        len(oracle), difference, TOLERANCE))
    return [] if difference <= TOLERANCE else ["losses differ from numpy"]


def check_accuracy(accuracy, epochs):
    floor = accuracy_floor(epochs)
    print("accuracy on held-out images: %.4f (at least %.2f)" % (accuracy, floor))
    return [] if accuracy >= floor else ["accuracy below its floor"]
