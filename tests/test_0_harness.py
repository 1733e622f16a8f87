# -*- coding: utf-8 -*-
"""The harness itself, on TensorFlow alone: what the other tests build on must be right before they mean anything."""
from __future__ import absolute_import, division, print_function

import numpy as np
import pytest
import tensorflow as tf

from harness import HAS_FUNCTION, variable


def test_values_and_gradients(mode):
    value, (dx, dy) = mode.value_and_gradients(lambda x, y: x * x * y, 3., 2.)
    assert value == 18. and dx == 12. and dy == 9.


def test_values_keep_the_nest(mode):
    got = mode.run(lambda x: {"a": [x, 2 * x], "b": (None, 5, "text")}, [1., 2.])
    np.testing.assert_array_equal(got["a"], [[1, 2], [2, 4]])
    assert got["b"] == (None, 5, "text")


def test_several_outputs_with_upstream(mode):
    # d(3 * 2x + 10 * x^2)/dx at 4 = 6 + 80
    [dx] = mode.gradients(lambda x: (2. * x, x * x), 4., upstream=[3., 10.])
    assert dx == 86.


def test_unused_argument_gives_none(mode):
    dx, dy = mode.gradients(lambda x, y: x * 2., 1., 1.)
    assert dx == 2. and dy is None


@pytest.mark.needs("higher_order")
def test_third_order(mode):
    first, second, third = mode.higher(lambda x: x * x * x * x, 3, 2.)
    assert (first, second, third) == ([32.], [48.], [48.])


def test_variables_of_every_kind(mode, kind):
    # x * w at x = 2, w = 3
    dx, dw = mode.gradients(lambda x, w: x * w, 2., variable(3., kind))
    assert dx == 3. and dw == 2.


@pytest.mark.needs("sparse_gradients")
def test_sparse_gradients_are_told_and_made_dense(mode):
    [dx] = mode.gradients(lambda x: tf.gather(x, [1]), [1., 2., 3.])
    np.testing.assert_array_equal(dx, [0, 1, 0])
    assert mode.last_sparse == [True]


def test_static_shapes_may_be_unknown(mode):
    seen = []

    def f(x):
        seen.append(x.get_shape().ndims)
        return x * 2.

    np.testing.assert_array_equal(mode.gradients(f, [1., 2.], shapes=["unknown"])[0], [2, 2])
    if mode.in_graph or mode.in_function and HAS_FUNCTION:
        assert seen[0] is None


def test_python_control_flow_is_where_it_is_said(mode):
    def f(x):
        if x > 0.:
            y = x * 2.
        else:
            y = x * 3.
        return y

    if mode.python_control_flow:
        assert mode.run(f, 1.) == 2. and mode.run(f, -1.) == -3.
    else:
        with pytest.raises(TypeError):
            mode.run(f, 1.)
