# -*- coding: utf-8 -*-
"""Section 2 of docs/contract.md, clause 2.2: nests as arguments."""
from __future__ import absolute_import, division, print_function

import collections

import attr
import numpy as np
import pytest
import tensorflow as tf

from harness import VERSION, check, is_tensor, v1, variable
from tfgradcompat import custom_grad

Pair = collections.namedtuple("Pair", "left right")


class Box(object):
    """What `attr.s` makes, as far as TensorFlow's nests look at it."""

    class _Attribute(object):
        def __init__(self, name):
            self.name = name

    __attrs_attrs__ = (_Attribute("left"), _Attribute("right"))

    def __init__(self, left, right):
        self.left, self.right = left, right


NESTS = [
    ("list", lambda a, b: [a, b], lambda n: (n[0], n[1])),
    ("tuple", lambda a, b: (a, b), lambda n: (n[0], n[1])),
    ("namedtuple", Pair, lambda n: (n.left, n.right)),
    ("dict", lambda a, b: {"a": a, "b": b}, lambda n: (n["a"], n["b"])),
    ("ordered dict", lambda a, b: collections.OrderedDict([("z", b), ("y", a)]), lambda n: (n["y"], n["z"])),
    ("default dict", lambda a, b: collections.defaultdict(list, {"a": a, "b": b}), lambda n: (n["a"], n["b"])),
    ("attrs", Box, lambda n: (n.left, n.right)),
    ("list of lists", lambda a, b: [[a], [[b]]], lambda n: (n[0][0], n[1][0][0])),
    ("dict of tuples", lambda a, b: {"k": (a, 7), "l": {"m": [None, b]}}, lambda n: (n["k"][0], n["l"]["m"][1])),
    ("with empty ones", lambda a, b: [[], a, (), {}, b], lambda n: (n[1], n[4])),
]


@pytest.mark.clause("2.2")
@pytest.mark.parametrize("pack, unpack", [nest[1:] for nest in NESTS], ids=[nest[0] for nest in NESTS])
@pytest.mark.parametrize("form", ["flat", "structured"])
def test_nest_as_argument(mode, pack, unpack, form):
    seen = []

    @custom_grad
    def g(nest, k=2.):
        a, b = unpack(nest)
        seen.append((type(nest), is_tensor(a), is_tensor(b)))

        def grad(dy):
            if form == "flat":
                return 3. * dy, 4. * k * dy
            return pack(3. * dy, 4. * k * dy)

        return a * b, grad

    check(mode, lambda x, y: g(pack(x, y)), [2., 5.], [3., 8.], value=10.)
    check(mode, lambda x, y: g(k=1., nest=pack(x, y)), [2., 5.], [3., 4.], value=10.)
    assert set(seen) == {(type(pack(1, 2)), True, True)}


@pytest.mark.clause("2.2")
def test_attrs_class(mode):
    Point = attr.make_class("Point", ["x", "y"])

    @custom_grad
    def g(point):
        return point.x * point.y, lambda dy: Point(3. * dy, 4. * dy)

    check(mode, lambda x, y: g(Point(x, y)), [2., 5.], [3., 4.], value=10.)


@pytest.mark.clause("2.2")
def test_what_is_no_tensor_is_untouched(mode):
    marker, seen = object(), []
    others = (3, 2.5, True, None, "half", b"bytes", marker, len, {"no tensor": "here"}, np.float32, slice(1, 2))

    @custom_grad
    def g(x, *args, **kwargs):
        seen.append((args, kwargs))
        return x * args[0], lambda dy: 5. * dy

    check(mode, lambda x: g(x, *others, option=marker, empty=[]), [2.], [5.], value=6.)
    for args, kwargs in seen:
        assert [type(arg) for arg in args] == [type(other) for other in others]
        assert args == others
        assert args[6] is marker and kwargs["option"] is marker and kwargs["empty"] == []


@pytest.mark.clause("2.2")
def test_numpy_arrays_become_tensors(mode):
    seen = []

    @custom_grad
    def g(x, w):
        seen.append((is_tensor(w), w.dtype, w.get_shape().as_list()))
        return x * w, lambda dy: (dy * w, None)

    w = np.array([3., 4.], np.float32)
    check(mode, lambda x: g(x, w), [[1., 2.]], [[3., 4.]], value=[3., 8.])
    np.testing.assert_array_equal(w, [3., 4.])
    assert set(map(repr, seen)) == {repr((True, tf.float32, [2]))}


@pytest.mark.clause("2.2")
def test_without_any_tensor_among_the_arguments(mode):
    @custom_grad
    def g(k, name=None):
        return tf.constant([1., 2.]) * k, lambda dy: ()

    np.testing.assert_array_equal(mode.run(lambda x: [g(3.), x], 1.)[0], [3., 6.])


@pytest.mark.clause("2.2")
def test_without_any_argument(mode):
    @custom_grad
    def g():
        return tf.constant([1., 2.]), lambda dy: None

    np.testing.assert_array_equal(mode.run(lambda x: [g(), x], 1.)[0], [1., 2.])


@pytest.mark.clause("2.2")
def test_numbers_alone_give_a_number(mode):
    @custom_grad
    def g(x):
        return x * 2., lambda dy: 9. * dy

    assert mode.run(lambda x: [g(3.), x], 1.)[0] == 6.
    assert mode.run(lambda x: [g(np.float32(3.)), x], 1.)[0] == 6.


def sparse_tensor(values):
    return tf.SparseTensor(tf.constant([[0, 0], [1, 1]], tf.int64), values, tf.constant([2, 2], tf.int64))


@pytest.mark.clause("2.2")
@pytest.mark.parametrize("form", ["values", "sparse tensor"])
def test_sparse_tensor(mode, form):
    # sum of twice the values, with a gradient of three: the input is `values`
    seen = []

    @custom_grad
    def g(sparse, k):
        seen.append(type(sparse).__name__)

        def grad(dy):
            values = k * dy * tf.ones_like(sparse.values)
            return values if form == "values" else tf.SparseTensor(sparse.indices, values, tf.constant([2, 2], tf.int64))

        return tf.reduce_sum(v1.sparse_tensor_to_dense(sparse)) * 2., grad

    check(mode, lambda v: g(sparse_tensor(v), 3.), [[1., 2.]], [[3., 3.]], value=6.)
    assert set(seen) == {"SparseTensor"}


@pytest.mark.clause("2.2")
def test_sparse_tensor_in_a_nest(mode):
    @custom_grad
    def g(x, nest):
        return x * tf.reduce_sum(nest["s"][0].values), lambda dy: (2. * dy, dy * tf.constant([3., 4.]))

    check(mode, lambda x, v: g(x, {"s": [sparse_tensor(v), None]}), [5., [1., 2.]], [2., [3., 4.]], value=15.)


@pytest.mark.clause("2.2")
@pytest.mark.skipif(VERSION < (1, 13), reason="RaggedTensor came with TensorFlow 1.13 (2.2)")
@pytest.mark.parametrize("form", ["values", "ragged tensor"])
def test_ragged_tensor(mode, form):
    seen = []

    def ragged(values):
        return tf.RaggedTensor.from_row_splits(values, tf.constant([0, 2, 3], tf.int64))

    @custom_grad
    def g(rows):
        seen.append(type(rows).__name__)

        def grad(dy):
            values = 3. * dy * tf.ones_like(rows.flat_values)
            return values if form == "values" else rows.with_flat_values(values)

        return tf.reduce_sum(rows.flat_values) * 2., grad

    check(mode, lambda v: g(ragged(v)), [[1., 2., 4.]], [[3., 3., 3.]], value=14.)
    assert set(seen) == {"RaggedTensor"}


@pytest.mark.clause("2.2")
def test_variable_as_argument(mode, kind):
    seen = []

    @custom_grad
    def g(x, w):
        seen.append(isinstance(w, tf.Tensor))
        return x * w, lambda dy: (dy * w, 10. * dy * x)

    check(mode, g, [2., variable(3., kind)], [3., 20.], value=6.)
    check(mode, lambda x, w: g(w=w, x=x), [2., variable(3., kind)], [3., 20.], value=6.)
    assert set(seen) == {True}


@pytest.mark.clause("2.2")
def test_variable_in_a_nest_and_twice(mode, kind):
    @custom_grad
    def g(nest):
        return nest["a"] * nest["b"][0], lambda dy: {"a": 2. * dy, "b": [3. * dy]}

    check(mode, lambda w: g({"a": w, "b": [w]}), [variable(5., kind)], [5.], value=25.)


@pytest.mark.clause("2.2")
def test_vector_variable_and_variable_that_is_not_trained(mode, kind):
    @custom_grad
    def g(x, w, moving):
        return x * w + moving, lambda dy: (dy * w, 10. * dy, None)

    check(mode, g, [2., variable([3., 4.], kind), variable([1., 1.], kind, name="m", trainable=False)], [7., [10., 10.]],
          value=[7., 9.], wrt=[0, 1])
