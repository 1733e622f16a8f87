# -*- coding: utf-8 -*-
"""Section 10 of docs/contract.md, clauses 10.24 to 10.27: override_gradient and guided_backprop."""
from __future__ import absolute_import, division, print_function

import functools
import gc
import weakref

import numpy as np
import pytest
import tensorflow as tf

from harness import HAS_FUNCTION, KERAS_3, VERSION, check, compiled_function, gradients_of, right_or_error, same, v1
from hasty_threads import built, in_threads
from tfgradcompat import custom_grad, guided_backprop, override_gradient

ops = __import__("tensorflow.python.framework.ops", fromlist=["_gradient_registry"])

building = pytest.mark.needs("builds")
# 1.14 to 2.0 do not let us into the bodies of loops and branches that are functions.
BODIES = VERSION < (1, 14) or VERSION >= (2, 1)
times = lambda factor: lambda op, dy: dy * factor


# -------------------------------------------------------------------------------------------------- 10.24 what is overridden
@pytest.mark.clause("10.24")
@building
def test_operations_of_the_block_and_only_those(mode):
    def program(x):
        before = tf.nn.relu(x)
        with override_gradient({"Relu": lambda op, dy: tf.clip_by_value(dy, -5., 5.)}):
            inside = tf.nn.relu(x)
        return before + inside * 2. + tf.nn.relu(x) * tf.tanh(tf.zeros([2]))

    check(mode, program, [[-1., 2.]], [[5., 8. + 5.]], value=[0., 6.], upstream=[[4., 8.]])


@pytest.mark.clause("10.24")
@building
def test_several_types_and_blocks_in_blocks(mode):
    def program(x):
        with override_gradient({"Relu": times(7.), "Tanh": times(3.)}):
            y = tf.tanh(tf.nn.relu(x))
            with override_gradient({"Relu": times(5.)}):
                z = tf.tanh(tf.nn.relu(x))
            w = tf.nn.relu(x)
        return y + z + w

    check(mode, program, [1.], [21. + 15. + 7.], value=1. + 2. * np.tanh(1.), rtol=1e-5)


@pytest.mark.clause("10.24")
@building
def test_grad_sees_the_operation(mode):
    seen = []

    def grad(op, dy):
        seen.append((op.type, len(op.inputs), op.get_attr("T")))
        return [dy * op.inputs[1] * 10., dy * op.outputs[0]]

    def program(x, y):
        with override_gradient({"Maximum": grad}):
            return tf.maximum(x, y)

    check(mode, program, [2., 3.], [30., 3.], value=3.)
    assert set(seen) == {("Maximum", 2, tf.float32)}


@pytest.mark.clause("10.24")
@building
@pytest.mark.parametrize("returned", [np.array([3., 4.]), [3., 4.], None], ids=["array", "list of one", "None"])
def test_what_grad_may_return(mode, returned):
    def program(x):
        with override_gradient({"Relu": lambda op, dy: [returned]}):
            return tf.nn.relu(x) * 1.

    check(mode, program, [[1., 2.]], [None if returned is None else [3., 4.]], value=[1., 2.])


@pytest.mark.clause("10.24")
@building
def test_zeros_for_an_output_that_the_loss_does_not_use(mode):
    def program(x):
        with override_gradient({"Unpack": lambda op, *dys: tf.stack([dy * 2. + 1. for dy in dys])}):
            return tf.unstack(x)[1]

    # Functions of 1.8 to 1.10 with the tape inside fail on it, in the second such function: see docs/limits.md.
    right_or_error(VERSION >= (1, 11) or not mode.tape_inside, lambda: check(
        mode, program, [[1., 2.]], [[1., 3.]], value=2.))


@pytest.mark.clause("10.24")
@pytest.mark.needs("builds", "higher_order")
def test_second_order(mode):
    def program(x):
        with override_gradient({"Relu": lambda op, dy: dy * op.inputs[0] * op.outputs[0]}):
            return tf.nn.relu(x)

    # a gradient of x relu(x); its own: relu(x) + x (x relu(x)) = 2 + 2 * 4
    same(mode.higher(program, 2, 2.), [[4.], [10.]])


@pytest.mark.clause("10.24")
@pytest.mark.needs("builds", "control_flow")
@pytest.mark.parametrize("way", ["cond", "loop", "map"])
def test_loops_and_branches_of_the_block(mode, way):
    programs = {
        "cond": lambda x: tf.cond(x[0] > 0., lambda: tf.nn.relu(x), lambda: x),
        "loop": lambda x: tf.while_loop(lambda i, v: i < 2, lambda i, v: [i + 1, tf.nn.relu(v)], [tf.constant(0), x])[1],
        "map": lambda x: tf.map_fn(tf.nn.relu, x)}

    def program(x):
        with override_gradient({"Relu": times(5.)}):
            return programs[way](x)

    if BODIES or VERSION < (2, 0) and mode.name == "graph":
        check(mode, program, [[1., 2.]], [[25. if way == "loop" else 5.] * 2], value=[1., 2.])
    else:
        with pytest.raises(RuntimeError, match="'Relu'.*Put the `with` block into that function"):
            mode.gradients(program, [1., 2.])


@pytest.mark.clause("10.24")
@pytest.mark.needs("builds", "control_flow")
def test_a_block_in_a_branch(mode):
    def branch(x):
        with override_gradient({"Relu": times(5.)}):
            return tf.nn.relu(x)

    check(mode, lambda x: tf.cond(x > 0., lambda: branch(x), lambda: x), [1.], [5.], value=1.)


@pytest.mark.clause("10.24")
@building
def test_with_a_decorated_function_in_the_block(mode):
    @custom_grad
    def f(x):
        return x * 1., lambda dy: dy * 2.

    def program(x):
        with override_gradient({"Identity": times(5.)}):
            y = f(tf.identity(x))
        return tf.identity(y)

    check(mode, program, [1.], [10.], value=1.)


@pytest.mark.clause("10.24")
@pytest.mark.needs("in_graph")
def test_with_tensorflows_own_map_in_the_block(mode):
    ops.RegisterGradient("Eleven%s" % id(test_second_order))(times(11.))
    with tf.Graph().as_default() as graph:
        x = tf.constant(1.)
        with override_gradient({"Relu": times(5.)}):
            with graph.gradient_override_map({"Tanh": "Eleven%s" % id(test_second_order)}):
                y = tf.tanh(tf.nn.relu(x))
        z = tf.tanh(tf.nn.relu(x))
        found = gradients_of([y], [x]) + gradients_of([z], [x])
        with v1.Session(graph=graph) as session:
            np.testing.assert_allclose(session.run(found), [55., 1. - np.tanh(1.) ** 2], rtol=1e-5)


@pytest.mark.clause("10.24")
@pytest.mark.needs("in_graph")
def test_threads_that_build_one_graph(mode):
    with tf.Graph().as_default() as graph:
        x = tf.constant(1.)

        def work(k, i):
            def make():
                with override_gradient({"Relu": times(k + 2.), "Tanh": times(2.)}):
                    overridden = tf.tanh(tf.nn.relu(x))
                return overridden, tf.nn.relu(x)
            return built(graph, make)

        losses = in_threads(work, 4, 5)
        keys = sorted(losses)
        found = [[gradients_of([loss], [x])[0] for loss in losses[key]] for key in keys]
        with v1.Session(graph=graph) as session:
            np.testing.assert_allclose(session.run(found), [[2. * (k + 2), 1.] for k, _ in keys])


@pytest.mark.clause("10.24")
@pytest.mark.needs("in_graph")
def test_graphs_and_the_registry_are_freed(mode):
    count = lambda: len([name for name in ops._gradient_registry._registry if "override_gradient" in name])

    def build(grad):
        with tf.Graph().as_default() as graph:
            x = tf.constant(1.)
            for _ in range(3):
                with override_gradient({"Relu": grad}):
                    y = tf.nn.relu(x)
            gradients_of([y], [x])
        return graph

    gc.collect()
    before = count()
    one = times(2.)
    kept = [build(one), build(one)]
    assert count() == before + 1  # one entry for the function, however many blocks and graphs
    freed = [weakref.ref(build(times(3.))) for _ in range(3)]
    del kept
    gc.collect()
    assert [graph() for graph in freed] == [None] * 3
    assert count() == before


# -------------------------------------------------------------------------------------------------------------- 10.25 errors
@pytest.mark.clause("10.25")
def test_eager_mode_is_an_error(mode):
    if mode.name == "eager":
        with pytest.raises(RuntimeError, match="tf.function.*custom_grad"):
            mode.run(lambda x: override_gradient({"Relu": times(2.)}).__enter__(), 1.)
        with pytest.raises(RuntimeError, match="guided_backprop: eager mode"):
            mode.run(lambda x: guided_backprop().__enter__(), 1.)
    else:  # and there only
        mode.run(lambda x: (override_gradient({"Relu": times(2.)}).__enter__().__exit__(KeyError, None, None), x)[1], 1.)


@pytest.mark.clause("10.25")
@building
def test_a_block_without_effect_is_an_error(mode):
    def program(x):
        with override_gradient({"Relu": times(2.), "Tanh": times(2.)}):
            return tf.nn.relu(x)

    with pytest.raises(ValueError, match="type 'Tanh' was made.*Relu"):
        mode.run(program, 1.)


@pytest.mark.clause("10.25")
@building
def test_an_exception_in_the_block_passes_unchanged(mode):
    def program(x):
        with override_gradient({"Relu": times(2.)}):
            raise ArithmeticError("mine")

    with pytest.raises(Exception, match="mine"):
        mode.run(program, 1.)
    check(mode, tf.nn.relu, [1.], [1.])


@pytest.mark.clause("10.25")
@pytest.mark.skipif(not HAS_FUNCTION, reason="tf.function came with TensorFlow 1.14 (10.25)")
@building
def test_a_function_that_is_called_in_the_block_is_an_error(mode):
    inner = compiled_function(tf.nn.relu, mode.autograph)

    def program(x):
        with override_gradient({"Relu": times(2.)}):
            return tf.nn.relu(inner(x))

    with pytest.raises(RuntimeError, match="'Relu'.*Put the `with` block into that function"):
        mode.run(program, 1.)


BAD = [
    (TypeError, "dictionary", None),
    (TypeError, "dictionary", {}),
    (TypeError, "dictionary", "Relu"),
    (TypeError, "dictionary", [("Relu", times(2.))]),
    (TypeError, "dictionary", times(2.)),
    (TypeError, "must be a string", {3: times(2.)}),
    (TypeError, "must be a string", {None: times(2.)}),
    (TypeError, "must be a string", {tf.nn.relu: times(2.)}),
    (ValueError, "'relu'.*Similar are: Relu\\.", {"relu": times(2.)}),
    (ValueError, "'Rellu'.*Similar are:.*Relu", {"Rellu": times(2.)}),
    (ValueError, "no operation of type 'tf.nn.relu'", {"tf.nn.relu": times(2.)}),
    (ValueError, "no operation of type ''", {"": times(2.)}),
    (ValueError, "no operation of type 'Relu:0'", {"Relu:0": times(2.)}),
    (ValueError, "no operation of type 'Rel", {"Relu": times(2.), "Rel": times(2.)}),
    (TypeError, "'Relu' must be a function", {"Relu": None}),
    (TypeError, "'Relu' must be a function", {"Relu": 2.}),
    (TypeError, "'Relu' must be a function", {"Relu": "CustomRelu"}),
    (TypeError, r"takes the arguments \(dy\).*op and 1 upstream gradient,", {"Relu": lambda dy: dy}),
    (TypeError, r"takes the arguments \(op, a, b\).*op and 1", {"Relu": lambda op, a, b: a}),
    (TypeError, r"takes the arguments \(op, dy\).*op and 2 upstream gradients", {"TopKV2": lambda op, dy: dy}),
]


@pytest.mark.clause("10.25")
@pytest.mark.parametrize("exception, text, argument", BAD, ids=[str(i) for i in range(len(BAD))])
def test_bad_arguments(exception, text, argument):
    with pytest.raises(exception, match="override_gradient.*" + text):
        override_gradient(argument)


@pytest.mark.clause("10.25")
@building
@pytest.mark.parametrize("exception, text, returned", [
    (ValueError, "returned 2 gradients.*expected 1", [1., 2.]),
    (ValueError, "returned 0 gradients", []),
    (ValueError, r"shape \[3\].*\[2\]", [np.zeros(3)]),
    (TypeError, "returned str", "text"),
    (TypeError, "int32.*float32.*tf.cast", "cast"),
], ids=str)
def test_gradients_that_are_wrong(mode, exception, text, returned):
    def grad(op, dy):
        return tf.cast(dy, tf.int32) if returned == "cast" else returned

    def program(x):
        with override_gradient({"Relu": grad}):
            return tf.nn.relu(x)

    with pytest.raises(exception, match=text):
        mode.gradients(program, [1., 2.])


# ------------------------------------------------------------------------------------------------------ 10.26 guided backprop
@pytest.mark.clause("10.26")
@building
def test_guided_backprop(mode):
    def program(x):
        with guided_backprop():
            return tf.nn.relu(x)

    check(mode, program, [[1., -1., 2.]], [[1., 0., 0.]], value=[1., 0., 2.], upstream=[[1., 1., -1.]])


@pytest.mark.clause("10.26")
@building
@pytest.mark.parametrize("name, gradient", [("relu6", [0., 0., 0., 3.]), ("elu", [0., 2. * np.exp(-1.), 0., 3.])])
def test_every_rectifier(mode, name, gradient):
    def program(x):
        with guided_backprop():
            return getattr(tf.nn, name)(x)

    check(mode, program, [[-1., -1., 9., 2.]], [gradient], upstream=[[-1., 2., -1., 3.]], rtol=1e-5)


@pytest.mark.clause("10.26")
@building
def test_guided_backprop_without_rectifiers_is_an_error(mode):
    def program(x):
        with guided_backprop():
            return tf.tanh(x)

    with pytest.raises(ValueError, match="guided_backprop: no operation of type 'Elu' or .*'Relu'.* was made"):
        mode.run(program, 1.)


# ------------------------------------------------------------------------------------------- 10.27 models that have been built
def model_of(kind):
    layers = tf.keras.layers
    dense = functools.partial(layers.Dense, 1, kernel_initializer="ones", input_shape=(1,))
    if kind == "activation":
        return tf.keras.Sequential([dense(activation="relu")])
    if kind == "layer":
        return tf.keras.Sequential([dense(), layers.LeakyReLU()])
    inputs = tf.keras.Input((1,))
    return tf.keras.Model(inputs, tf.keras.Sequential([dense(activation="relu"), dense()])(inputs))


@pytest.mark.clause("10.27")
@pytest.mark.skipif(VERSION < (1, 13), reason="the layers of Keras do not run in every mode of TensorFlow 0.12-1.12 (10.27)")
@pytest.mark.parametrize("kind_of_model", ["activation", "layer", "nested"])
def test_a_model_that_has_been_built(mode, kind_of_model):
    if mode.in_graph and KERAS_3:
        pytest.skip("Keras 3, that of TensorFlow 2.16 and newer, has no graphs (10.27)")
    made = []
    if not mode.in_graph:
        made.append(model_of(kind_of_model))
        made[0](tf.ones([1, 1]))

    def program(x):
        model = made[0] if made else model_of(kind_of_model)
        model(x)
        with guided_backprop(model):
            y = -3. * model(x)
        return y + 0.5 * model(x)  # guided in the block only: 0 + 0.5

    check(mode, program, [[[1.]]], [[[0.5]]], value=[[-2.5]])


@pytest.mark.clause("10.27")
@pytest.mark.parametrize("model, exception, text", [
    (3., TypeError, "expected a Keras model"), ("relu", TypeError, "expected a Keras model"), ([], TypeError, "expected a Keras"),
    (tf.nn.relu, TypeError, "expected a Keras model"), ({}, TypeError, "expected a Keras model")], ids=str)
def test_what_is_no_model(model, exception, text):
    with pytest.raises(exception, match=text):
        guided_backprop(model)


@pytest.mark.clause("10.27")
@pytest.mark.skipif(VERSION < (1, 13), reason="the layers of Keras do not run in every mode of TensorFlow 0.12-1.12 (10.27)")
def test_a_model_without_rectifiers():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, activation="tanh")])
    with pytest.raises(ValueError, match="has no rectifier among its layers"):
        guided_backprop(model)
