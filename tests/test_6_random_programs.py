# -*- coding: utf-8 -*-
"""Random programs of decorated functions, branches, loops and functions against numpy: each call has a gradient of its own.

Everything is linear, so a program is three numbers, worked out beside it: its value at 1, and the gradients with respect to
its argument and to a second one, `c`, that functions take from outside. No gradient is the derivative.
"""
from __future__ import absolute_import, division, print_function

import numpy as np
import pytest
import tensorflow as tf

from harness import HAS_FUNCTION, VERSION, right_or_error, same
from tfgradcompat import custom_grad

SEEDS = range(12)
FACTORS = [2., 3., 5., -1., 0.5]


class Program(object):
    """`build(x, c, p)` makes the tensor; `value` and `slope` are what it multiplies its argument and an upstream gradient by.

    `p` is a tensor that says which branches are taken: those of `positive` if it is positive.
    """

    def __init__(self, random, positive, extra):
        self.random, self.positive, self.extra = random, positive, extra
        self.kinds = set()
        self.build, self.value, self.slope = self.make(4)

    def factor(self):
        return FACTORS[self.random.randint(len(FACTORS))]

    def make(self, depth):
        kinds = ["call", "call", "sequence", "sum", "branch", "around", "outputs", "arguments"] + self.extra
        kind = kinds[self.random.randint(len(kinds))] if depth else "call"
        self.kinds.add(kind)
        return getattr(self, kind)(depth - 1)

    def call(self, depth):
        a, g = self.factor(), self.factor()
        return (lambda x, p: custom_grad(lambda x: (x * a, lambda dy: dy * g))(x)), a, g

    def sequence(self, depth):
        (f, a, g), (h, b, k) = self.make(depth), self.make(depth)
        return (lambda x, p: h(f(x, p), p)), a * b, g * k

    def sum(self, depth):
        (f, a, g), (h, b, k) = self.make(depth), self.make(depth)
        return (lambda x, p: f(x, p) + h(x, p)), a + b, g + k

    def branch(self, depth):
        (f, a, g), (h, b, k) = self.make(depth), self.make(depth)
        return (lambda x, p: tf.cond(p > 0., lambda: f(x, p), lambda: h(x, p))), a if self.positive else b, g if self.positive else k

    def loop(self, depth):
        f, a, g = self.make(depth)

        def build(x, p):
            return tf.while_loop(lambda i, v: i < 2, lambda i, v: [i + 1, f(v, p)], [tf.constant(0), x])[1]

        return build, a ** 2, g ** 2

    def around(self, depth):
        """A decorated function that calls others: only its own gradient counts."""
        f, a, _ = self.make(depth)
        g = self.factor()
        return (lambda x, p: custom_grad(lambda x: (f(x, p), lambda dy: dy * g))(x)), a, g

    def outputs(self, depth):
        """Two outputs, which go two ways."""
        (f, a, g), (h, b, k) = self.make(depth), self.make(depth)
        m, n = self.factor(), self.factor()

        def build(x, p):
            u, v = custom_grad(lambda x: ((x * 2., x * 3.), lambda du, dv: m * du + n * dv))(x)
            return f(u, p) + h(v, p)

        return build, 2. * a + 3. * b, m * g + n * k

    def arguments(self, depth):
        """Two arguments, which come two ways."""
        (f, a, g), (h, b, k) = self.make(depth), self.make(depth)
        m, n = self.factor(), self.factor()

        def build(x, p):
            return custom_grad(lambda u, v: (u + 2. * v, lambda dy: (m * dy, n * dy)))(f(x, p), h(x, p))

        return build, a + 2. * b, m * g + n * k

    def function(self, depth):
        f, a, g = self.make(depth)
        return (lambda x, p: tf.function(lambda x, p: f(x, p), autograph=False)(x, p)), a, g


@pytest.mark.clause("6.1")
@pytest.mark.needs("control_flow")
@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs(mode, seed):
    print("seed", seed)
    random = np.random.RandomState(seed)
    # Functions in plain graphs have gradients from 2.0 on. In functions before 1.14 TensorFlow takes wrong ones, of any operation,
    # where loops and branches meet.
    functions = ["function"] if HAS_FUNCTION and (VERSION >= (2, 0) or not mode.in_graph) else []
    program = Program(random, seed % 2 == 0, functions + (["loop"] if mode.nested_cond else []))
    p = 1. if seed % 2 == 0 else -1.

    def check():
        value, gradients = mode.value_and_gradients(lambda x, q: program.build(x, q), 1., p, wrt=[0])
        np.testing.assert_allclose(value, program.value, rtol=1e-6)
        same(gradients, [program.slope])

    # A gradient through a branch in a loop is an AttributeError of TensorFlow 0.12 itself.
    branch_in_loop = VERSION >= (1, 0) or not program.kinds.issuperset(["branch", "loop"])
    right_or_error(branch_in_loop and (mode.nested_cond or "branch" not in program.kinds), check)
