# -*- coding: utf-8 -*-
"""Section 10 of docs/contract.md: functions with the gradient of another one."""
from __future__ import absolute_import, division, print_function

import numpy as np
import pytest
import tensorflow as tf

from harness import VERSION, check, right_or_error, same, variable
from tfgradcompat import straight_through, surrogate


def sign(x):
    return tf.cast(x > 0., x.dtype) * 2. - 1.


@pytest.mark.clause("10.8")
def test_straight_through(mode):
    x = np.array([123456789., 0.3, 2.5, -0.2], np.float32)
    check(mode, lambda x: straight_through(tf.round)(x) * 3., [x], [[3.] * 4], value=3. * np.array([123456789., 0., 2., -0.], np.float32))
    check(mode, straight_through(sign), [variable([0.3, -2.])], [[1., 1.]], value=[1., -1.])
    if mode.higher_order:
        _, second = mode.higher(lambda x: straight_through(tf.round)(x)**2, 2, [1.2])
        same(second, [np.array([2.])])  # of 2 round(x)


@pytest.mark.clause("10.8")
@pytest.mark.needs("unconnected_variables")
def test_straight_through_keeps_to_its_first_argument(mode):
    @straight_through
    def quantized(x, steps, offset=0.):
        """Rounds."""
        return tf.round(x["a"] * steps) / steps + offset

    assert quantized.__name__ == "quantized" and quantized.__doc__ == "Rounds."
    check(mode, lambda x, steps, w: quantized({"a": x}, steps, offset=w), [[0.3], 2., variable([1.])], [[1.], None, None], value=[1.5])


@pytest.mark.clause("10.9")
def test_surrogate(mode):
    spike = surrogate(lambda x: tf.cast(x > 0., tf.float32), lambda x: x / (1. + tf.abs(x)))
    check(mode, spike, [[-1., 3.]], [[1 / 4., 1 / 16.]], value=[0., 1.])
    if mode.higher_order:  # 1 / (1 + |x|)^2 has the derivative -2 sign(x) / (1 + |x|)^3
        same(mode.higher(spike, 2, [-1., 3.])[1], [np.array([1 / 4., -1 / 32.])])


@pytest.mark.clause("10.9")
def test_the_value_is_exact_whatever_the_surrogate_is(mode):
    x = np.array([123456789., 0.3, -1.], np.float32)
    check(mode, surrogate(tf.round, lambda x: x * 1e-3), [x], [[1e-3] * 3], value=np.round(x))
    check(mode, surrogate(tf.negative, lambda x: x / 0.), [x], [[np.inf] * 3], value=-x)


@pytest.mark.clause("10.9")
def test_variables_of_a_surrogate(mode):
    def f(x, w):
        @surrogates_of(lambda x: x * w)
        def step(x):
            return sign(x * w)
        return step(x)

    surrogates_of = lambda b: lambda f: surrogate(f, b)
    check(mode, f, [[1., -2.], variable(3.)], [[3., 3.], -1.], value=[1., -1.])


@pytest.mark.clause("10.9")
def test_nests_of_a_surrogate(mode):
    def f(x, y):
        given = surrogate(lambda x, y: {"sum": tf.round(x + y), "n": [tf.constant(7), tf.sign(y)]},
                          lambda x, y: {"sum": x * y, "n": [tf.constant(8), 2. * y]})(x, y=y)
        return 10. * given["sum"] + given["n"][1], given["n"][0]

    # In functions of 1.8 to 1.10 TensorFlow may take a zero of another graph for the unused output: see docs/limits.md.
    right_or_error(VERSION >= (1, 11) or not mode.in_function, lambda: check(mode, f, [1.3, 3.], [30., 15.], value=[41., 7]))


@pytest.mark.clause("10.9")
@pytest.mark.needs("autograph")
def test_functions_given_to_a_surrogate_are_converted(mode):
    def f(x):
        if tf.reduce_sum(x) > 0.:
            x = x * 10.
        return x

    check(mode, lambda x: straight_through(f)(x), [[1., 2.]], [[1., 1.]], value=[10., 20.])
