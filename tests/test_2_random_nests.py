# -*- coding: utf-8 -*-
"""Random arguments, results, dtypes and shapes against numpy: what the clauses say one by one must hold together."""
from __future__ import absolute_import, division, print_function

import collections

import numpy as np
import pytest
import tensorflow as tf

from harness import flatten
from tfgradcompat import custom_grad

SEEDS = range(20)
Pair = collections.namedtuple("Pair", "first second")


class Case(object):
    """A nest of inputs and options, a linear forward function and a gradient that is not its derivative.

    Output j is the sum over inputs i of W[j, i] * sum(input i), in the shape of a random array C[j]; in_grad gives input i the
    array V[i] times the sum over j of U[i, j] * sum(dy j). Both are computed here in float64 as well.
    """

    def __init__(self, seed):
        self.random = np.random.RandomState(seed)
        self.arrays = []
        self.nest = self.make_nest(3)
        while not self.arrays:
            self.nest = self.make_nest(3)
        self.outputs = self.random.randint(1, 4)
        count = len(self.arrays)
        self.W = self.random.randint(-3, 4, (self.outputs, count)).astype(float)
        self.U = self.random.randint(-3, 4, (count, self.outputs)).astype(float)
        self.V = [self.random.randint(-3, 4, array.shape).astype(float) for array in self.arrays]
        self.C = [self.random.randint(-3, 4, self.shape()).astype(float) for _ in range(self.outputs)]
        self.dtypes = [self.random.choice([np.float32, np.float64]) for _ in range(self.outputs)]
        self.upstream = [self.random.randint(-3, 4, c.shape).astype(float) for c in self.C]
        self.form = self.random.choice(["flat", "structured", "per leaf"])

    def shape(self):
        return tuple(self.random.randint(1, 4, self.random.randint(0, 3)))

    def make_nest(self, depth):
        """Leaves are places among the inputs (as `Place`) or options."""
        kind = self.random.randint(0, 7) if depth else self.random.randint(0, 2)
        if kind == 0:
            return [None, 3, "text", 2.5][self.random.randint(0, 4)]
        if kind <= 2:
            dtype = self.random.choice([np.float32, np.float64])
            self.arrays.append(self.random.randint(-3, 4, self.shape()).astype(dtype))
            return Place(len(self.arrays) - 1)
        children = [self.make_nest(depth - 1) for _ in range(2 if kind == 5 else self.random.randint(0, 4))]
        if kind == 3:
            return children
        if kind == 4:
            return tuple(children)
        if kind == 5:
            return Pair(*children)
        return dict(zip("zyxw", children))

    def fill(self, values):
        """The nest with `values[i]` for input i."""
        leaves, rebuild = flatten(self.nest)
        return rebuild([values[leaf.i] if isinstance(leaf, Place) else leaf for leaf in leaves])

    def order(self):
        """The inputs as they stand in the flattened nest (dictionaries by sorted key, not by the order they were made in)."""
        return [leaf.i for leaf in flatten(self.nest)[0] if isinstance(leaf, Place)]

    def expected(self):
        sums = [np.sum(array, dtype=np.float64) for array in self.arrays]
        values = [c * sum(w * s for w, s in zip(row, sums)) for c, row in zip(self.C, self.W)]
        dys = [np.sum(dy) for dy in self.upstream]
        gradients = [v * sum(u * d for u, d in zip(row, dys)) for v, row in zip(self.V, self.U)]
        return values, gradients


class Place(object):
    def __init__(self, i):
        self.i = i


def decorated(case):
    def f(nest, option="option"):
        leaves = flatten(nest)[0]
        assert option == "option" and len(leaves) == len(flatten(case.nest)[0])
        inputs = dict(zip(case.order(), [leaf for leaf, place in zip(leaves, flatten(case.nest)[0]) if isinstance(place, Place)]))
        sums = [tf.cast(tf.reduce_sum(inputs[i]), tf.float64) for i in range(len(inputs))]
        results = []
        for c, row, dtype in zip(case.C, case.W, case.dtypes):
            total = sum(float(w) * s for w, s in zip(row, sums))
            results.append(tf.cast(total * tf.constant(c, tf.float64), dtype))

        def grad(*dys):
            totals = [tf.cast(tf.reduce_sum(dy), tf.float64) for dy in dys]
            gradients = [tf.constant(v, tf.float64) * sum(float(u) * t for u, t in zip(row, totals))
                         for v, row in zip(case.V, case.U)]  # float64 throughout: cast to the inputs' dtypes by the decorator
            if case.form == "structured":
                return [case.fill(gradients), None]
            if case.form == "flat":
                return [gradients[i] for i in case.order()]
            return flatten(case.fill(gradients))[0] + [None]

        return results, grad

    return custom_grad(f)


@pytest.mark.clause("2.2")
@pytest.mark.clause("2.3")
@pytest.mark.parametrize("seed", SEEDS)
def test_random_nests(mode, seed):
    print("seed", seed)
    case = Case(seed)
    f = decorated(case)
    values, gradients = case.expected()
    got_values, got = mode.value_and_gradients(lambda *xs: f(case.fill(xs)), *case.arrays, upstream=case.upstream)
    assert len(got_values) == len(values)
    for one, expected, dtype in zip(got_values, values, case.dtypes):
        assert one.dtype == dtype and one.shape == expected.shape
        np.testing.assert_allclose(one, expected, rtol=1e-5)
    for one, expected, array in zip(got, gradients, case.arrays):
        assert one.dtype == array.dtype and one.shape == array.shape
        np.testing.assert_allclose(one, expected, rtol=1e-5)
