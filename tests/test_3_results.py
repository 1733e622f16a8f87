# -*- coding: utf-8 -*-
"""Section 3 of docs/contract.md: results."""
from __future__ import absolute_import, division, print_function

import collections

import numpy as np
import pytest
import tensorflow as tf

import harness
from harness import IndexedSlices, VERSION, check, is_tensor, right_or_error, v1
from tfgradcompat import custom_grad

Pair = collections.namedtuple("Pair", "u v")


class Box(object):
    """What `attr.s` makes, as far as TensorFlow's nests look at it."""

    class _Attribute(object):
        def __init__(self, name):
            self.name = name

    __attrs_attrs__ = (_Attribute("u"), _Attribute("v"))

    def __init__(self, u, v):
        self.u, self.v = u, v


# ---------------------------------------------------------------------------------------------------- 3.1 the result as it is
@pytest.mark.clause("3.1")
@pytest.mark.parametrize("pack, unpack", [
    (lambda a, b: [a, b], lambda n: (n[0], n[1])),
    (lambda a, b: (a, b), lambda n: (n[0], n[1])),
    (Pair, lambda n: (n.u, n.v)),
    (lambda a, b: {"u": a, "v": b}, lambda n: (n["u"], n["v"])),
    (lambda a, b: collections.OrderedDict([("u", a), ("v", b)]), lambda n: (n["u"], n["v"])),
    (Box, lambda n: (n.u, n.v)),
    (lambda a, b: [[a], {"k": (b,)}, []], lambda n: (n[0][0], n[1]["k"][0])),
], ids=["list", "tuple", "namedtuple", "dict", "ordered dict", "attrs", "nested"])
def test_nest_as_result(mode, pack, unpack):
    types = []

    @custom_grad
    def f(x):
        return pack(x * 2., x * 3.), lambda du, dv: 5. * du + 7. * dv

    def program(x):
        result = f(x)
        types.append(type(result))
        return unpack(result)

    check(mode, program, [1.], [75.], value=(2., 3.), upstream=[1., 10.])  # 5 * 1 + 7 * 10
    assert set(types) == {type(pack(1, 2))}


@pytest.mark.clause("3.1")
@pytest.mark.parametrize("make", [lambda y: [y], lambda y: (y,), lambda y: {"only": y}], ids=["list", "tuple", "dict"])
def test_nest_of_one(mode, make):
    types = []

    @custom_grad
    def f(x):
        return make(x * 2.), lambda dy: 5. * dy

    def program(x):
        result = f(x)
        types.append((type(result), len(result)))
        return result

    check(mode, program, [1.], [5.], value=2.)
    assert set(types) == {(type(make(1)), 1)}


@pytest.mark.clause("3.1")
def test_what_is_no_tensor_stays_and_has_no_dy(mode):
    marker, seen = object(), []

    @custom_grad
    def f(x):
        def grad(*dys):
            seen.append(len(dys))
            return 5. * dys[0] + 7. * dys[1]
        return [None, x * 2., 3, "text", {"a": marker, "b": x * 3.}, 1.5], grad

    def program(x):
        none, u, three, text, nest, number = f(x)
        seen.append((none, three, type(three), text, nest["a"] is marker, number, type(number)))
        return u, nest["b"]

    check(mode, program, [1.], [12.], value=(2., 3.))
    assert set(seen) == {2, (None, 3, int, "text", True, 1.5, float)}


@pytest.mark.clause("3.1")
def test_the_input_itself(mode):
    @custom_grad
    def f(x):
        return x, lambda dy: 9. * dy

    check(mode, f, [1.], [9.], value=1.)
    check(mode, lambda x: f(x) + x, [1.], [10.], value=2.)  # the input itself is not changed by the call
    check(mode, lambda x: f(f(x)), [1.], [81.], value=1.)


@pytest.mark.clause("3.1")
def test_the_inputs_themselves_in_another_order(mode):
    @custom_grad
    def swap(x, y):
        return (y, x), lambda dy, dx: (2. * dx, 3. * dy)

    check(mode, swap, [1., 5.], [20., 3.], value=(5., 1.), upstream=[1., 10.])


@pytest.mark.clause("3.1")
def test_the_same_tensor_twice(mode):
    @custom_grad
    def f(x):
        y = x * 2.
        return [y, y], lambda da, db: 3. * da + 5. * db

    check(mode, f, [1.], [53.], value=[2., 2.], upstream=[1., 10.])


@pytest.mark.clause("3.1")
def test_the_argument_list_itself(mode):
    @custom_grad
    def f(pair):
        return pair, lambda da, db: [2. * da, 3. * db]

    check(mode, lambda x, y: f([x, y]), [1., 2.], [2., 30.], value=[1., 2.], upstream=[1., 10.])


@pytest.mark.clause("3.1")
@pytest.mark.parametrize("shape", [(None, 3), (None, None), (2, 3), "unknown"], ids=str)
def test_static_shapes_are_kept(mode, shape):
    pairs = []

    @custom_grad
    def f(x):
        y = x * 2.
        pairs.append([y.get_shape()])
        return y, lambda dy: 5. * dy

    def program(x):
        y = f(x)
        pairs[-1].append(y.get_shape())
        return y

    check(mode, program, [np.ones((2, 3), np.float32)], [np.full((2, 3), 5.)], shapes=[shape])
    for inside, outside in pairs:
        assert inside.ndims == outside.ndims
        if inside.ndims is not None:
            assert inside.as_list() == outside.as_list()


@pytest.mark.clause("3.1")
@pytest.mark.needs("boolean_outputs")
def test_dtypes_are_kept(mode):
    dtypes = []

    @custom_grad
    def f(x):
        return (tf.cast(x, tf.float64), tf.cast(x, tf.int64), x > 0.), lambda d, di, db: tf.cast(5. * d, tf.float32)

    def program(x):
        result = f(x)
        dtypes.append(tuple(t.dtype.name for t in result))
        return result

    check(mode, program, [[1., 2.]], [[5., 5.]])
    assert set(dtypes) == {("float64", "int64", "bool")}


@pytest.mark.clause("3.1")
def test_an_ordered_dictionary_keeps_its_order(mode):
    # the order of its own for whoever reads it; the dys come by sorted key all the same
    keys = []

    @custom_grad
    def f(named):
        keys.append(list(named))
        result = collections.OrderedDict([("z", named["b"] * 2.), ("y", named["a"] * 3.)])
        return result, lambda dy, dz: {"a": 5. * dy, "b": 7. * dz}

    def program(x, y):
        result = f(collections.OrderedDict([("b", x), ("a", y)]))
        keys.append(list(result))
        return result["z"], result["y"]

    check(mode, program, [1., 1.], [7., 50.], value=(2., 3.), upstream=[1., 10.])
    assert set(map(tuple, keys)) == {("b", "a"), ("z", "y")}


@pytest.mark.clause("3.1")
def test_array_as_result_becomes_a_tensor(mode):
    seen = []

    @custom_grad
    def f(x):
        return (np.array([1., 2.], np.float32), x * 1.), lambda da, db: 5. * db + tf.reduce_sum(da)

    def program(x):
        result = f(x)
        seen.append(is_tensor(result[0]))
        return result[0] * 3., result[1]

    check(mode, program, [1.], [11.], value=([3., 6.], 1.))  # 5 + 3 + 3
    assert set(seen) == {True}


@pytest.mark.clause("3.1")
def test_sparse_tensor_as_result(mode):
    types = []

    @custom_grad
    def f(x):
        sparse = tf.SparseTensor(tf.constant([[0, 0], [1, 1]], tf.int64), x * 2., tf.constant([2, 2], tf.int64))
        return [sparse, x * 3.], lambda d_values, dy: 5. * d_values + 7. * dy

    def program(x):
        sparse, y = f(x)
        types.append(type(sparse).__name__)
        return sparse.values, y

    check(mode, program, [[1., 2.]], [[75., 75.]], value=([2., 4.], [3., 6.]), upstream=[[1., 1.], [10., 10.]])
    assert set(types) == {"SparseTensor"}


@pytest.mark.clause("3.1")
@pytest.mark.skipif(VERSION < (1, 13), reason="RaggedTensor came with TensorFlow 1.13 (3.1)")
def test_ragged_tensor_as_result(mode):
    types = []

    @custom_grad
    def f(x):
        return tf.RaggedTensor.from_row_splits(x * 2., tf.constant([0, 2, 3], tf.int64)), lambda d_values: 5. * d_values

    def program(x):
        rows = f(x)
        types.append(type(rows).__name__)
        return rows.flat_values

    check(mode, program, [[1., 2., 3.]], [[5., 5., 5.]], value=[2., 4., 6.])
    assert set(types) == {"RaggedTensor"}


# ------------------------------------------------------------------------------------------------------ 3.2 one dy per output
@pytest.mark.clause("3.2")
def test_dys_come_in_the_order_of_sorted_keys(mode):
    @custom_grad
    def f(x):
        return {"b": x * 5., "a": x * 2.}, lambda da, db: 2. * da + 5. * db

    check(mode, lambda x: (lambda o: o["a"] + 10. * o["b"])(f(x)), [1.], [52.])


@pytest.mark.clause("3.2")
def test_dys_of_a_nest(mode):
    @custom_grad
    def f(x):
        return [(x * 1.,), {"z": x * 3., "y": [x * 2.]}], lambda d1, d2, d3: d1 + 20. * d2 + 300. * d3

    check(mode, lambda x: (lambda n: n[0][0] + 2. * n[1]["y"][0] + 4. * n[1]["z"])(f(x)), [1.], [1241.])


@pytest.mark.clause("3.2")
@pytest.mark.parametrize("used, expected", [(0, [2., 2.]), (1, [3., 3.]), (2, [5., 5.])])
def test_zeros_for_an_output_the_loss_does_not_use(mode, used, expected):
    seen = []

    @custom_grad
    def f(x):
        def grad(*dys):
            seen.extend(is_tensor(dy) for dy in dys)
            return 2. * dys[0] + 3. * dys[1] + 5. * dys[2]
        return (x * 2., x * 3., x * 5.), grad

    # up to 1.10 a tape inside a function takes the zeros that it made for another function out of its cache: TensorFlow fails
    right_or_error(not (mode.in_function and mode.tape_inside and VERSION <= (1, 10)), lambda: check(
        mode, lambda x: f(x)[used], [[1., 2.]], [expected]))
    assert all(seen)


@pytest.mark.clause("3.2")
def test_zeros_have_the_shape_and_dtype_of_their_output(mode):
    seen = []

    @custom_grad
    def f(x):
        def grad(dy, dz):
            seen.append((dz.dtype.base_dtype, tuple(dz.get_shape().as_list())))
            return dy * (2. + tf.cast(tf.reduce_sum(dz), tf.float32))
        return (x * 2., tf.ones([4, 2], tf.float64) * tf.cast(x[0], tf.float64)), grad

    check(mode, lambda x: f(x)[0], [[1., 2.]], [[2., 2.]])
    assert set(seen) == {(tf.float64, (4, 2))}


MAKES_BFLOAT16_FROM = (1, 8)  # before it TensorFlow itself makes no bfloat16 zeros in eager mode


# For an unused bfloat16 output the releases to 1.15 hand over None where they hand over zeros for others.
has_bfloat16 = pytest.mark.skipif(not tf.bfloat16.is_floating, reason="TensorFlow 0.12-1.4 takes bfloat16 for no floating dtype (3.2)")


@custom_grad
def with_a_bfloat16_output(x):
    def grad(dy, dz):
        assert dz.dtype.base_dtype == tf.bfloat16 and dz.get_shape().as_list() == [2, 2]
        return dy * 3. + tf.reduce_sum(tf.cast(dz, tf.float32))

    return (x * 2., tf.cast(tf.stack([x, x]), tf.bfloat16)), grad


@pytest.mark.clause("3.2")
@has_bfloat16
def test_zeros_of_a_dtype_that_tensorflow_does_not_train(mode):
    right_or_error(mode.in_graph or VERSION >= MAKES_BFLOAT16_FROM, lambda: check(
        mode, lambda x: with_a_bfloat16_output(x)[0], [[1., 2.]], [[3., 3.]], value=[2., 4.]))


@pytest.mark.clause("3.2")
@pytest.mark.needs("control_flow")
@has_bfloat16
def test_zeros_of_such_a_dtype_in_a_branch(mode):
    def program(x):
        return tf.cond(tf.reduce_sum(x) > 0., lambda: with_a_bfloat16_output(x)[0], lambda: x)

    right_or_error(mode.in_graph or VERSION >= MAKES_BFLOAT16_FROM, lambda: check(
        mode, program, [[1., 2.]], [[3., 3.]], value=[2., 4.]))


@pytest.mark.clause("3.2")
def test_an_output_without_a_derivative_gets_none(mode):
    seen = []

    @custom_grad
    def f(x):
        def grad(dv, di, db, ds):
            seen.append((is_tensor(dv), di, db, ds))
            return 5. * dv * tf.ones_like(x)
        return (tf.reduce_max(x, 0), tf.shape(x)[0], x > 1., tf.constant("text")), grad

    check(mode, lambda x: f(x)[0], [[1., 2.]], [[5., 5.]])
    assert set(seen) == {(True, None, None, None)}


@pytest.mark.clause("3.2")
def test_only_an_integer_output(mode):
    @custom_grad
    def f(x):
        return tf.cast(x, tf.int32), lambda dy: None

    check(mode, lambda x: tf.cast(f(x), tf.float32), [[1., 2.]], [None], value=[1., 2.])


@pytest.mark.clause("3.2")
def test_an_integer_output_that_is_used_as_an_index(mode):
    @custom_grad
    def f(x):
        return (x * 1., tf.cast(tf.shape(x)[0] - 1, tf.int32)), lambda dy, di: 5. * dy

    def program(x):
        y, last = f(x)
        return y[last]

    check(mode, program, [[1., 2., 4.]], [[0., 0., 5.]], value=4.)


@pytest.mark.clause("3.2")
def test_sparse_upstream_is_made_dense(mode):
    seen = []

    @custom_grad
    def f(x):
        def grad(dy):
            seen.append((isinstance(dy, IndexedSlices), dy.get_shape().as_list()))
            return dy * 2.
        return x * 1., grad

    # twice the same row: its upstream gradients add up
    check(mode, lambda x: tf.gather(f(x), [1, 1]), [[1., 2., 3.]], [[0., 4., 0.]])
    check(mode, lambda x: tf.gather(f(x), [0]), [np.ones((3, 2), np.float32)], [[[2., 2.], [0., 0.], [0., 0.]]])
    assert set(map(repr, seen)) == {repr((False, [3])), repr((False, [3, 2]))}


@pytest.mark.clause("3.2")
@pytest.mark.parametrize("shape", [(None, 3), (2, 3)], ids=str)
def test_static_shape_and_dtype_of_dy(mode, shape):
    seen = []

    @custom_grad
    def f(x):
        y = tf.cast(x, tf.float64) * 2.

        def grad(dy):
            seen.append((dy.dtype.base_dtype, dy.get_shape().as_list() == y.get_shape().as_list()))
            return tf.cast(dy, tf.float32) * 5.

        return y, grad

    # through a sum the upstream gradient's own static shape would be lost on older releases
    check(mode, lambda x: tf.reduce_sum(f(x)), [np.ones((2, 3), np.float32)], [np.full((2, 3), 5.)], shapes=[shape])
    assert set(seen) == {(tf.float64, True)}


@pytest.mark.clause("3.2")
def test_the_upstream_gradients_add_up(mode):
    calls = []

    @custom_grad
    def f(x):
        def grad(dy):
            calls.append(1)
            return dy * dy
        return x * 1., grad

    def program(x):
        y = f(x)
        return y * 2. + y * 3.

    check(mode, program, [1.], [25.])  # (2 + 3)^2, not 2^2 + 3^2: in_grad runs once, on the sum
    assert len(calls) == 1 or mode.in_function


@pytest.mark.clause("3.2")
def test_complex_output(mode):
    # real part of (1 + 2i) x, whose gradient here is 3 * the real part of dy
    @custom_grad
    def f(x):
        return tf.complex(x, 2. * x), lambda dy: 3. * v1.real(dy) if VERSION < (1, 13) else 3. * tf.math.real(dy)

    real = v1.real if VERSION < (1, 13) else tf.math.real
    check(mode, lambda x: real(f(x)), [5.], [3.], value=5.)


@pytest.mark.clause("3.1")
@pytest.mark.parametrize("result", [np.float32(6.), np.array(6., np.float32)], ids=["scalar", "array"])
def test_a_numpy_result_is_a_tensor_with_the_gradient(mode, result):
    @custom_grad
    def g(x):
        return result, lambda dy: 5. * dy

    def program(x):
        y = g(x)
        assert is_tensor(y)
        return y

    check(mode, program, [3.], [5.], value=6.)


@pytest.mark.clause("3.1")
@pytest.mark.skipif(not harness.EAGER, reason="in graphs of TensorFlow 0.12-1.15 no tape is opened after a call (3.1)")
@pytest.mark.parametrize("pack", [lambda x: x, lambda x: [x]], ids=["alone", "in a list"])
def test_a_result_of_a_call_outside_of_a_tape_is_not_the_argument(pack):
    # As in tf.custom_gradient: a tape that is opened later finds no way from what was handed through back to x.
    f = custom_grad(lambda x: (pack(x), lambda dy: 5. * dy))
    x = tf.constant(3.)
    [y] = harness.flatten(f(x))[0]
    with harness.GradientTape() as tape:
        tape.watch(x)
        z = y * 2.
    assert tape.gradient(z, [x]) == [None]  # before 1.8 a list is wanted
