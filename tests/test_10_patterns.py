# -*- coding: utf-8 -*-
"""What people write by hand, one test per pattern, and the numbers that it must give: with the decorator and ready-made.

`ci/patterns.py` makes the table of docs/migrating.md from what these tests did in a run of the matrix.
"""
from __future__ import absolute_import, division, print_function

import numpy as np
import pytest
import tensorflow as tf

from harness import VERSION, check, compiled_function, new_session, same, v1, variable
from tfgradcompat import (
    clip_gradient_by_norm, clip_gradient_by_value, custom_grad, minimize, override_gradient, print_gradient, py_func,
    reverse_gradient, scale_gradient, straight_through, surrogate, transforms)

pattern = pytest.mark.pattern
MATRIX = [[1., 2.], [3., 4.]]


@pattern("scale a gradient")
def test_scale(mode):
    @custom_grad
    def scaled(x):
        return x, lambda dy: 5. * dy

    check(mode, scaled, [[1., 2.]], [[5., 5.]], value=[1., 2.])
    check(mode, lambda x: scale_gradient(x, 5.), [[1., 2.]], [[5., 5.]], value=[1., 2.])


@pattern("reverse a gradient")
def test_reverse(mode):
    @custom_grad
    def reversed_(x):
        return x, lambda dy: -2. * dy

    check(mode, reversed_, [[1., 2.]], [[-2., -2.]], value=[1., 2.])
    check(mode, lambda x: reverse_gradient(x, 2.), [[1., 2.]], [[-2., -2.]], value=[1., 2.])


@pattern("clip a gradient by value")
def test_clip_by_value(mode, kind):
    @custom_grad
    def clipped(x):
        return x, lambda dy: tf.clip_by_value(dy, -0.1, 0.1)

    v = lambda: variable([3.], kind)
    check(mode, clipped, [v()], [[0.1]], value=[3.])
    check(mode, lambda x: clip_gradient_by_value(x, -0.1, 0.1), [v()], [[0.1]], value=[3.])
    check(mode, tf.identity, [v()], [[1.]])  # and without


@pattern("clip a gradient by norm, between matmuls")
def test_clip_by_norm(mode):
    def by_hand(x, norm):
        return custom_grad(lambda x: (x, lambda dy: tf.clip_by_norm(dy, norm)))(x)

    # The gradient of sum(x y) with respect to x is ones y^T. Clipping x to norm 1 scales it to norm 1, whatever clips y; clipping
    # x y scales the gradient of sum((x y) y) with respect to x y, which is ones y^T too, before it is multiplied by y^T again.
    y = np.array(MATRIX)
    plain = np.ones([2, 2]).dot(y.T)
    clipped = plain / np.sqrt((plain**2).sum())
    between = clipped.dot(y.T)
    np.testing.assert_allclose(plain, [[3., 7.]] * 2)
    np.testing.assert_allclose(clipped, [[0.278543, 0.6499337]] * 2, rtol=1e-6)
    np.testing.assert_allclose(between, [[1.57841039, 3.43536377]] * 2, rtol=1e-6)
    for clip in (by_hand, clip_gradient_by_norm):
        check(mode, lambda x: tf.matmul(x, y.astype("f")), [MATRIX], [plain])
        check(mode, lambda x, y: tf.matmul(clip(x, 1.), clip(y, 0.5)), [MATRIX, MATRIX], [clipped], wrt=[0])
        check(mode, lambda x, y: tf.matmul(clip(tf.matmul(x, y), 1.), y), [MATRIX, MATRIX], [between], wrt=[0])


@pattern("numpy code in the graph, with a gradient")
def test_py_func(mode):
    shapes = []

    def square(x, **gradient):
        y = py_func(np.square, [x], tf.float32, shape=[3], **gradient)
        shapes.append((y.dtype, y.get_shape().as_list()))
        return y

    check(mode, lambda x: square(x, grad=lambda op, dy: 2. * op.inputs[0] * dy), [[1., 2., 3.]], [[2., 4., 6.]], value=[1., 4., 9.])
    check(mode, lambda x: square(x, grad_py=lambda inputs, outputs, dys: 2. * inputs[0] * dys[0]), [[1., 2., 3.]], [[2., 4., 6.]],
          value=[1., 4., 9.])
    assert set((dtype, tuple(shape)) for dtype, shape in shapes) == set([(tf.float32, (3,))])


@pattern("another function's gradient")
def test_another_functions_gradient(mode):
    x = np.array([123456789., 0.3], np.float32)
    by_hand = custom_grad(lambda x: (tf.round(x), lambda dy: dy))
    for f in (by_hand, straight_through(tf.round), surrogate(tf.round, tf.identity)):
        value, gradients = mode.value_and_gradients(f, x)
        np.testing.assert_array_equal(value, np.array([123456789., 0.], np.float32))  # not the rounding of b + (f - b)
        same(gradients, [[1., 1.]])


@pattern("a ReLU with a clipped gradient")
def test_relu(mode):
    @custom_grad
    def clipped_relu(x):
        return tf.nn.relu(x), lambda dy: tf.clip_by_value(dy, -5., 5.)

    check(mode, clipped_relu, [[-1., 2.]], [[5., 5.]], value=[0., 2.], upstream=[[10., 10.]])


@pattern("several inputs")
def test_several_inputs(mode):
    @custom_grad
    def weighted_sum(x, y, weight):
        def in_grad(dy):
            return dy * weight, dy * (1. - weight), dy * (x - y)
        return x * weight + y * (1. - weight), in_grad

    check(mode, weighted_sum, [[1., 2.], [3., 5.], [.25, .5]], [[.25, .5], [.75, .5], [-2., -3.]], value=[2.5, 3.5])
    # a scalar weight gets the sum
    check(mode, weighted_sum, [[1., 2.], [3., 5.], .25], [[.25, .25], [.75, .75], -5.], value=[2.5, 4.25])


@pattern("a built-in operation's gradient")
def test_override(mode):
    def guided(op, dy):
        return tf.where(dy > 0., tf.where(op.outputs[0] > 0., dy, tf.zeros_like(dy)), tf.zeros_like(dy))

    def by_override(x):
        with override_gradient({"Relu": guided}):
            return tf.nn.relu(x)

    @custom_grad
    def decorated(x):
        y = tf.nn.relu(x)
        return y, lambda dy: tf.where(dy > 0., tf.where(y > 0., dy, tf.zeros_like(dy)), tf.zeros_like(dy))

    expected = dict(gradients=[[1., 0., 0.]], value=[1., 0., 2.], upstream=[[1., 1., -1.]])
    check(mode, decorated, [[1., -1., 2.]], **expected)
    if mode.builds:
        check(mode, by_override, [[1., -1., 2.]], **expected)
    else:
        with pytest.raises(RuntimeError, match="eager mode"):
            by_override(tf.constant([1., -1., 2.]))


@pattern("compute, change, apply")
@pytest.mark.needs("takes_steps")
def test_minimize(mode):
    # w - 0.1 * min(2 w, 0.5) for w = 1
    options = dict(transform=transforms.clip_by_norm(0.5))
    w = variable(1.)
    if mode.in_graph:
        with tf.Graph().as_default() as graph:
            w = w.make(mode)
            step = minimize(v1.train.GradientDescentOptimizer(0.1), w**2., [w], **options)
            with new_session(graph) as session:
                session.run(v1.global_variables_initializer())
                session.run(step)
                after = session.run(w)
    else:
        w = w.make(mode)
        optimizer = v1.train.GradientDescentOptimizer(0.1)
        step = lambda: minimize(optimizer, lambda: w**2., [w], **options)
        (compiled_function(step, mode.autograph) if mode.in_function else step)()
        after = w.numpy()
    np.testing.assert_allclose(after, 0.95, rtol=1e-6)


@pattern("look at a gradient")
def test_print(mode, capfd):
    check(mode, lambda x: 3. * print_gradient(x, "gradient of x:"), [[1., 2.]], [[3., 3.]], value=[3., 6.])
    # Up to 1.4 `tf.Print` writes to TensorFlow's log, which is off here.
    assert capfd.readouterr().err.count("gradient of x:") == (0 if VERSION < (1, 5) else 1)


@pattern("variables inside the function")
def test_variables_inside(mode, kind):
    def inside(x, w):
        @custom_grad
        def product(x):
            value = tf.convert_to_tensor(w)

            def in_grad(dy, variables=None):
                return dy * value, [dy * x for _ in variables]
            return x * value, in_grad
        return product(x)

    @custom_grad
    def outside(x, w):
        return x * w, lambda dy: (dy * w, dy * x)

    for f in (inside, outside):
        check(mode, f, [2., variable(3., kind)], [3., 2.], value=6.)
