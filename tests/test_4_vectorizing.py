# -*- coding: utf-8 -*-
"""Clause 4.7 of docs/contract.md: tf.vectorized_map, which makes one operation of those of all iterations."""
from __future__ import absolute_import, division, print_function

import gc
import weakref

import numpy as np
import pytest
import tensorflow as tf

import harness
from harness import VERSION, check, gradients_of, new_session, right_or_error, same, v1, variable
from tfgradcompat import (
    clip_gradient_by_value, custom_grad, explain, override_gradient, py_func, recompute, scale_gradient, straight_through)

pytestmark = [
    pytest.mark.clause("4.7"),
    pytest.mark.skipif(VERSION < (1, 15), reason="TensorFlow 0.12-1.14 has no tf.vectorized_map (4.7)")]
X = np.array([1., 2., 3.], np.float32)
# pfor converts branches from 2.3 on and loops made of functions from 2.2 on; else it says that it cannot.
HAS_CONTROL_FLOW = VERSION >= (2, 3)


def vectorized_map(f, xs):
    """The one of TensorFlow, without AutoGraph, which takes most of the time."""
    return tf.vectorized_map(harness.do_not_convert(f), xs)


def mapped(f):
    return lambda *xs: vectorized_map(lambda xs: f(*xs), xs)


@custom_grad
def ten(x):
    """2 x, with a gradient of ten."""
    return x * 2., lambda dy: 10. * dy


@custom_grad
def square(x):
    """x^2, with a gradient of 5 x^2, of which the second one is 10 x."""
    return x * x, lambda dy: 5. * dy * x * x


@custom_grad
def bounded(x):
    """3 x, with a gradient that is between -1 and 1."""
    return x * 3., lambda dy: tf.clip_by_value(dy, -1., 1.)


# ----------------------------------------------------------------------------------------------------------- one iteration
def test_each_iteration_has_the_gradient(mode):
    check(mode, lambda x: tf.vectorized_map(ten, x), [X], [[10., 10., 10.]], value=2. * X)
    check(mode, mapped(lambda x: ten(x * x)), [X], [20. * X], value=2. * X * X)
    check(mode, mapped(lambda x: ten(ten(x))), [X], [[100., 100., 100.]], value=4. * X)


def test_what_the_gradient_takes_from_the_forward_pass_is_of_its_iteration(mode):
    # y = exp(x), which only the gradient function reads once more: 3 dy y x
    @custom_grad
    def f(x):
        y = tf.exp(x)
        unused = tf.sin(x)  # read by the gradient function only
        return y, lambda dy: 3. * dy * y * unused

    check(mode, mapped(f), [X], [3. * np.exp(X) * np.sin(X)], value=np.exp(X), rtol=1e-5)


def test_what_the_gradient_takes_from_its_closure_is_of_its_iteration(mode):
    # x f(w) with f(w) = 3 w and the gradient dy a, where a = x: the sum of x^2 is 14, and not the one x of iteration 0
    def body(x, w):
        @custom_grad
        def f(w):
            return w * 3., lambda dy: dy * x
        return x * f(w)

    check(mode, lambda x, w: vectorized_map(lambda x: body(x, w), x), [X, 2.], [[6., 6., 6.], 14.], value=6. * X)


def test_the_same_input_in_all_iterations_has_the_sum_of_their_gradients(mode):
    # x bounded(w): dy is x, bounded to 1 in each iteration: 0.5 + 1 + 1, and not 1, the bounded sum.
    x = np.array([0.5, 2., 3.], np.float32)
    check(mode, lambda x, w: vectorized_map(lambda x: x * bounded(w), x), [x, 2.], [[6., 6., 6.], 2.5], value=6. * x)
    check(mode, lambda x, w: vectorized_map(lambda x: bounded(x * w), x), [x, 2.], [[2., 2., 2.], 5.5], value=6. * x)


def test_several_inputs_and_outputs(mode):
    # upstream gradients 1 of a = x y and 3 of b = y: 2 (1 + 3) for x, 5 * 1 for y, which is the same in all iterations
    @custom_grad
    def f(x, y, n, name):
        assert name == "name"
        return {"a": x * y, "b": [y * 1., n]}, lambda da, db, dn: (2. * (da + db), 5. * da, None, None)

    def both(x, y):
        def body(x):
            found = f(x, y, tf.constant(4), name="name")
            return found["a"] + 3. * found["b"][0]
        return vectorized_map(body, x)

    def first(x, y):
        return vectorized_map(lambda x: f(x, y, tf.constant(4), "name")["a"], x)

    check(mode, both, [X, 2.], [[8., 8., 8.], 15.], value=2. * X + 6.)
    check(mode, first, [X, 2.], [[2., 2., 2.], 15.], value=2. * X)


def test_shapes(mode):
    # rows of a matrix with an unknown number of them, times 2; a scalar scale whose gradient is a broadcast
    @custom_grad
    def scaled(row, scale):
        return row * scale, lambda dy: (7. * dy, dy * row)

    rows = np.arange(6, dtype=np.float32).reshape(2, 3)
    f = lambda rows, scale: vectorized_map(lambda row: scaled(row, scale), rows)
    check(mode, f, [rows, 2.], [7. * np.ones((2, 3)), 15.], value=2. * rows)
    check(mode, f, [rows, 2.], [7. * np.ones((2, 3)), 15.], value=2. * rows, shapes=[[None, 3], None])
    check(mode, f, [rows, 2.], [7. * np.ones((2, 3)), 15.], value=2. * rows, shapes=[[None, None], None])


def test_nothing_where_nothing_is_asked(mode):
    @custom_grad
    def f(x, y):
        return x + y, lambda dy: (dy * 2., None)

    check(mode, mapped(f), [X, X], [[2., 2., 2.], None])


def test_slices(mode):
    # two rows of a table of three, of which the first one is taken in both iterations: the gradient dy times 10 as slices
    @custom_grad
    def rows(table, indices):
        return tf.gather(table, indices), lambda dy: (tf.IndexedSlices(10. * dy, indices, tf.shape(table)), None)

    table, indices = np.ones((3, 2), np.float32), np.array([[0, 1], [0, 2]], np.int32)
    same_table = lambda table: vectorized_map(lambda indices: rows(table, indices), tf.constant(indices))
    check(mode, same_table, [table], [[[20., 20.], [10., 10.], [10., 10.]]])
    own_tables = lambda tables: vectorized_map(lambda one: rows(*one), (tables, tf.constant(indices)))
    check(mode, own_tables, [np.stack([table, table])],
          [[[[10., 10.], [10., 10.], [0., 0.]], [[10., 10.], [0., 0.], [10., 10.]]]])


def test_variables(mode, kind):
    # x w with the gradients 10 dy and x dy^2, of an upstream gradient of 2: 4 (1 + 2 + 3) for w
    def f(x, w):
        @custom_grad
        def times_w(x):
            return x * tf.convert_to_tensor(w), lambda dy, variables: (10. * dy, [x * dy * dy for _ in variables])
        return 2. * vectorized_map(times_w, x)

    check(mode, f, [X, variable(5., kind)], [[20., 20., 20.], 24.], value=10. * X)


@pytest.mark.needs("in_grad_reads_variables")
def test_the_gradient_reads_a_variable(mode):
    def f(x, w):
        @custom_grad
        def g(x):
            return x * 2., lambda dy: dy * tf.convert_to_tensor(w)
        return vectorized_map(g, x)

    check(mode, f, [X, variable(5., "resource")], [[5., 5., 5.], None], value=2. * X)


def test_second_order(mode):
    # 5 x^2 and 10 x
    first, second = mode.higher(mapped(square), 2, X)
    same([first[0], second[0]], [5. * X * X, 10. * X])


def test_two_maps_in_each_other(mode):
    rows = np.arange(6, dtype=np.float32).reshape(2, 3)
    check(mode, lambda x: vectorized_map(lambda row: vectorized_map(square, row), x), [rows], [5. * rows * rows],
          value=rows * rows)

    def outer(row, w):
        # the gradient reads a number of the outer iteration: 1 + 2 of the row is 3, 3 + 4 is 7, and so on
        @custom_grad
        def f(x):
            return x * w, lambda dy: dy * tf.reduce_sum(row)
        return vectorized_map(f, row)
    check(mode, lambda x, w: vectorized_map(lambda row: outer(row, w), x), [rows, 2.],
          [[[3., 3., 3.], [12., 12., 12.]], None], value=2. * rows)


@pytest.mark.needs("uses_tape")
def test_gradients_of_each_iteration(mode):
    # the tape inside of the mapped function: bounded(w x) has the gradient x for w, and not 3 x
    def of_one(x, w):
        with tf.GradientTape() as tape:
            tape.watch(w)
            y = bounded(w * x)
        return tape.gradient(y, w)

    got = mode.execute(mode.wrap(lambda x, w: vectorized_map(lambda x: of_one(x, w), x)), X, 2.)
    np.testing.assert_allclose(got, X)


# ------------------------------------------------------------------------------------------------------ functions, branches
def test_in_a_function(mode):
    f = harness.compiled_function(lambda x: square(x), False)
    check(mode, mapped(lambda x: f(x)), [X], [5. * X * X], value=X * X)
    g = harness.compiled_function(lambda w: bounded(w), False)
    x = np.array([0.5, 2., 3.], np.float32)
    check(mode, lambda x, w: vectorized_map(lambda x: x * g(w), x), [x, 2.], [[6., 6., 6.], 2.5], value=6. * x)


def test_a_tensor_from_the_closure_of_a_function_is_an_error_or_right(mode):
    # The function h does not take x, which only the gradient function reads: dy x.
    def body(x):
        @custom_grad
        def f(y):
            return y * 3., lambda dy: dy * x
        return harness.compiled_function(lambda y: f(y), False)(2. * x)

    with pytest.raises(RuntimeError, match="closure.*as an argument"):
        mode.gradients(mapped(body), X)


def test_in_branches(mode):
    f = mapped(lambda x: tf.cond(x > 1.5, lambda: square(x), lambda: ten(x)))
    right_or_error(HAS_CONTROL_FLOW and mode.builds and not mode.in_graph, lambda: check(
        mode, f, [X], [[10., 20., 45.]], value=[2., 4., 9.]))


def test_in_loops(mode):
    # x 3^2 with a gradient of at most 1 in each step
    f = mapped(lambda x: tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, bounded(x)), (0, x))[1])
    right_or_error(HAS_CONTROL_FLOW, lambda: check(mode, f, [X], [[1., 1., 1.]], value=9. * X))


def test_in_loops_of_their_own_lengths(mode):
    # the gradient of step i is that of ten: 10^i
    def body(x, n):
        return tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, ten(x)), (0, x))[1]
    f = lambda x: vectorized_map(lambda one: body(*one), (x, tf.constant([0, 1, 2])))
    right_or_error(False, lambda: check(mode, f, [X], [[1., 10., 100.]], value=[1., 4., 12.]))


# ----------------------------------------------------------------------------------------------------- what else has a gradient
def test_ready_made_functions(mode):
    check(mode, mapped(lambda x: clip_gradient_by_value(x * x, -0.5, 0.5)), [X], [X], value=X * X)
    check(mode, mapped(lambda x: scale_gradient(x, 3.)), [X], [[3., 3., 3.]], value=X)
    check(mode, mapped(straight_through(tf.round)), [X], [[1., 1., 1.]], value=X)


@pytest.mark.parametrize("f, gradient", [
    (lambda x: recompute(square)(x), 5. * X * X),
    (lambda x: py_func(lambda x: x * x, [x], tf.float32, grad=lambda op, dy: 7. * dy * op.inputs[0], shape=[]), 7. * X)],
    ids=["recompute", "py_func"])
def test_functions_that_pfor_may_not_know(mode, f, gradient):
    right_or_error(VERSION >= (2, 3), lambda: check(mode, mapped(f), [X], [gradient], value=X * X))


@pytest.mark.needs("builds")
def test_overridden_gradients(mode):
    # of the rectifier in the block 10 dy; for a w that is the same in all iterations their sum. Outside the true one.
    def body(x, w):
        with override_gradient({"Relu": lambda op, dy: 10. * dy}):
            y = tf.nn.relu(x)
            z = tf.nn.relu(w)
        return y + x * z + tf.nn.relu(x)
    f = lambda x, w: vectorized_map(lambda x: body(x, w), x)
    check(mode, f, [X, 2.], [[13., 13., 13.], 60.], value=4. * X)


def test_identities_of_others(mode):
    check(mode, mapped(lambda x: tf.identity_n([x * x, x])[0]), [X], [2. * X], value=X * X)


@pytest.mark.needs("builds", "calls_directly")
def test_explain_knows_them(mode):
    seen = []

    def f(x, w):
        y = vectorized_map(lambda x: square(x) * bounded(w), x)
        seen.append(explain(y, [x, w]))
        return y
    check(mode, f, [X, 2.], [6. * 5. * X * X, 1. + 1. + 1.])
    for way, name in zip(seen[0].ways, ("square", "bounded")):
        assert way.arrives and len(way.custom_gradients) == 1
        assert name in way.text and "vectorized_map" in way.text


# ----------------------------------------------------------------------------------------------------- graphs that are copied
@pytest.mark.needs("in_graph")
def test_an_imported_body_has_the_gradient(mode):
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [], name="x")
        tf.identity(bounded(x), name="y")
        graph_def = v1.get_default_graph().as_graph_def()
    body = lambda x: tf.import_graph_def(graph_def, {"x": x}, ["y:0"])[0]
    x = np.array([0.25, 1., 3.], np.float32)  # the gradient dy = 2 x is at most 1
    check(mode, mapped(lambda x: body(x) * tf.stop_gradient(2. * x)), [x], [[0.5, 1., 1.]], value=6. * x * x)


@pytest.mark.needs("in_graph")
def test_an_exported_map_is_an_error(mode):
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [3], name="x")
        tf.identity(vectorized_map(ten, x), name="y")
        meta_graph = v1.train.export_meta_graph(graph=graph)
    with tf.Graph().as_default() as graph:
        v1.train.import_meta_graph(meta_graph)
        with pytest.raises(LookupError, match="ten.*vectorized_map.*map_fn"):
            v1.gradients(graph.get_tensor_by_name("y:0"), graph.get_tensor_by_name("x:0"))


@pytest.mark.needs("in_graph")
def test_graphs_are_freed(mode):
    def build():
        with tf.Graph().as_default() as graph:
            x = v1.placeholder(tf.float32, [3])
            [dx] = gradients_of(vectorized_map(square, x), [x])
            with new_session(graph) as session:
                assert session.run(dx, {x: X}).tolist() == [5., 20., 45.]
        return weakref.ref(graph)
    graphs = [build() for _ in range(3)]
    gc.collect()
    assert [graph() for graph in graphs] == [None] * 3
