# -*- coding: utf-8 -*-
"""Section 10 of docs/contract.md, clauses 10.28 to 10.30: recompute."""
from __future__ import absolute_import, division, print_function

import functools

import numpy as np
import pytest
import tensorflow as tf

from harness import KERAS_3, VERSION, check, gradients_of, right_or_error, same, v1, variable
from tfgradcompat import custom_grad, py_func, recompute

if VERSION >= (1, 13):
    stateless_uniform = tf.random.stateless_uniform
elif VERSION >= (1, 4):
    stateless_uniform = __import__("tensorflow.contrib.stateless", fromlist=["x"]).stateless_random_uniform
needs_stateless = pytest.mark.skipif(VERSION < (1, 4), reason="TensorFlow 0.12-1.3 has no stateless random numbers (10.30)")


def square_of_sine(x):
    return tf.square(tf.sin(x))


def at_one(w=1.):
    """Value and gradient of w sin(x)^2 at x = 1."""
    return w * np.sin(1.) ** 2, w * 2. * np.sin(1.) * np.cos(1.)


# ---------------------------------------------------------------------------------------------- 10.28 values and derivatives
@pytest.mark.clause("10.28")
def test_values_and_gradients(mode):
    value, gradient = at_one()
    check(mode, recompute(square_of_sine), [1.], [gradient], value=value)
    check(mode, recompute(square_of_sine), [[1., 1.]], [[2. * gradient, 3. * gradient]], upstream=[[2., 3.]])


@pytest.mark.clause("10.28")
def test_the_gradient_is_that_of_the_run_and_not_of_a_derivative(mode):
    """Decorated functions in f keep their own gradients."""
    @custom_grad
    def f(x):
        return x * 2., lambda dy: dy * 11.

    check(mode, recompute(lambda x: f(f(x))), [1.], [121.], value=4.)


@pytest.mark.clause("10.28")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_every_floating_dtype(mode, dtype):
    dtype = getattr(tf, dtype)

    def program(x):
        y = recompute(lambda x: x * x)(tf.cast(x, dtype))
        return tf.cast(v1.real(y) if dtype.is_complex else y, tf.float32)

    check(mode, program, [[1., -2.]], [[2., -4.]], value=[1., 4.])


@pytest.mark.clause("10.28")
def test_unknown_shapes_scalars_and_empty_tensors(mode):
    f = recompute(lambda x: x * x)
    check(mode, f, [[1., 2.]], [[2., 4.]], value=[1., 4.], shapes=["unknown"])
    check(mode, f, [np.zeros([0, 2], np.float32)], [np.zeros([0, 2])], value=np.zeros([0, 2]))


@pytest.mark.clause("10.28")
def test_arguments_of_any_kind(mode):
    def f(parts, scale=1., *more, **options):
        return {"product": parts["a"] * parts["b"][0] * scale * options["factor"] + more[0], "unused": parts["a"],
                "integer": tf.constant(3), "none": None, "number": scale}

    def program(x, y, z):
        result = recompute(f)({"a": x, "b": [y]}, 5., z, factor=7.)
        assert result["none"] is None and result["number"] == 5.
        return result["product"]

    # Functions of 1.8 to 1.10 with the tape inside fail where the loss leaves a result unused: see docs/limits.md.
    right_or_error(VERSION >= (1, 11) or not mode.tape_inside, lambda: check(
        mode, program, [2., 3., 1.], [105., 70., 1.], value=211.))
    check(mode, lambda x: recompute(lambda x, i: x * tf.cast(i, tf.float32))(x, tf.constant(4)), [2.], [4.], value=8.)


@pytest.mark.clause("10.28")
def test_methods_partials_and_names(mode):
    class Layer(object):
        def __init__(self, factor):
            self.factor = factor

        @recompute
        def call(self, x):
            """doc"""
            return x * x * self.factor

    check(mode, Layer(3.).call, [2.], [12.], value=12.)
    check(mode, recompute(functools.partial(lambda a, x: a * x * x, 5.)), [2.], [20.], value=20.)
    assert recompute(square_of_sine).__name__ == "square_of_sine" and Layer.call.__doc__ == "doc"


@pytest.mark.clause("10.28")
def test_variables_that_are_read(mode, kind):
    def program(x, w):
        def f(x):
            return x * x * w
        return recompute(f)(recompute(f)(x))

    # w (w x^2)^2: w^3 x^4
    right_or_error(mode.in_grad_reads_variables or VERSION >= (1, 9), lambda: check(
        mode, program, [1., variable(2., kind=kind)], [32., 12.], value=8.))


@pytest.mark.clause("10.28")
@pytest.mark.needs("in_graph")
def test_variables_that_are_made_and_found_again(mode):
    def f(x):
        with v1.variable_scope(None, default_name="layer"):
            return x * x * v1.get_variable("w", [], initializer=v1.constant_initializer(3.))

    def program(x):
        with v1.variable_scope("outer"):
            y = recompute(f)(recompute(f)(x))
        variables = v1.trainable_variables()
        return [y, gradients_of([y], [x] + variables), [v.op.name for v in variables]]

    value, gradients, names = mode.execute(program, 1.)
    assert names == ["outer/layer/w", "outer/layer_1/w"]
    np.testing.assert_allclose([value] + gradients, [27., 108., 18., 9.])


@pytest.mark.clause("10.28")
@pytest.mark.needs("in_graph")
def test_a_tensor_from_the_closure_gets_no_gradient(mode):
    """Nor do the variables behind it, though f reads one of them itself."""
    def program(x, w):
        captured = w * 3.
        return recompute(lambda x: x * w * captured)(x)

    check(mode, program, [2., variable(5., kind="ref")], [75., 30.], value=150.)


@pytest.mark.clause("10.28")
@pytest.mark.needs("higher_order")
def test_second_order(mode):
    same(mode.higher(recompute(lambda x: x * x * x), 2, 2.), [[12.], [12.]])


@pytest.mark.clause("10.28")
@pytest.mark.needs("control_flow")
def test_control_flow_outside_and_inside(mode):
    def loop(body, x):
        return tf.while_loop(lambda i, v: i < 2, lambda i, v: [i + 1, body(v)], [tf.constant(0), x])[1]

    square = lambda v: v * v
    check(mode, lambda x: loop(recompute(square), x), [2.], [32.], value=16.)
    check(mode, recompute(lambda x: loop(square, x)), [2.], [32.], value=16.)
    check(mode, lambda x: tf.cond(x > 0., lambda: recompute(square)(x), lambda: x), [2.], [4.], value=4.)


@pytest.mark.clause("10.28")
@pytest.mark.needs("autograph")
def test_autograph_converts_f(mode):
    def f(x):
        if x > 1.:
            return x * x
        return x * 3.

    check(mode, recompute(f), [2.], [4.], value=4.)


# ----------------------------------------------------------------------------------------------------- 10.29 memory and runs
@pytest.mark.clause("10.29")
def test_it_runs_twice_for_a_gradient_and_once_without(mode):
    runs = []

    def numpy_double(a):
        runs.append(1)
        return a * 2

    def f(x):
        return x * x * tf.stop_gradient(py_func(numpy_double, [x], tf.float32, shape=[]))

    check(mode, recompute(f), [3.], [36.], value=54.)
    assert len(runs) == 2
    mode.run(recompute(f), 3.)
    assert len(runs) == 3


@pytest.mark.clause("10.29")
@pytest.mark.needs("in_graph")
def test_the_backward_pass_takes_nothing_from_the_first_run(mode):
    """So nothing of it is kept. ci/memory.py measures it."""
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [3])
        y = recompute(lambda x: square_of_sine(square_of_sine(x)))(x)
        first = [op for op in graph.get_operations() if op.type in ("Sin", "Square")]
        names = set(op.name for op in first)
        gradients_of([y], [x])
        sines = [op for op in graph.get_operations() if op.type == "Sin"]
        second = [op for op in graph.get_operations() if op.type in ("Sin", "Square", "Cos", "Mul") and op.name not in names]
        assert len(first) == 4 and len(sines) == 4
        taken = [t.name for op in second for t in op.inputs if t.op.name in names]
        assert taken == []


@pytest.mark.clause("10.29")
@pytest.mark.skipif(VERSION < (2, 9), reason="before TensorFlow 2.9 it cannot be seen what XLA makes of it (10.29)")
@pytest.mark.needs("autograph", "tape_inside")
def test_xla_does_not_merge_the_two_runs(mode):
    def count(f):
        def program(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.square(f(x))
            return tape.gradient(y, x)
        made = tf.function(program, jit_compile=True, autograph=False).experimental_get_compiler_ir(tf.ones([64]))
        return made(stage="optimized_hlo").count(" exponential(")

    assert count(recompute(lambda x: tf.sin(tf.exp(x)))) == count(lambda x: tf.sin(tf.exp(x))) + 1


# ---------------------------------------------------------------------------------------------------------- 10.30 randomness
@pytest.mark.clause("10.30")
@needs_stateless
def test_with_a_seed_the_mask_is_the_same(mode):
    def dropout(x, seed):
        return x * tf.round(stateless_uniform([16], seed))

    y, [gradient] = mode.value_and_gradients(recompute(dropout, seed=3), np.ones([16], np.float32))
    assert 0 < y.sum() < 16
    np.testing.assert_array_equal(y, gradient)


@pytest.mark.clause("10.30")
@needs_stateless
def test_the_mask_is_another_one_each_time(mode):
    f = recompute(lambda x, seed: x * stateless_uniform([16], seed), seed=3)
    a, b = mode.run(lambda x: [f(x), f(x)], np.ones([16], np.float32))
    assert (a != b).all()


@pytest.mark.clause("10.30")
@pytest.mark.needs("control_flow")
@needs_stateless
def test_the_mask_is_the_same_in_loops(mode):
    f = recompute(lambda x, seed: x * tf.round(stateless_uniform([16], seed) + 0.3), seed=3)

    def program(x):
        return tf.while_loop(lambda i, v: i < 2, lambda i, v: [i + 1, f(v)], [tf.constant(0), x])[1]

    y, [gradient] = mode.value_and_gradients(program, np.ones([16], np.float32))
    np.testing.assert_array_equal(y, gradient)


def draws_in_a_branch(x):
    return tf.cond(x > 0., lambda: x * v1.random_uniform([]), lambda: x)


@pytest.mark.clause("10.30")
@pytest.mark.parametrize("f", [
    lambda x: x * v1.random_uniform([]), lambda x: x + v1.random_normal([], seed=1), lambda x: v1.random_shuffle([x, x])[0],
    draws_in_a_branch], ids=["uniform", "normal with a seed", "shuffle", "in a branch"])
def test_without_a_seed_random_numbers_are_an_error(mode, f):
    with pytest.raises(RuntimeError, match="draws random numbers.*seed"):
        mode.gradients(recompute(f), 1.)


@pytest.mark.clause("10.30")
@pytest.mark.skipif(VERSION < (2, 0), reason="random generators came with TensorFlow 2.0 (10.30)")
@pytest.mark.needs("autograph")
def test_generators_with_a_state_are_an_error(mode):
    made = []

    def f(x):
        if not made:
            with tf.init_scope():
                made.append(tf.random.experimental.Generator.from_seed(1))
        return x * made[0].normal([])

    with pytest.raises(RuntimeError, match="draws random numbers|changes an integer variable"):
        mode.gradients(recompute(f), 1.)
    if KERAS_3:
        layer = tf.keras.layers.Dropout(0.5)
        with pytest.raises(RuntimeError, match="changes an integer variable"):
            mode.gradients(recompute(lambda x: layer(x, training=True)), [1., 2.])


@pytest.mark.clause("10.30")
@pytest.mark.needs("in_graph")
def test_integer_variables_of_old_graphs_are_not_changed_twice(mode):
    def program(x, counts):
        def f(x):
            with tf.control_dependencies([v1.scatter_add(counts, [0], [1])]):
                return x * 1.
        return recompute(f)(x)

    with pytest.raises(RuntimeError, match="changes an integer variable"):
        mode.gradients(program, 1., variable(np.int32([0, 0]), "ref"))


BAD = [(None, None, "function"), (3., None, "function"), ("f", None, "function"), ([abs], None, "function"), ({}, None, "function"),
       (np.zeros(2), None, "function"), (square_of_sine, 1.5, "seed must be"), (square_of_sine, "1", "seed must be"),
       (square_of_sine, [1, 2], "seed must be"), (square_of_sine, True, "seed must be"), (square_of_sine, (), "seed must be"),
       (square_of_sine, {}, "seed must be"), (square_of_sine, 1, "takes no `seed`"), (lambda *a: a, 1, "takes no `seed`")]


@pytest.mark.clause("10.30")
@pytest.mark.parametrize("f, seed, text", BAD, ids=[str(i) for i in range(len(BAD))])
def test_bad_arguments(f, seed, text):
    with pytest.raises(TypeError, match=text):
        recompute(f, seed)


@pytest.mark.clause("10.30")
@pytest.mark.parametrize("call, text", [
    (lambda f, x: f(), "argument 'x' is missing"),
    (lambda f, x: f(x, x, x), "takes 2 positional arguments but 3"),
    (lambda f, x: f(x, x=x), "two values for argument 'x'"),
    (lambda f, x: f(x, z=x), "unexpected keyword argument 'z'"),
    (lambda f, x: f(x, seed=1), "`seed` is given to it by recompute"),
])
def test_bad_calls(mode, call, text):
    f = recompute(lambda x, seed: x, seed=1)
    with pytest.raises(TypeError, match=text):
        mode.run(lambda x: call(f, x), 1.)


@pytest.mark.clause("10.30")
@pytest.mark.needs("in_graph")
def test_a_variable_that_is_made_twice_is_an_error(mode):
    with pytest.raises(RuntimeError, match="makes a variable each time"):
        mode.gradients(recompute(lambda x: x * v1.Variable(2., name="w")), 1.)
