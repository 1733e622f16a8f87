# -*- coding: utf-8 -*-
"""Section 4 of docs/contract.md: gradients."""
from __future__ import absolute_import, division, print_function

import numpy as np
import pytest
import tensorflow as tf

import harness
from harness import IndexedSlices, VERSION, check, gradients_of, same, v1
from tfgradcompat import custom_grad


def returning(make, forward=lambda x: x * 1):
    """A decorated function whose gradient is what `make(dy, x)` gives."""
    @custom_grad
    def f(x):
        return forward(x), lambda dy: make(dy, x)
    return f


# ------------------------------------------------------------------------------------------------ 4.1 what a gradient may be
@pytest.mark.clause("4.1")
@pytest.mark.parametrize("make, x, expected", [
    (lambda dy, x: np.full((2,), 5., np.float32), [1., 2.], [5., 5.]),
    (lambda dy, x: [np.float32([3., 4.])], [1., 2.], [3., 4.]),
    (lambda dy, x: 5., 1., 5.),
    (lambda dy, x: 5, 1., 5.),
    (lambda dy, x: np.float32(5.), 1., 5.),
    (lambda dy, x: tf.constant([5., 6.]), [1., 2.], [5., 6.]),
    (lambda dy, x: dy, [1., 2.], [1., 1.]),
    (lambda dy, x: x, [1., 2.], [1., 2.]),
    (lambda dy, x: None, [1., 2.], None),
], ids=["array", "array in a list", "float", "int", "numpy scalar", "constant", "dy itself", "the input", "None"])
def test_kinds_of_gradients(mode, make, x, expected):
    check(mode, returning(make), [x], [expected])


@pytest.mark.clause("4.1")
@pytest.mark.needs("sparse_gradients")
def test_indexed_slices_stay_sparse(mode):
    def make(dy, x):
        return IndexedSlices(values=5. * tf.reshape(dy, [1]), indices=tf.constant([1]), dense_shape=tf.constant([3]))

    check(mode, returning(make, lambda x: x[1]), [[1., 2., 3.]], [[0., 5., 0.]], value=2.)
    assert mode.last_sparse == [True]


@pytest.mark.clause("4.1")
@pytest.mark.needs("sparse_gradients")
def test_indexed_slices_without_a_dense_shape(mode):
    def make(dy, x):
        return IndexedSlices(values=tf.stack([dy, 10. * dy]), indices=tf.constant([1, 1]))

    check(mode, returning(make, lambda x: x[1]), [[1., 2., 3.]], [[0., 11., 0.]])


@pytest.mark.clause("4.1")
def test_indexed_slices_beside_a_dense_path(mode):
    def make(dy, x):
        return IndexedSlices(values=5. * tf.reshape(dy, [1]), indices=tf.constant([1]), dense_shape=tf.constant([3]))

    f = returning(make, lambda x: x[1])
    check(mode, lambda x: f(x) + tf.reduce_sum(x), [[1., 2., 3.]], [[1., 6., 1.]])


# ----------------------------------------------------------------------------------------------------------------- 4.2 casts
@pytest.mark.clause("4.2")
@pytest.mark.parametrize("dtype, make", [
    (np.float32, lambda dy, x: np.full((2,), 5.)),
    (np.float32, lambda dy, x: tf.cast(5. * dy, tf.float64)),
    (np.float32, lambda dy, x: tf.cast(5. * dy, tf.float16)),
    (np.float64, lambda dy, x: np.full((2,), 5., np.float32)),
    (np.float64, lambda dy, x: tf.cast(dy, tf.float32) * 5.),
    (np.float16, lambda dy, x: tf.cast(dy, tf.float32) * 5.),
    (np.float16, lambda dy, x: np.full((2,), 5.)),
    (np.complex64, lambda dy, x: tf.constant([5., 5.])),
    (np.complex64, lambda dy, x: np.full((2,), 5.)),
    (np.complex128, lambda dy, x: tf.cast(dy, tf.complex64) * 5.),
], ids=["float64 array", "float64", "float16", "float32 array for float64", "float32 for float64", "float32 for float16",
        "float64 array for float16", "real for complex", "real array for complex", "complex64 for complex128"])
def test_floats_are_cast(mode, dtype, make):
    x = np.array([1, 2], dtype)
    [gradient] = mode.gradients(returning(make), x, upstream=[[1, 1]])
    assert gradient.dtype == dtype
    np.testing.assert_array_equal(gradient, [5, 5])


@pytest.mark.clause("4.2")
def test_slices_are_cast(mode):
    def make(dy, x):
        return IndexedSlices(values=tf.constant([5.], tf.float64), indices=tf.constant([1]), dense_shape=tf.constant([3]))

    f = returning(make, lambda x: x[1])
    check(mode, lambda x: f(x) + tf.reduce_sum(x), [[1., 2., 3.]], [[1., 6., 1.]])


@pytest.mark.clause("4.2")
@pytest.mark.parametrize("make", [
    lambda dy, x: tf.complex(dy, dy),
    lambda dy, x: np.full((2,), 5. + 1.j),
    lambda dy, x: np.full((2,), 5. + 0.j, np.complex64),
    lambda dy, x: tf.constant([5, 5]),
    lambda dy, x: tf.constant([True, False]),
    lambda dy, x: tf.constant(["a", "b"]),
], ids=["complex", "complex array", "complex array without an imaginary part", "integers", "booleans", "strings"])
def test_other_dtypes_are_type_errors(mode, make):
    with pytest.raises(TypeError) as error:
        mode.gradients(returning(make), [1., 2.])
    assert "float32" in str(error.value)


# ------------------------------------------------------------------------------------------------------------- 4.3 broadcasts
def counting(shape):
    """1, 2, 3, ... in this shape."""
    return np.arange(1., 1. + np.prod(shape, dtype=int)).reshape(shape).astype(np.float32)


def summed(gradient, shape):
    """What is left of a gradient when all broadcast axes are summed: the definition, in numpy."""
    gradient = np.asarray(gradient, np.float64)
    gradient = gradient.sum(axis=tuple(range(gradient.ndim - len(shape))))
    axes = tuple(i for i, size in enumerate(shape) if size == 1)
    return gradient.sum(axis=axes, keepdims=True) if axes else gradient


BROADCASTS = [((), (3,)), ((), (2, 3)), ((3,), (2, 3)), ((1, 3), (2, 3)), ((2, 1), (2, 3)), ((1,), (3,)), ((1, 1), (2, 3)),
              ((1,), (2, 3)), ((3,), (4, 2, 3)), ((2, 1), (4, 2, 3)), ((), (1,)), ((1,), (1, 1))]


@pytest.mark.clause("4.3")
@pytest.mark.parametrize("inner, outer", BROADCASTS, ids=["%s to %s" % pair for pair in BROADCASTS])
def test_broadcast_gradients_are_summed(mode, inner, outer):
    if (inner, outer) == ((2, 1), (2, 3)):  # the definition by hand, once: rows 1 + 2 + 3 and 4 + 5 + 6
        np.testing.assert_array_equal(summed(counting(outer), inner), [[6.], [15.]])
    upstream = counting(outer)
    f = returning(lambda dy, x: dy * 2., lambda x: x + np.zeros(outer, np.float32))
    check(mode, f, [counting(inner)], [summed(2. * upstream, inner)], upstream=[upstream])


@pytest.mark.clause("4.3")
@pytest.mark.parametrize("inner, outer", BROADCASTS[:7], ids=["%s to %s" % pair for pair in BROADCASTS[:7]])
def test_broadcast_gradients_are_summed_at_run_time(mode, inner, outer):
    @custom_grad
    def f(x, z):
        return x * z, lambda dy: (dy * z, dy * x)

    x, z = counting(inner), counting(outer)
    check(mode, f, [x, z], [summed(z, inner), np.broadcast_to(x, outer)], shapes=["unknown", "unknown"])


@pytest.mark.clause("4.3")
@pytest.mark.parametrize("inner, unknown", [((1, 3), (None, 3)), ((2, 1), (2, None)), ((1,), (None,)), ((1, 1), (None, None))],
                         ids=["rows", "columns", "vector", "both"])
def test_an_unknown_dimension_of_a_gradient_may_be_a_broadcast_one(mode, inner, unknown):
    # the input's dimension is known to be 1, and only the run tells that the gradient's is not
    @custom_grad
    def f(x, z):
        return x * z, lambda dy: (dy * z, dy * x)

    x, z = counting(inner), counting((2, 3)[:len(inner)])
    check(mode, f, [x, z], [summed(z, inner), np.broadcast_to(x, z.shape)], shapes=[inner, unknown])


@pytest.mark.clause("4.3")
def test_an_unknown_dimension_may_be_a_broadcast_one(mode):
    @custom_grad
    def f(x, z):
        return x * z, lambda dy: (dy * z, dy * x)

    x, z = counting((1, 3)), counting((2, 3))
    check(mode, f, [x, z], [summed(z, (1, 3)), np.broadcast_to(x, (2, 3))], shapes=[(None, 3), (2, 3)])


MISMATCHES = [((3,), ()), ((2, 3), (3, 2)), ((3,), (1,)), ((2, 3), (3,)), ((3,), (4,)), ((2,), (2, 3)), ((1, 3), (2, 4)), ((2, 3), ()),
              ((2, 1), (3, 1))]


def of_shape(shape):
    """A gradient of this static shape that depends on dy."""
    return lambda dy, x: tf.reduce_sum(dy) + np.zeros(shape, np.float32)


@pytest.mark.clause("4.3")
@pytest.mark.parametrize("inner, wrong", MISMATCHES, ids=["%s got %s" % pair for pair in MISMATCHES])
def test_other_shapes_are_value_errors(mode, inner, wrong):
    with pytest.raises(ValueError) as error:
        mode.gradients(returning(of_shape(wrong)), counting(inner))
    text = str(error.value).replace("[", "(").replace("]", ")").replace(",)", ")")
    assert str(inner).replace(",)", ")") in text and str(wrong).replace(",)", ")") in text, text


@pytest.mark.clause("4.3")
def test_a_number_for_a_vector_is_a_value_error(mode):
    with pytest.raises(ValueError):
        mode.gradients(returning(lambda dy, x: 5.), [1., 2., 3.])


@pytest.mark.clause("4.3")
@pytest.mark.parametrize("inner, make", [
    ((3,), lambda dy, x: tf.reduce_sum(dy)),
    ((2, 3), lambda dy, x: tf.transpose(dy)),
    ((3,), lambda dy, x: tf.reshape(dy, [1, 3, 1])),
], ids=["a scalar", "transposed", "another rank"])
def test_other_shapes_are_errors_when_they_run(mode, inner, make):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        mode.gradients(returning(make), counting(inner), shapes=["unknown"])


@pytest.mark.clause("4.3")
@pytest.mark.parametrize("shape", ["unknown", (None, None), (None, 3)], ids=str)
def test_unknown_shapes_that_agree(mode, shape):
    check(mode, returning(lambda dy, x: dy * 5.), [counting((2, 3))], [np.full((2, 3), 5.)], shapes=[shape])


@pytest.mark.clause("4.3")
@pytest.mark.needs("in_graph")
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (None, 3), (None, None)], ids=str)
def test_no_check_where_the_shapes_agree(mode, shape):
    f = returning(lambda dy, x: dy * 5.)
    with tf.Graph().as_default() as graph:
        x, dy = v1.placeholder(tf.float32, shape), v1.placeholder(tf.float32, shape)
        y = f(x)
        before = set(op.name for op in graph.get_operations())
        v1.gradients([y], [x], [dy])
        added = [op.type for op in graph.get_operations() if op.name not in before]
    for word in ("Assert", "Shape", "Sum", "Broadcast", "Equal", "Cast", "Switch", "If", "Cond", "Reshape", "Concat", "Slice"):
        assert not [kind for kind in added if word in kind], added
    assert added.count("Mul") == 1 and len(added) <= 10, added


# ------------------------------------------------------------------------------------------------------------ 4.4 integers
@pytest.mark.clause("4.4")
@pytest.mark.parametrize("make", [
    lambda dy, idx: None,
    lambda dy, idx: tf.zeros_like(idx),
    lambda dy, idx: dy,
    lambda dy, idx: 0,
    lambda dy, idx: np.ones((7, 7)),
], ids=["None", "integer zeros", "a float gradient", "a number", "another shape"])
def test_integers_get_none(mode, make):
    @custom_grad
    def pick(x, idx):
        return tf.gather(x, idx), lambda dy: (tf.one_hot(idx, 2) * dy, make(dy, idx))

    check(mode, pick, [[1., 2.], 1], [[0., 1.], None], value=2.)


@pytest.mark.clause("4.4")
def test_booleans_and_strings_get_none(mode):
    @custom_grad
    def f(x, flag, name):
        return x * tf.cast(flag, tf.float32), lambda dy: (5. * dy, None, None)

    check(mode, lambda x: f(x, tf.constant(True), tf.constant("name")), [2.], [5.], value=2.)


# -------------------------------------------------------------------------------------------------------- 4.5 higher orders
@pytest.mark.clause("4.5")
@pytest.mark.needs("higher_order")
@pytest.mark.parametrize("f, x, expected", [
    # in_grad = 3 x^2 dy: 12, then 6 x = 12, then 6
    (lambda x: (x * x * x, lambda dy: dy * 3. * x * x), 2., [12., 12., 6.]),
    # not the true derivative: 5 x dy of x^2: 10, then 5
    (lambda x: (x * x, lambda dy: 5. * x * dy), 2., [10., 5.]),
    # linear: 7, and then nothing
    (lambda x: (x * x, lambda dy: 7. * dy), 2., [7., None]),
], ids=["cube", "custom all the way", "linear"])
def test_through_inputs(mode, f, x, expected):
    got = mode.higher(custom_grad(f), len(expected), x)
    for gradients, value in zip(got, expected):
        if value is None:  # a constant: no operation connects it, or one whose gradient is zero
            assert gradients[0] is None or gradients[0] == 0.
        else:
            same(gradients, [value])


@pytest.mark.clause("4.5")
@pytest.mark.needs("higher_order")
def test_through_the_output(mode):
    # y = exp(x) with in_grad = dy * y, captured: all orders are e
    def f(x):
        y = tf.exp(x)
        return y, lambda dy: dy * y

    for gradients in mode.higher(custom_grad(f), 3, 1.):
        same(gradients, [np.exp(1.)], rtol=1e-5)


@pytest.mark.clause("4.5")
@pytest.mark.needs("higher_order")
def test_through_a_captured_value_of_the_forward_pass(mode):
    # s = x^2 is captured: in_grad = s dy = 4, then 2 x = 4, then 2
    def f(x):
        s = x * x
        return s * 3., lambda dy: dy * s

    got = mode.higher(custom_grad(f), 3, 2.)
    for gradients, value in zip(got, [4., 4., 2.]):
        same(gradients, [value])


@pytest.mark.clause("4.5")
@pytest.mark.needs("higher_order")
def test_through_dy(mode):
    # loss f(x)^2 at x = 3, in_grad = 3 dy: dy = 2 x, so 6 x = 18; that is 3 * 2 f(x), whose gradient is 6 * 3 = 18, a constant
    @custom_grad
    def f(x):
        return x * 1., lambda dy: 3. * dy

    first, second = mode.higher(lambda x: square(f(x)), 2, 3.)
    same(first, [18.])
    same(second, [18.])


@pytest.mark.clause("4.5")
@pytest.mark.needs("higher_order")
def test_through_dy_that_is_squared(mode):
    # loss y^2 with y = f(x) = x = 3 and in_grad = dy^2. First: dy = 2 y = 6, squared 36. Second: what arrives at f is
    # d(2 y)^2/dy = 8 y = 24, squared 576. Third: d(8 y)^2/dy = 128 y = 384, squared 147456.
    @custom_grad
    def f(x):
        return x * 1., lambda dy: dy * dy

    first, second, third = mode.higher(lambda x: square(f(x)), 3, 3.)
    same(first, [36.])
    same(second, [576.])
    same(third, [147456.])


def square(y):
    return y * y


@pytest.mark.clause("4.5")
@pytest.mark.needs("higher_order")
def test_two_inputs(mode):
    # in_grad = (2 y dy, 3 x dy): first (10, 6) at (2, 5); their sum 2 y + 3 x gives (3, 2)
    @custom_grad
    def f(x, y):
        return x * y, lambda dy: (2. * y * dy, 3. * x * dy)

    first, second = mode.higher(f, 2, 2., 5.)
    same(first, [10., 6.])
    same(second, [3., 2.])


@pytest.mark.clause("4.5")
@pytest.mark.needs("higher_order")
def test_two_outputs(mode):
    # outputs x and x^2 with in_grad = dy0 x^2 + dy1 x: first x^2 + x = 6, then 2 x + 1 = 5
    @custom_grad
    def f(x):
        return (x * 1., x * x), lambda d0, d1: d0 * x * x + d1 * x

    first, second = mode.higher(f, 2, 2.)
    same(first, [6.])
    same(second, [5.])


@pytest.mark.clause("4.5")
@pytest.mark.needs("higher_order")
def test_a_decorated_function_inside_in_grad(mode):
    # inner is 2 x with a gradient of 7; in_grad = dy * inner(x): first 2 x = 6, then 7
    @custom_grad
    def inner(x):
        return x * 2., lambda dy: 7. * dy

    @custom_grad
    def outer(x):
        return x * 1., lambda dy: dy * inner(x)

    first, second = mode.higher(outer, 2, 3.)
    same(first, [6.])
    same(second, [7.])


@pytest.mark.clause("4.5")
@pytest.mark.needs("higher_order")
def test_the_function_itself_inside_in_grad(mode):
    # f is sin with cos = f(x + pi/2) as its derivative: cos, -sin, -cos
    @custom_grad
    def f(x):
        return tf.sin(x), lambda dy: dy * f(x + np.float32(np.pi / 2.))

    got = mode.higher(f, 3, .5)
    for gradients, value in zip(got, [np.cos(.5), -np.sin(.5), -np.cos(.5)]):
        same(gradients, [value], rtol=1e-5)


@pytest.mark.clause("4.5")
@pytest.mark.needs("higher_order")
def test_through_a_sum_over_broadcast_axes(mode):
    # w scalar, x vector: in_grad for w = x^2 dy, summed: first 1 + 4 = 5 for w; d(sum)/dx = 2 x from it
    @custom_grad
    def f(w, x):
        return w * x, lambda dy: (x * x * dy, None)

    first, second = mode.higher(f, 2, 3., [1., 2.])
    assert first[0] == 5. and (first[1] is None or not first[1].any())
    assert second[0] is None or second[0] == 0.
    np.testing.assert_allclose(second[1], [2., 4.])


# ----------------------------------------------------------------------------------------------------------- 4.6 nothing asked
@custom_grad
def nine(x):
    return x * 2., lambda dy: 9. * dy


@pytest.mark.clause("4.6")
def test_stopped(mode):
    check(mode, lambda x: tf.stop_gradient(nine(x)) + 0. * tf.stop_gradient(x), [1.], [None], value=2.)
    check(mode, lambda x: nine(tf.stop_gradient(x)), [1.], [None], value=2.)


@pytest.mark.clause("4.6")
def test_an_input_that_is_not_asked_for(mode):
    @custom_grad
    def f(x, y):
        return x * y, lambda dy: (2. * dy, 3. * dy)

    check(mode, f, [1., 1.], [3.], wrt=[1])
    check(mode, lambda x, y: f(x, tf.constant(1.)), [1., 1.], [2., None])


@pytest.mark.clause("4.6")
@pytest.mark.needs("uses_tape")
def test_unwatched(mode):
    @custom_grad
    def f(x, y):
        return x * y, lambda dy: (2. * dy, 3. * dy)

    g = mode.wrap(f)

    def program(x, y):
        with harness.GradientTape() as none:
            z = g(x, y)
        with harness.GradientTape() as one:
            one.watch(y)
            u = g(x, y)
        return none.gradient(z, [x, y]) + one.gradient(u, [x, y])

    assert mode.execute(program, 1., 1.) == [None, None, None, 3.]


@pytest.mark.clause("4.6")
@pytest.mark.skipif(VERSION < (1, 13), reason="unconnected_gradients came with TensorFlow 1.13 (4.6)")
def test_unconnected_gradients(mode):
    @custom_grad
    def f(x, y):
        return x + y, lambda dy: (dy * 2., None)

    zero = tf.UnconnectedGradients.ZERO
    f = mode.wrap(f) if not mode.in_graph else f

    def program(x, y):
        if mode.in_graph:
            return v1.gradients(f(x, y), [x, y], unconnected_gradients=zero)
        with tf.GradientTape() as tape:
            tape.watch(x)
            tape.watch(y)
            z = f(x, y)
        return tape.gradient(z, [x, y], unconnected_gradients=zero)

    assert mode.execute(program, 1., 1.) == [2., 0.]


@pytest.mark.clause("4.6")
@pytest.mark.needs("uses_tape")
def test_persistent_tape(mode):
    f = mode.wrap(nine)

    def program(x):
        with harness.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = f(x)
            z = y * y
        return [tape.gradient(y, [x])[0], tape.gradient(y, [x])[0], tape.gradient(z, [x])[0], tape.gradient(z, [y])[0]]

    assert mode.execute(program, 1.) == [9., 9., 36., 4.]  # dz/dx = 2 y * 9


@pytest.mark.clause("4.6")
@pytest.mark.needs("in_graph")
def test_gradients_asked_twice_in_one_graph(mode):
    def program(x):
        y = nine(x)
        z = y * y
        return gradients_of(y, [x]) + gradients_of(y, [x]) + gradients_of(z, [x, y])

    assert mode.execute(program, 1.) == [9., 9., 36., 4.]


@pytest.mark.clause("4.6")
@pytest.mark.needs("uses_tape")
def test_two_tapes(mode):
    f = mode.wrap(nine)

    def program(x, y):
        with harness.GradientTape() as first:
            first.watch(x)
            with harness.GradientTape() as second:
                second.watch(y)
                z = f(x) * f(y)
        return first.gradient(z, [x]) + second.gradient(z, [y])

    assert mode.execute(program, 1., 2.) == [36., 18.]  # 9 * 2 y and 9 * 2 x
