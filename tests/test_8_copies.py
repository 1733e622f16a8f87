# -*- coding: utf-8 -*-
"""Section 8 of docs/contract.md: operations that are copied or changed within one process, and weights that are saved alone."""
from __future__ import absolute_import, division, print_function

import gc

import numpy as np
import pytest
import tensorflow as tf

import harness
from harness import HAS_RESOURCE, VERSION, get_variable, gradients_of, new_session, v1
from tfgradcompat import custom_grad

pytestmark = [pytest.mark.clause("8.6"), pytest.mark.needs("in_graph")]
has_graph_editor = pytest.mark.skipif(VERSION >= (2, 0), reason="TensorFlow 2.0 and newer has no graph editor (8.6)")
has_functions = pytest.mark.skipif(VERSION < (1, 15), reason="TensorFlow 0.12-1.14 copies no functions with a tape around them (8.6)")


@custom_grad
def square(x):
    """x^2, with a gradient of 5 x^2."""
    return x * x, lambda dy: 5. * dy * x * x


def inside(factor):
    @custom_grad
    def scaled(x):
        return x * 2., lambda dy: factor * dy
    return scaled


def graph_editor():
    import tensorflow.contrib.graph_editor
    return tensorflow.contrib.graph_editor


def run(tensors, feed=None):
    with new_session(v1.get_default_graph()) as session:
        return [float(v) for v in session.run(tensors, feed)]


# ---------------------------------------------------------------------------------------------------------- graph editors
@has_graph_editor
def test_operations_copied_onto_another_input(mode):
    with tf.Graph().as_default():
        x, other = tf.constant(3.), tf.constant(2.)
        y = square(x)
        z = graph_editor().graph_replace(y, {x: other})
        assert run([y, z] + gradients_of(y, [x]) + gradients_of(z, [other]) + gradients_of(y * z, [x])) == [
            9., 4., 45., 20., 4. * 45.]


@has_graph_editor
def test_a_gradient_copied_with_its_operations(mode):
    with tf.Graph().as_default():
        x, other = tf.constant(3.), tf.constant(2.)
        y = square(x)
        assert run(graph_editor().graph_replace([y] + gradients_of(y, [x]), {x: other})) == [4., 20.]


@has_graph_editor
def test_a_graph_copied_into_another(mode):
    with tf.Graph().as_default() as graph:
        tf.identity(square(tf.constant(3., name="x")), name="y")
    with tf.Graph().as_default() as other:
        try:
            graph_editor().copy(graph_editor().sgv(graph.get_operations()), other)
            x, y = other.get_tensor_by_name("x:0"), other.get_tensor_by_name("y:0")
            found = run(gradients_of(y, [x]))
        except tf.errors.NotFoundError as error:  # the graph editor leaves out the functions that carry gradients before 1.4
            assert VERSION < (1, 4) and "CustomGrad" in str(error)
        else:
            assert found == [45.]


@has_graph_editor
@pytest.mark.skipif(VERSION < (1, 0), reason="the graph editor of TensorFlow 0.12 cannot change inputs (8.6)")
def test_operations_put_onto_another_input(mode):
    with tf.Graph().as_default() as graph:
        x, other = tf.identity(tf.constant(3.)), tf.constant(2.)
        y = square(x)
        graph_editor().reroute_ts([other], [x], can_modify=[op for op in graph.get_operations() if x in list(op.inputs)])
        assert run([y] + gradients_of(y, [other])) == [4., 20.]


@has_graph_editor
def test_a_copied_function_that_cannot_be_found_is_an_error(mode):
    with tf.Graph().as_default():
        x, other = tf.constant(3.), tf.constant(2.)
        y = inside(7.)(x)
        z = graph_editor().graph_replace(y, {x: other})
        assert run(gradients_of(y, [x])) == [7.]
        with pytest.raises(LookupError, match="scaled.*copied.*not known in this process"):
            gradients_of(z, [other])


# ------------------------------------------------------------------------------------------------------------------ imports
@pytest.mark.skipif(VERSION < (1, 4), reason="TensorFlow 0.12-1.3 cannot import the carrier: see test_8_saving.py (8.6)")
@pytest.mark.parametrize("scope", ["copy", "other/place"])
def test_a_graph_imported_into_itself(mode, scope):
    with tf.Graph().as_default() as graph:
        x = tf.constant(3., name="x")
        y = tf.identity(square(x), name="y")
        hidden = tf.identity(inside(7.)(x), name="hidden")
        other = tf.constant(2.)
        z, lost = tf.import_graph_def(graph.as_graph_def(), {"x:0": other}, ["y:0", "hidden:0"], name=scope)
        assert run(gradients_of(y, [x]) + gradients_of(z, [other]) + gradients_of(hidden, [x])) == [45., 20., 7.]
        with pytest.raises(LookupError, match="scaled.*not known in this process"):
            gradients_of(lost, [other])


def function_and_graph(f):
    """A function, its body as a GraphDef, and the names of what goes in and comes out."""
    function = harness.compiled_function(harness.do_not_convert(lambda x: f(x)), False).get_concrete_function(
        tf.TensorSpec([], tf.float32))
    return function, function.graph.as_graph_def(), [function.inputs[0].name, function.outputs[0].name]


@has_functions
def test_the_body_of_a_function_that_lives(mode):
    for f, gradient in ((square, 45.), (inside(7.), 7.)):
        function, graph_def, names = function_and_graph(f)
        with tf.Graph().as_default():
            x, y = tf.import_graph_def(graph_def, return_elements=names, name="")
            assert run(gradients_of(y, [x]), {x: 3.}) == [gradient]
        del function


@has_functions
@pytest.mark.skipif(not harness.EAGER, reason="with eager mode off the graph around a function keeps its calls, on every TensorFlow (8.6)")
def test_the_body_of_a_function_that_is_gone(mode):
    for f, name in ((square, "square"), (inside(7.), "scaled")):
        function, graph_def, names = function_and_graph(f)
        del function
        gc.collect()
        with tf.Graph().as_default():
            x, y = tf.import_graph_def(graph_def, return_elements=names, name="")
            # From 2.7 on each call in a function has a name of its own, which goes with it.
            if f is square and VERSION < (2, 7):
                assert run(gradients_of(y, [x]), {x: 3.}) == [45.]
            else:
                with pytest.raises(LookupError, match=name):
                    gradients_of(y, [x])


@has_functions
def test_a_copy_that_takes_a_tensor_of_the_first_graph_is_an_error(mode):
    def f(x):
        a = tf.sin(x)

        @custom_grad
        def g(x):
            return x * 2., lambda dy: dy * a
        return g(x)

    function, graph_def, names = function_and_graph(f)
    with tf.Graph().as_default():
        x, y = tf.import_graph_def(graph_def, return_elements=names, name="")
        with pytest.raises(ValueError, match="same graph"):
            gradients_of(y, [x])
    del function


@pytest.mark.skipif(VERSION < (1, 4), reason="a decorated function in a Defun in TensorFlow 0.12-1.3: a carrier in a carrier (8.6)")
def test_a_defun_has_no_gradient_rather_than_the_true_one(mode):
    defun = __import__("tensorflow.python.framework.function", fromlist=["Defun"]).Defun
    with tf.Graph().as_default():
        @defun(tf.float32)
        def body(x):
            return square(x)
        x = tf.constant(3.)
        y = body(x)
        assert run([y]) == [9.]
        with pytest.raises(tf.errors.NotFoundError, match="No gradient defined"):
            run(gradients_of(y, [x]))


# -------------------------------------------------------------------------------------------------------- SavedModel of TF 1
@pytest.mark.skipif(VERSION < (1, 0), reason="TensorFlow 0.12 has no SavedModel (8.6)")
def test_training_goes_on_with_a_saved_model_of_old(mode, tmpdir):
    """Step by step w -= 0.02 * 5 w^2: 1, 0.9 and, loaded, 0.9 - 0.1 * 0.81."""
    saved_model = v1.saved_model
    path = str(tmpdir.join("saved"))
    with tf.Graph().as_default() as graph:
        w = get_variable("w", np.float32(1.), HAS_RESOURCE)
        loss = tf.identity(square(tf.identity(w)), name="loss")
        train = v1.train.GradientDescentOptimizer(0.02).minimize(loss)
        with new_session(graph) as session:
            session.run(v1.global_variables_initializer())
            session.run(train)
            builder = saved_model.builder.SavedModelBuilder(path)
            builder.add_meta_graph_and_variables(session, ["train"])
            builder.save()
    with tf.Graph().as_default() as graph, new_session(graph) as session:
        try:
            saved_model.loader.load(session, ["train"], path)
            [w] = v1.trainable_variables()
            train = v1.train.GradientDescentOptimizer(0.02).minimize(
                graph.get_tensor_by_name("loss:0"), var_list=[w], name="again")
            session.run(train)
        except (ValueError, tf.errors.NotFoundError):  # as for meta graphs
            assert VERSION < (1, 4)
        else:
            assert abs(float(session.run(w)) - (0.9 - 0.1 * 0.81)) < 1e-6


# -------------------------------------------------------------------------------------------------------------- checkpoints
@pytest.mark.parametrize("f, steps", [
    (square, [0.9, 0.9 - 0.1 * 0.81]), (inside(7.), [1. - 0.14, 1. - 0.28])], ids=["plain", "nested"])
def test_training_goes_on_from_a_checkpoint(mode, tmpdir, f, steps):
    """The weights are saved, the program is run anew: w -= 0.02 times the gradient, 5 w^2 or 7."""
    path = str(tmpdir.join("model"))

    def step(restore):
        with tf.Graph().as_default() as graph:
            w = get_variable("w", np.float32(1.), HAS_RESOURCE)
            train = v1.train.GradientDescentOptimizer(0.02).minimize(f(tf.identity(w)))
            saver = v1.train.Saver()
            with new_session(graph) as session:
                session.run(v1.global_variables_initializer())
                if restore:
                    saver.restore(session, path)
                session.run(train)
                saver.save(session, path, write_meta_graph=False)
                return float(session.run(w))
    np.testing.assert_allclose([step(False), step(True)], steps, rtol=1e-6)
