"""What must be right for custom gradients to work here; each check says what it expects, and what came.

The numbers were worked out by hand. They are others than those of the true gradients.
"""
from __future__ import absolute_import, division, print_function

import threading

import numpy as np
import tensorflow as tf

from .. import custom_grad
from . import modes

X = [1., 2.]
ONES = [1., 1.]


@custom_grad
def doubled(x):
    """2x, of which the gradient is said to be 5."""
    def in_grad(dy):
        return 5. * dy
    return 2. * x, in_grad


@custom_grad
def squared(x):
    """x**2, of which the gradient is said to be x**3."""
    def in_grad(dy):
        return dy * x * x * x
    return x * x, in_grad


def times(w):
    """The product with a variable, of which the gradients are said to be 2w and 7x."""
    @custom_grad
    def times_w(x):
        value = tf.convert_to_tensor(w)

        def in_grad(dy, variables=None):
            return 2. * dy * value, [7. * dy * x]
        return x * value, in_grad
    return times_w


def derived(f, mode):
    """The derivative of f, as a function."""
    def derivative(x):
        if mode == "graph":
            return modes.tf1.gradients(f(x), x)[0]
        with modes.new_tape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, [x])[0]  # 1.5 and 1.6 take nothing but lists
    return derivative


def run(f, mode, inputs=(X,), variables=()):
    return modes.result_and_gradients(f, [np.array(x, np.float32) for x in inputs], variables, np.array(ONES, np.float32), mode)


def value(mode):
    return [2., 4.], run(doubled, mode)[0]


def gradient(mode):
    return [5., 5.], run(doubled, mode)[1][0]


def keyword_call(mode):
    return [5., 5.], run(lambda x: doubled(x=x), mode)[1][0]


def twice(mode):
    return [80., 80.], run(lambda x: doubled(x) + 3. * doubled(doubled(x)), mode)[1][0]  # 5 + 3 * 5 * 5


def second_order(mode):
    return [3., 12.], run(derived(squared, mode), mode)[1][0]  # 3 * x**2


def variable(mode):
    gradients = run(lambda x, w: times(w)(x), mode, [X, [3., 4.]], (1,))[1]
    return [[6., 8.], [7., 14.]], None if any(g is None for g in gradients) else gradients


def threads(mode):
    """Four threads at the same time, each with its own gradient."""
    found = {}

    def work(factor):
        @custom_grad
        def scaled(x):
            return x, lambda dy: factor * dy
        found[factor] = run(scaled, mode)[1][0]
    workers = [threading.Thread(target=work, args=(factor,)) for factor in (2., 3., 4., 5.)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return [[f, f] for f in (2., 3., 4., 5.)], [found[f] for f in sorted(found)]


CHECKS = [value, gradient, keyword_call, twice, second_order, variable, threads]
