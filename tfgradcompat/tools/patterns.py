"""The custom gradients people write by hand, each written once with the decorator, and the numbers they must give.

The functions are ordinary user code; `PATTERNS` at the end lists inputs and expected numbers, which were worked out
by hand and not by this package.
"""
from __future__ import absolute_import, division, print_function

import collections

import numpy as np
import tensorflow as tf

from .. import custom_grad
from . import modes


@custom_grad
def scale_by_five(x):
    def in_grad(dy):
        return 5. * dy
    return tf.identity(x), in_grad


@custom_grad
def clip_by_value(x):
    def in_grad(dy):
        return tf.clip_by_value(dy, -0.1, 0.1)
    return tf.identity(x), in_grad


def clip_by_norm(x, norm):
    @custom_grad
    def clip(x):
        def in_grad(dy):
            return tf.clip_by_norm(dy, norm)
        return tf.identity(x), in_grad
    return clip(x)


def product_of_clipped(x, y):
    return tf.matmul(clip_by_norm(x, 1.0), clip_by_norm(y, 0.5))


def product_with_clipped_product(x, y):
    return tf.matmul(clip_by_norm(tf.matmul(x, y), 1.0), y)


@custom_grad
def straight_through_round(x):
    def in_grad(dy):
        return dy
    return tf.round(x), in_grad


@custom_grad
def round_with_gradient_of_square(x):
    def in_grad(dy):
        return 2. * x * dy
    return tf.round(x), in_grad


@custom_grad
def relu_with_clipped_gradient(x):
    def in_grad(dy):
        return tf.clip_by_value(dy, -5., 5.)
    return tf.nn.relu(x), in_grad


@custom_grad
def weighted_sum(x, y, weight):
    def in_grad(dy):
        return dy * weight, dy * (1. - weight), dy * (x - y)
    return x * weight + y * (1. - weight), in_grad


def product_with_variable_inside(x, w):
    @custom_grad
    def product(x):
        def in_grad(dy, variables=None):
            return dy * w, [dy * x for _ in variables]
        return x * w, in_grad
    return product(x)


@custom_grad
def product(x, w):
    def in_grad(dy):
        return dy * w, dy * x
    return x * w, in_grad


# variables: the indices of the inputs that are variables; gradients: of the first inputs, as many as are listed.
Pattern = collections.namedtuple("Pattern", "name function inputs variables dy gradients result")
Outcome = collections.namedtuple("Outcome", "name expected got ok")

MATRIX = [[1., 2.], [3., 4.]]
TWO_BY_TWO = [[1., 1.], [1., 1.]]

PATTERNS = [
    Pattern("scale by 5", scale_by_five, [[1., 2.]], (), [1., 1.], [[5., 5.]], [1., 2.]),
    Pattern("clip by value", clip_by_value, [[3.]], (0,), [1.], [[0.1]], [3.]),
    Pattern("  without clipping", tf.identity, [[3.]], (0,), [1.], [[1.]], [3.]),
    Pattern("clip by norm, x and y", product_of_clipped, [MATRIX, MATRIX], (), TWO_BY_TWO,
            [[[0.278543, 0.6499337]] * 2], [[7., 10.], [15., 22.]]),
    Pattern("clip by norm, product", product_with_clipped_product, [MATRIX, MATRIX], (), TWO_BY_TWO,
            [[[1.57841039, 3.43536377]] * 2], [[37., 54.], [81., 118.]]),
    Pattern("  without clipping", tf.matmul, [MATRIX, MATRIX], (), TWO_BY_TWO,
            [[[3., 7.]] * 2], [[7., 10.], [15., 22.]]),
    Pattern("straight-through round", straight_through_round, [[123456789., 0.3]], (), [1., 1.],
            [[1., 1.]], [123456789., 0.]),
    Pattern("another function's gradient", round_with_gradient_of_square, [[123456789., 0.3]], (), [1., 1.],
            [[246913578., 0.6]], [123456789., 0.]),
    Pattern("ReLU, clipped gradient", relu_with_clipped_gradient, [[-1., 2.]], (), [10., 10.], [[5., 5.]], [0., 2.]),
    Pattern("several inputs", weighted_sum, [[1., 2.], [3., 5.], [.25, .5]], (), [1., 1.],
            [[.25, .5], [.75, .5], [-2., -3.]], [2.5, 3.5]),
    Pattern("several inputs, scalar weight", weighted_sum, [[1., 2.], [3., 5.], .25], (), [1., 1.],
            [[.25, .25], [.75, .75], -5.], [2.5, 4.25]),
    Pattern("variable inside", product_with_variable_inside, [2., 3.], (1,), 1., [3., 2.], 6.),
    Pattern("variable as argument", product, [2., 3.], (1,), 1., [3., 2.], 6.),
]


def check(pattern, mode):
    """Runs one pattern in one mode, in float32.

    The result is compared exactly: a custom gradient changes nothing in the forward pass. Gradients may differ by
    float32 rounding.

    Returns:
      An Outcome with lists of numpy arrays (None for a missing gradient).
    """
    result, gradients = modes.result_and_gradients(
        pattern.function, [np.float32(value) for value in pattern.inputs], pattern.variables,
        np.float32(pattern.dy), mode)
    expected = [np.float32(value) for value in pattern.gradients]
    got = gradients[:len(expected)]
    ok = (np.array_equal(result, np.float32(pattern.result)) and
          all(_close(value, wanted) for value, wanted in zip(got, expected)))
    return Outcome(pattern.name, expected, got, ok)


def _close(value, wanted):
    return value is not None and np.shape(value) == np.shape(wanted) and np.allclose(value, wanted, 1e-6, 1e-6)
