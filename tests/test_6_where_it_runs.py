# -*- coding: utf-8 -*-
"""Section 6 of docs/contract.md: where it runs."""
from __future__ import absolute_import, division, print_function

import numpy as np
import pytest
import tensorflow as tf

import harness
from harness import HAS_FUNCTION, VERSION, check, gradients_of, new_session, right_or_error, same, v1, variable
from tfgradcompat import custom_grad


@custom_grad
def ten(x):
    """2 x, with a gradient of ten."""
    return x * 2., lambda dy: 10. * dy


@custom_grad
def add(a, x):
    """a + x, with gradients of two and three."""
    return a + x, lambda dy: (2. * dy, 3. * dy)


def loop(body, x, steps=3):
    """`body(value, i)` for i = 0, 1, 2, ... as float."""
    def step(i, value):
        return [i + 1, body(value, tf.cast(i, tf.float32))]

    return tf.while_loop(lambda i, value: i < steps, step, [tf.constant(0), x])[1]


# --------------------------------------------------------------------------------------------------------- 6.1 sessions
@pytest.mark.clause("6.1")
@pytest.mark.needs("in_graph")
def test_a_call_that_is_made_after_the_first_run_of_a_session(mode):
    with tf.Graph().as_default() as graph:
        x = tf.constant(3.)
        with new_session(graph) as session:
            session.run(x)
            gradient = gradients_of([ten(x)], [x])[0]
            if VERSION >= (1, 3):
                assert session.run(gradient) == 10.
            else:  # sessions take no functions after their first run, whose ever they are; the call is one there
                with pytest.raises(tf.errors.NotFoundError):
                    session.run(gradient)
        with new_session(graph) as session:
            assert session.run(gradient) == 10.


# -------------------------------------------------------------------------------------------------------- 6.1 control flow
@pytest.mark.clause("6.1")
@pytest.mark.needs("control_flow")
@pytest.mark.parametrize("x, value, gradient", [(1., 2., 10.), (-1., -3., 3.)], ids=["taken", "not taken"])
def test_cond(mode, x, value, gradient):
    check(mode, lambda x: tf.cond(x > 0., lambda: ten(x), lambda: x * 3.), [x], [gradient], value=value)


@pytest.mark.clause("6.1")
@pytest.mark.needs("control_flow")
def test_cond_with_another_function_in_each_branch_and_around(mode):
    """Three operations, which may have one name, since each is the first in its graph: 2 or 3 or 5 times 7."""
    def times(factor):
        return custom_grad(lambda x: (x * 1., lambda dy: dy * factor))

    def program(x):
        return times(7.)(tf.cond(x > 0., lambda: times(2.)(x), lambda: times(3.)(x)))

    check(mode, program, [1.], [14.], value=1.)
    check(mode, program, [-1.], [21.], value=-1.)
    check(mode, lambda x: loop(lambda v, i: times(2.)(v), times(7.)(x)), [1.], [56.], value=1.)


@pytest.mark.clause("6.1")
@pytest.mark.needs("control_flow")
@pytest.mark.parametrize("x, gradients", [(1., [10., 0.]), (-1., [0., 10.])], ids=["first", "second"])
def test_cond_in_both_branches(mode, x, gradients):
    got = mode.gradients(lambda x, y: tf.cond(x > 0., lambda: ten(x), lambda: ten(y)), x, 1.)
    assert [0. if g is None else g for g in got] == gradients  # the other branch's: zeros, or None in eager


@pytest.mark.clause("6.1")
@pytest.mark.needs("control_flow")
def test_branches_and_loops_beside_each_other(mode):
    # the operations of their bodies have the same names
    @custom_grad
    def five(x):
        return x * 1., lambda dy: dy * 5.

    def branches(x, y):
        return [tf.cond(x > 0., lambda: ten(x), lambda: five(x)), tf.cond(y > 0., lambda: five(y), lambda: ten(y))]

    def loops(x, y):
        return [tf.while_loop(lambda i, _: i < 2, lambda i, x: (i + 1, f(x)), [tf.constant(0), x])[1] for f, x in ((ten, x), (five, y))]

    # one after the other: in a function of 1.13 a branch beside a loop has a gradient of 0, decorated or not
    check(mode, branches, [1., 1.], [10., 5.])
    check(mode, loops, [1., 1.], [100., 25.])


@pytest.mark.clause("6.1")
@pytest.mark.needs("control_flow")
@pytest.mark.parametrize("x, gradient", [(1., 10.), (-1., 30.), (5., 20.)])
def test_case(mode, x, gradient):
    def program(x):
        return tf.case([(x < 0., lambda: ten(x) * 3.), (x > 4., lambda: ten(x) * 2.)], default=lambda: ten(x))

    right_or_error(mode.nested_cond, lambda: check(mode, program, [x], [gradient]))


@pytest.mark.clause("6.1")
@pytest.mark.needs("control_flow")
def test_while_loop(mode):
    check(mode, lambda x: loop(lambda v, i: ten(v), x), [1.], [1000.], value=8.)


@pytest.mark.clause("6.1")
@pytest.mark.needs("control_flow")
def test_while_loop_with_captured_values_of_the_step(mode):
    # s = 2 v is captured: (s - v) / v * 10 = 10 in every iteration
    @custom_grad
    def step(v):
        s = v * 2.
        return s, lambda dy: dy * (s - v) / v * 10.

    check(mode, lambda x: loop(lambda v, i: step(v), x), [1.], [1000.], value=8.)


@pytest.mark.clause("6.1")
@pytest.mark.needs("control_flow")
def test_while_loop_with_a_factor_of_its_own_in_each_iteration(mode):
    # factors v + i with v = 1, 2, 4 and i = 0, 1, 2: 1 * 3 * 6
    @custom_grad
    def step(v, i):
        return v * 2., lambda dy: (dy * (v + i), None)

    check(mode, lambda x: loop(step, x), [1.], [18.], value=8.)


@pytest.mark.clause("6.1")
@pytest.mark.needs("control_flow")
def test_while_loop_with_a_value_from_outside(mode):
    # v -> v + y three times, gradients 2 for v and 3 for y: 8 for x; 3 * (1 + 2 + 4) = 21 for y
    check(mode, lambda x, y: loop(lambda v, i: add(v, y), x), [1., 5.], [8., 21.], value=16.)


@pytest.mark.clause("6.1")
@pytest.mark.needs("control_flow")
def test_while_loop_inside_f_and_in_grad(mode):
    @custom_grad
    def f(x):
        return loop(lambda v, i: v * 2., x), lambda dy: loop(lambda d, i: d * (i + 1.), dy)

    check(mode, f, [1.], [6.], value=8.)  # 1 * 2 * 3


@pytest.mark.clause("6.1")
@pytest.mark.needs("control_flow")
def test_cond_inside_f_and_in_grad(mode):
    @custom_grad
    def f(x):
        def grad(dy):
            return tf.cond(dy > 1.5, lambda: dy * 100., lambda: dy * y)
        y = tf.cond(x > 0., lambda: x * 2., lambda: x * 3.)
        return y, grad

    check(mode, f, [4.], [8.], value=8.)
    check(mode, f, [4.], [200.], upstream=[2.])


@pytest.mark.clause("6.1")
@pytest.mark.needs("control_flow")
@pytest.mark.parametrize("body", ["cond", "while_loop"])
def test_random_numbers_of_the_forward_pass_in_a_branch_or_a_loop(mode, body):
    # the factor that in_grad captured is the one that the forward pass used, never one that was drawn again
    @custom_grad
    def f(v):
        factor = (tf.random.uniform if VERSION >= (1, 13) else tf.random_uniform)([])
        return v * factor, lambda dy: dy * factor

    def program(x):
        if body == "cond":
            return tf.cond(x > 0., lambda: f(x), lambda: x)
        return loop(lambda v, i: f(v), x)

    def checks():
        value, [gradient] = mode.value_and_gradients(program, 1.)
        np.testing.assert_allclose(gradient, value, rtol=1e-5)

    # From 1.13 to 2.0 TensorFlow differentiates a copy of a branch or a loop: an error there.
    right_or_error(VERSION >= (2, 1) or mode.name == "eager" or mode.in_graph and VERSION < (2, 0), checks)


@pytest.mark.clause("6.1")
@pytest.mark.needs("control_flow")
@pytest.mark.parametrize("used", [0, 1])
def test_one_of_two_results_in_a_branch(mode, used):
    @custom_grad
    def f(x):
        return (x * 2., tf.reduce_sum(x), tf.constant(7)), lambda da, db, dc: 3. * da + 5. * db

    def program(x):
        return tf.cond(tf.reduce_sum(x) > 0., lambda: tf.reduce_sum(f(x)[used]), lambda: tf.reduce_sum(x))

    check(mode, program, [[1., 2.]], [[[3., 3.], [5., 5.]][used]])


@pytest.mark.clause("6.1")
@pytest.mark.needs("control_flow")
def test_map_fn(mode):
    check(mode, lambda x: tf.map_fn(ten, x), [[1., 2.]], [[10., 10.]], value=[2., 4.])


@pytest.mark.clause("6.1")
@pytest.mark.needs("control_flow")
def test_scan(mode):
    # a, a + x1, a + x1 + x2, ...: the last output reaches x3 by 3, x2 by 3 * 2, x1 by 3 * 4 and a by 8
    def program(a, xs):
        return tf.scan(add, xs, initializer=a)[2]

    check(mode, program, [1., [2., 3., 4.]], [8., [12., 6., 3.]], value=10.)


@pytest.mark.clause("6.1")
@pytest.mark.skipif(VERSION < (1, 4), reason="tf.data came with TensorFlow 1.4 (6.1)")
def test_dataset_map():
    def function(x):
        y = ten(x)
        return y, gradients_of(y, [x])[0]

    def dataset():
        return tf.data.Dataset.from_tensor_slices(np.float32([1., 2.])).map(function)

    if VERSION >= (2, 0) and harness.SETUP != "override":
        got = [(y.numpy(), g.numpy()) for y, g in dataset()]
    elif harness.EAGER and VERSION < (2, 0):
        got = [(y.numpy(), g.numpy()) for y, g in tf.contrib.eager.Iterator(dataset())]
    else:
        with tf.Graph().as_default() as graph:
            make = v1.data.make_one_shot_iterator if VERSION >= (1, 13) else lambda d: d.make_one_shot_iterator()
            following = make(dataset()).get_next()
            with new_session(graph) as session:
                got = [session.run(following) for _ in range(2)]
    assert got == [(2., 10.), (4., 10.)]


@pytest.mark.clause("6.1")
def test_device(mode):
    @custom_grad
    def f(x):
        def grad(dy):
            with tf.device("/cpu:0"):
                return 10. * dy
        with tf.device("/cpu:0"):
            return x * 2., grad

    def program(x):
        with tf.device("/cpu:0"):
            return f(x)

    check(mode, program, [1.], [10.], value=2.)


@pytest.mark.clause("6.1")
def test_control_dependencies_around_the_call(mode):
    def program(x):
        with tf.control_dependencies([x * 5.]):
            return ten(x)

    check(mode, program, [1.], [10.], value=2.)


@pytest.mark.clause("6.1")
@pytest.mark.skipif(not HAS_FUNCTION, reason="tf.function came with TensorFlow 1.14 (6.1)")
class TestFunctions(object):

    @pytest.mark.clause("6.1")
    def test_functions_around_the_call(self, mode):
        inner = tf.function(lambda x: ten(x) * 3.)
        outer = tf.function(lambda x: inner(x) * 5.)
        check(mode, outer, [1.], [150.], value=30.)

    @pytest.mark.clause("6.1")
    @pytest.mark.needs("higher_order")
    def test_functions_inside(self, mode):
        # x^2, and dy * x^2 as its gradient, by way of a function: first 4, then 2 x = 4
        square = tf.function(lambda a: a * a)
        f = custom_grad(lambda x: (square(x), lambda dy: dy * square(x)))
        if mode.in_graph and VERSION < (2, 0):
            check(mode, f, [2.], [4.], value=4.)
        else:
            first, second = mode.higher(f, 2, 2.)
            same(first, [4.])
            same(second, [4.])

    @pytest.mark.clause("6.1")
    @pytest.mark.needs("calls_directly")
    def test_tensors_from_outside_are_those_of_the_function(self, mode):
        # also where the outer tensor is one of eager mode, which has a numpy() that a function must not bake in
        seen = []

        @custom_grad
        def f(x):
            seen.append(x.graph is v1.get_default_graph())
            return x * 2., lambda dy: 10. * dy

        check(mode, lambda x: tf.function(lambda: f(x))(), [1.], [10.], value=2.)
        assert seen and all(seen)

    @pytest.mark.clause("6.1")
    def test_one_function_for_several_shapes(self, mode):
        f = tf.function(ten)
        check(mode, lambda x, y: (f(x), f(y)), [1., [1., 2.]], [10., [10., 10.]], value=(2., [2., 4.]))

    @pytest.mark.clause("6.1")
    @pytest.mark.needs("uses_tape")
    @pytest.mark.skipif(VERSION < (2, 5), reason="jit_compile came with TensorFlow 2.5 (6.1)")
    def test_jit_compile(self, mode):
        @custom_grad
        def f(x, y):
            z = x * y
            return z, lambda dy: (dy * z, 10. * dy)

        check(mode, tf.function(lambda x, y: f(x, y), jit_compile=True), [2., 3.], [6., 10.], value=6.)

    @pytest.mark.clause("6.1")
    @pytest.mark.needs("tape_around")
    @pytest.mark.skipif(VERSION < (2, 2), reason="tf.distribute's strategies run in eager mode since TensorFlow 2.2 (6.1)")
    @pytest.mark.parametrize("how", ["argument", "captured"])
    def test_replicas(self, mode, how):
        strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
        with strategy.scope():
            w = tf.Variable(3.)

        @custom_grad
        def taken(x, w):
            return x * w, lambda dy: (10. * dy, 20. * dy)

        @custom_grad
        def captured(x):
            return x * w, lambda dy, variables: (10. * dy, [20. * dy])

        f = mode.wrap((lambda x: taken(x, w)) if how == "argument" else (lambda x: captured(x)))

        def replica(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            return tape.gradient(y, [x, w])

        dx, dw = strategy.run(replica, args=(tf.constant(2.),))
        assert dx.numpy() == 10. and dw.numpy() == 20.


# ------------------------------------------------------------------------------------------------------------ 6.2 AutoGraph
@custom_grad
def branches(x, k=1.):
    if tf.reduce_sum(x) > 0.:
        y = x * 2.
    else:
        y = x * 3.

    def grad(dy):
        if tf.reduce_sum(dy) > 0.:
            g = 5. * dy
        else:
            g = 7. * dy
        return g * k

    return y, grad


@custom_grad
def loops(x):
    i = tf.constant(0)
    y = x
    while i < 3:
        y = y * 2.
        i = i + 1

    def grad(dy):
        g = dy
        for j in tf.range(3):
            g = g * (tf.cast(j, tf.float32) + 1.)
        return g

    return y, grad


class Layer(object):
    def __init__(self, limit):
        self.limit = limit

    @custom_grad
    def call(self, x):
        if tf.reduce_sum(x) > self.limit:
            y = x * 2.
        else:
            y = x * 3.
        return y, self.grad

    def grad(self, dy):
        if tf.reduce_sum(dy) > self.limit:
            g = 5. * dy
        else:
            g = 7. * dy
        return g


@pytest.mark.clause("6.2")
@pytest.mark.needs("python_control_flow")
@pytest.mark.parametrize("x, value", [([1., 2.], [2., 4.]), ([-1., -2.], [-3., -6.])], ids=["if", "else"])
@pytest.mark.parametrize("dy, factor", [([1., 1.], 5.), ([-1., -1.], 7.)], ids=["if in in_grad", "else in in_grad"])
def test_python_if(mode, x, value, dy, factor):
    check(mode, branches, [x], [factor * np.array(dy)], value=value, upstream=[dy])
    check(mode, lambda x: branches(k=2., x=x), [x], [2. * factor * np.array(dy)], value=value, upstream=[dy])


@pytest.mark.clause("6.2")
@pytest.mark.needs("python_control_flow")
@pytest.mark.parametrize("limit, value, factor", [(0., 2., 5.), (100., 3., 7.)])
def test_python_if_in_a_method(mode, limit, value, factor):
    check(mode, Layer(limit).call, [1.], [factor], value=value)


@pytest.mark.clause("6.2")
@pytest.mark.needs("python_control_flow")
def test_python_loops(mode):
    check(mode, loops, [1.], [6.], value=8.)


@pytest.mark.clause("6.2")
@pytest.mark.needs("python_control_flow")
def test_python_control_flow_around_the_call(mode):
    def program(x):
        y = x
        for _ in tf.range(3):
            if tf.reduce_sum(y) > 0.:
                y = ten(y)
        return y

    check(mode, program, [1.], [1000.], value=8.)


# ------------------------------------------------------------------------------------------------------- 6.3 side effects
def counted(x, counter):
    @custom_grad
    def f(x, y):
        def grad(dy):
            if hasattr(counter, "assign_add"):
                counter.assign_add(1.)
            else:
                v1.assign_add(counter, 1.)
            return 2. * dy, 3. * dy
        return x * y, grad

    return f(x, x * 1.)


@pytest.mark.clause("6.3")
def test_assignment_once_per_gradient(mode, kind):
    # nothing but the gradient is asked for, and no control dependency is written
    def checks():
        with mode.repeated(counted, 1., variable(0., kind, "counter", trainable=False)) as (step, read, _):
            assert read(0) == 0.
            for count in (1., 2., 3.):
                assert step() == 5.
                assert read(0) == count

    right_or_error(mode.in_grad_reads_variables, checks)


@pytest.mark.clause("6.3")
@pytest.mark.needs("control_flow")
def test_assignment_in_a_branch_where_it_is_taken(mode):
    kind = "resource" if VERSION >= (2, 0) else None  # the branches of TensorFlow 2 take no reference variables

    def program(x, counter):
        @custom_grad
        def f(x):
            def count():
                added = counter.assign_add(1.) if hasattr(counter, "assign_add") else v1.assign_add(counter, 1.)
                with tf.control_dependencies([added]):
                    return tf.constant(5.)

            def grad(dy):
                return dy * tf.cond(tf.reduce_sum(x) > 0., count, lambda: tf.constant(3.))
            return x * 1., grad
        return f(x)

    def checks():
        for value, factor, count in ((1., 5., 1.), (-1., 3., 0.)):
            with mode.repeated(program, value, variable(0., kind, "counter", trainable=False)) as (step, read, _):
                for times in (1., 2.):
                    assert step() == factor
                    assert read(0) == times * count

    right_or_error(mode.in_grad_reads_variables, checks)


@pytest.mark.clause("6.3")
@pytest.mark.needs("autograph")
@pytest.mark.parametrize("body", ["cond", "while_loop"])
def test_assignment_in_a_branch_on_which_nothing_depends(mode, body):
    def program(x, counter):
        @custom_grad
        def f(x):
            def count(factor=1.):
                counter.assign_add(1.)
                return factor * tf.constant(5.)

            def grad(dy):
                if body == "cond":
                    return dy * tf.cond(tf.reduce_sum(x) > 0., count, lambda: tf.constant(3.))
                return dy * tf.while_loop(lambda i, v: i < 2, lambda i, v: [i + 1, count(v)], [tf.constant(0), x * 0. + 1.])[1]
            return x * 1., grad
        return f(x)

    def checks():
        with mode.repeated(program, 1., variable(0., "resource", "counter", trainable=False)) as (step, read, _):
            for times in (1., 2.):
                assert step() == (5. if body == "cond" else 25.)
                assert read(0) == times * (1. if body == "cond" else 2.)

    right_or_error(mode.in_grad_reads_variables, checks)


@pytest.mark.clause("6.3")
def test_no_side_effect_without_a_gradient(mode):
    def program(x, counter):
        y = counted(x, counter)
        with tf.control_dependencies([y]):
            return y, tf.identity(harness.tape_source(counter))

    value, count = mode.run(program, 2., variable(0., trainable=False))
    assert value == 4. and count == 0.


@pytest.mark.clause("6.3")
def test_in_grad_is_called_once_per_gradient(mode):
    calls = []

    @custom_grad
    def f(x, y):
        def grad(dy):
            calls.append(1)
            return 2. * dy, 3. * dy
        return x * y, grad

    check(mode, f, [1., 1.], [2., 3.])
    assert len(calls) == 1 or mode.in_function  # a function may be traced more than once
