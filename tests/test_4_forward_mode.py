# -*- coding: utf-8 -*-
"""Clause 4.7 of docs/contract.md: derivatives that TensorFlow makes of gradients, jacobians and forward mode."""
from __future__ import absolute_import, division, print_function

import numpy as np
import pytest
import tensorflow as tf

import harness
from harness import VERSION, right_or_error, same, v1, variable
from tfgradcompat import clip_gradient_by_value, custom_grad

pytestmark = pytest.mark.clause("4.7")
has_jacobians = pytest.mark.skipif(
    VERSION < (1, 14), reason="no tape.jacobian before TensorFlow 1.14 (4.7)")
has_forward_mode = pytest.mark.skipif(
    VERSION < (2, 1), reason="TensorFlow 0.12-2.0 has no public forward mode (4.7)")
X = np.array([1., 2., 3.], np.float32)
BOTH = pytest.mark.parametrize("pfor", [True, False], ids=["pfor", "loop"])


@custom_grad
def square(x):
    """x^2, with a gradient of 5 x^2, of which the second one is 10 x."""
    return x * x, lambda dy: 5. * dy * x * x


@custom_grad
def weighted(x, y):
    """x y, with the gradients 2 and 5."""
    return x * y, lambda dy: (2. * dy, 5. * dy)


@custom_grad
def nested(x):
    """x^3, with the gradient x^2, of which the second one is 5 x^2."""
    return x * x * x, lambda dy: dy * square(x)


def has_jacobian(mode, pfor):
    """1.14 cannot run the iterations of a loop with functions in it as one, of any operation."""
    return VERSION >= (1, 15) or not pfor or mode.tape_inside or not mode.in_function


def check_jacobian(mode, f, arrays, pfor, expected, batch=False):
    """The jacobians of `f` with respect to the arguments are these."""
    f = mode.wrap(f)

    def program(*xs):
        with tf.GradientTape(persistent=mode.name == "eager" or not pfor) as tape:
            for x in xs:
                tape.watch(x)
            y = f(*xs)
        if batch:
            return [tape.batch_jacobian(y, xs[0], experimental_use_pfor=pfor)]
        return tape.jacobian(y, list(xs), experimental_use_pfor=pfor)
    right_or_error(has_jacobian(mode, pfor), lambda: same(mode.execute(program, *arrays), expected))


# ------------------------------------------------------------------------------------------------------------- jacobians
@has_jacobians
@BOTH
def test_jacobian(mode, pfor):
    # y = (x_i^2 + x_{i+1}^2): a row per element
    f = lambda x: square(x)[:2] + square(x)[1:]
    check_jacobian(mode, f, [X], pfor, [[[5., 20., 0.], [0., 20., 45.]]])


@has_jacobians
@BOTH
def test_jacobian_with_a_gradient_that_is_not_linear(mode, pfor):
    # each row is the gradient of one element, whose upstream gradient of 3 is at most 2
    f = lambda x: 3. * clip_gradient_by_value(x * x, -2., 2.)
    check_jacobian(mode, f, [X], pfor, [np.diag(4. * X)])


@has_jacobians
@BOTH
def test_jacobian_of_several_inputs(mode, pfor):
    check_jacobian(mode, weighted, [X, X], pfor, [2. * np.eye(3), 5. * np.eye(3)])


@has_jacobians
@BOTH
def test_jacobian_with_a_decorated_function_in_the_gradient(mode, pfor):
    check_jacobian(mode, nested, [X], pfor, [np.diag(X * X)])


@has_jacobians
@BOTH
def test_batch_jacobian(mode, pfor):
    rows = np.arange(1., 5., dtype=np.float32).reshape(2, 2)
    f = lambda x: tf.stack([square(x)[:, 0], square(x)[:, 0] + square(x)[:, 1]], 1)
    check_jacobian(mode, f, [rows], pfor, [[[[5. * a * a, 0.], [5. * a * a, 5. * b * b]] for a, b in rows]], batch=True)


@has_jacobians
@BOTH
def test_the_derivative_of_a_jacobian(mode, pfor):
    # The jacobian of `nested` is x^2 on the diagonal, and its derivative 5 x^2, since `square` in the gradient has that one.
    def program(x):
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(x)
                y = f(x)
            total = tf.reduce_sum(tape.jacobian(y, x, experimental_use_pfor=pfor))
        # A tape sees nothing of a loop in a plain graph, whatever is in it.
        return [total] + (harness.gradients_of(total, [x]) if mode.in_graph else [outer.gradient(total, x)])
    f = mode.wrap(nested)
    if mode.higher_order:  # else None, or an error, of any operation
        right_or_error(VERSION >= (1, 15), lambda: same(mode.execute(program, X), [14., 5. * X * X]))


@has_jacobians
@BOTH
def test_jacobian_of_a_variable(mode, pfor):
    # x w with the gradient 10 dy x for w
    def program(x, w):
        @custom_grad
        def times_w(x):
            return x * tf.convert_to_tensor(w), lambda dy, variables: (dy, [10. * tf.reduce_sum(dy * x) for _ in variables])
        with tf.GradientTape(persistent=True) as tape:
            y = mode.wrap(times_w)(x)
        return tape.jacobian(y, harness.tape_source(w), experimental_use_pfor=pfor)

    right_or_error(has_jacobian(mode, pfor), lambda: same(
        [mode.execute(program, X, variable(2., "resource"))], [10. * X]))


@pytest.mark.skipif(VERSION < (1, 15), reason="TensorFlow 0.12-1.14 has no tf.vectorized_map (4.7)")
@BOTH
def test_jacobian_of_a_map(mode, pfor):
    check_jacobian(mode, lambda x: tf.vectorized_map(harness.do_not_convert(square), x), [X], pfor, [np.diag(5. * X * X)])


# ------------------------------------------------------------------------------------------------------- persistent tapes
@pytest.mark.needs("uses_tape")
def test_a_persistent_tape_asked_for_several(mode):
    # 5 x^2, and of z = y + 3 weighted(x, y): 6 and 1 + 15 times 5 x^2
    def both(x):
        y = square(x)
        return y, y + 3. * weighted(x, y)
    f = mode.wrap(both)

    def program(x):
        with harness.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y, z = f(x)
        return [tape.gradient(y, [x])[0], tape.gradient(z, [x])[0], tape.gradient(y, [x])[0]]

    def right():
        assert mode.execute(program, 2.) == [20., 6. + 16. * 20., 20.]
    # In functions of 1.8 to 1.10 TensorFlow may take a zero of another graph for the unused output: see docs/limits.md.
    right_or_error(VERSION >= (1, 11) or not mode.in_function, right)


# ----------------------------------------------------------------------------------------------------------- forward mode
def jvp(mode, f, arrays, tangents):
    """The values of `f`, and their tangents."""
    f = mode.wrap(f)

    def program(*xs):
        with tf.autodiff.ForwardAccumulator(list(xs), [tf.constant(t) for t in tangents]) as accumulator:
            y = f(*xs)
        return [y, accumulator.jvp(y)]
    return mode.execute(program, *arrays)


@has_forward_mode
@pytest.mark.needs("uses_tape")
def test_forward_mode_is_that_of_the_gradient(mode):
    tangent = np.array([1., -2., 0.5], np.float32)
    same(jvp(mode, square, [X], [tangent]), [X * X, 5. * X * X * tangent])
    same(jvp(mode, lambda x: 3. * square(x) + x, [X], [tangent]), [3. * X * X + X, 15. * X * X * tangent + tangent])
    same(jvp(mode, lambda x: square(square(x)), [X], [tangent]), [X ** 4, 5. * X ** 4 * 5. * X * X * tangent])
    same(jvp(mode, weighted, [X, X], [tangent, 2. * tangent]), [X * X, 12. * tangent])


@has_forward_mode
@pytest.mark.needs("uses_tape")
def test_forward_mode_takes_the_gradient_at_one(mode):
    # dy^2 + 10 dy, which is not linear in dy, has the derivative 2 + 10 at one
    @custom_grad
    def f(x):
        return 2. * x, lambda dy: dy * dy + 10. * dy
    same(jvp(mode, f, [X], [X]), [2. * X, 12. * X])


@has_forward_mode
@pytest.mark.needs("uses_tape")
def test_forward_mode_with_a_variable(mode):
    # x w with the gradient 10 dy x for w, of a tangent of 0.5
    def program(x, w):
        @custom_grad
        def times_w(x):
            return x * tf.convert_to_tensor(w), lambda dy, variables: (dy, [10. * tf.reduce_sum(dy * x) for _ in variables])
        with tf.autodiff.ForwardAccumulator(harness.tape_source(w), tf.constant(0.5)) as accumulator:
            y = mode.wrap(times_w)(x)
        return accumulator.jvp(y)
    np.testing.assert_allclose(mode.execute(program, X, variable(2., "resource")), 5. * X)


@has_forward_mode
@pytest.mark.needs("uses_tape")
def test_forward_over_backward_and_backward_over_forward(mode):
    # of 5 x^2: 10 x, times the tangent
    tangent = np.array([1., -2., 0.5], np.float32)
    f = mode.wrap(square)

    def forward_over_backward(x):
        with tf.autodiff.ForwardAccumulator(x, tf.constant(tangent)) as accumulator:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            gradient = tape.gradient(y, x)
        return [gradient, accumulator.jvp(gradient)]

    def backward_over_forward(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            with tf.autodiff.ForwardAccumulator(x, tf.constant(tangent)) as accumulator:
                y = f(x)
            derivative = accumulator.jvp(y)
        return [derivative, tape.gradient(derivative, x)]

    # A tape around an accumulator around a function gets nothing, of any operation, on every TensorFlow.
    nothing = mode.in_function and not mode.tape_inside
    same(mode.execute(forward_over_backward, X), [5. * X * X, 10. * X * tangent])
    same(mode.execute(backward_over_forward, X), [5. * X * X * tangent, None if nothing else 10. * X * tangent])


@has_forward_mode
@pytest.mark.needs("uses_tape")
def test_forward_mode_through_maps_and_loops(mode):
    tangent = np.array([1., -2., 0.5], np.float32)
    same(jvp(mode, lambda x: tf.vectorized_map(harness.do_not_convert(square), x), [X], [tangent]), [X * X, 5. * X * X * tangent])
    # x^4 by a gradient of 5 x^4 5 x^2
    loop = lambda x: tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, square(x)), (0, x))[1]
    right_or_error(VERSION >= (2, 3), lambda: same(
        jvp(mode, loop, [X], [tangent]), [X ** 4, 5. * X ** 4 * 5. * X * X * tangent]))
