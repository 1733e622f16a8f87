# -*- coding: utf-8 -*-
"""Section 9 of docs/contract.md: what a call costs. Counted, since time is not steady; `ci/bench.py` measures it.

What is counted are the functions, of Python and of C, that are called meanwhile. That other variables cost nothing is tested beside
the variables (5.3).
"""
from __future__ import absolute_import, division, print_function

import gc
import sys

import pytest
import tensorflow as tf

from harness import WITHOUT_AUTOGRAPH, gradients_of
from tfgradcompat import custom_grad

EARLY, LATE, COUNTED = 30, 300, 10


def functions_called(f):
    """How many functions `f()` calls, itself included."""
    count = [0]

    def profile(frame, event, argument):
        count[0] += event in ("call", "c_call")

    gc.disable()  # what it calls when it finds something does not count
    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        f()
    finally:
        sys.setprofile(before)
        gc.enable()
    return count[0]


def alike(one, other):
    return abs(one - other) <= 0.03 * one


# ------------------------------------------------------------------------------------------------------------------- 9.1
@pytest.mark.clause("9.1")
@pytest.mark.parametrize("what", ["calls of one tensor", "a chain", "each captures the result before"])
def test_a_late_call_costs_as_much_as_an_early_one(mode, what):
    assert not mode.autograph, "section 9 should be in %r: its work is not the package's" % (WITHOUT_AUTOGRAPH,)
    found = []

    def program(x):
        last = [x]

        @custom_grad
        def f(x):
            y = x * 1. + last[0] if what.startswith("each") else x * 1.
            return y, lambda dy: 3. * dy

        def calls(count):
            for _ in range(count):
                last[0] = f(last[0] if what == "a chain" else x)

        calls(EARLY)
        early = functions_called(lambda: calls(COUNTED))
        calls(LATE - EARLY)
        found.append((early, functions_called(lambda: calls(COUNTED))))
        return last[0]

    mode.run(program, 1.)
    for early, late in found:
        assert early > COUNTED and alike(early, late), found


@pytest.mark.clause("9.1")
@pytest.mark.needs("in_graph")
def test_gradients_of_many_calls(mode):
    def program(x):
        @custom_grad
        def f(x):
            return x * 1., lambda dy: 1. * dy

        found = []
        for count in (EARLY, 4 * EARLY):
            y = x
            for _ in range(count):
                y = f(y)
            found.append(functions_called(lambda: gradients_of(y, [x])) / count)
        assert alike(*found), found
        return x

    mode.run(program, 1.)


# ------------------------------------------------------------------------------------------------------------------- 9.2
def behind(tensors):
    """The operations that run when `tensors` are computed."""
    found, todo = set(), [tensor.op for tensor in tensors]
    while todo:
        op = todo.pop()
        if op not in found:
            found.add(op)
            todo.extend(tensor.op for tensor in op.inputs)
            todo.extend(op.control_inputs)
    return found


@pytest.mark.clause("9.2")
@pytest.mark.needs("in_graph")
def test_a_step_runs_as_many_operations_as_with_identities(mode):
    handed = custom_grad(lambda x: (x, lambda dy: dy))

    def program(x):
        def run_by(f):
            y = x
            for _ in range(10):
                y = f(y * 3.)
            return len(behind([y])), len(behind([y] + gradients_of(y, [x])))

        assert run_by(handed) == run_by(tf.identity)
        return x

    mode.run(program, 1.)


@pytest.mark.clause("9.2")
@pytest.mark.needs("in_graph")
def test_shapes_that_agree_add_no_operation(mode):
    """Nor do dtypes and unknown dimensions: the gradient is what the function made, and nothing else."""
    tens = custom_grad(lambda x: (x * 2., lambda dy: dy * 10.))

    def program(x):
        y = tens(x)
        [gradient] = gradients_of(y, [x])
        # 1 / 10 of dy comes from tf.gradients; the product and its constant are the function's.
        assert len(behind([gradient])) - len(behind([gradient.op.inputs[0]])) == 2
        return gradient

    mode.run(program, [[1., 2.]], shapes=[[None, 2]])
