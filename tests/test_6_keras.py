# -*- coding: utf-8 -*-
"""Clause 6.4 of docs/contract.md: decorated functions in Keras models. The set-up says whether eager mode is on."""
from __future__ import absolute_import, division, print_function

import importlib
import os

import numpy as np
import pytest
import tensorflow as tf

from harness import EAGER, HAS_H5, KERAS_3, VERSION, v1
from tfgradcompat import (
    clip_gradient_by_value, custom_grad, custom_objects, keras_layer, py_func, recompute, reverse_gradient,
    scale_gradient, straight_through)

# TEST_KERAS=tf_keras in the environment tests that package, where it is installed, in place of TensorFlow's own.
KERAS = os.environ.get("TEST_KERAS")
keras = importlib.import_module(KERAS) if KERAS else getattr(tf, "keras", None)
KERAS_3 = KERAS_3 and not KERAS

pytestmark = [
    pytest.mark.skipif(VERSION < (1, 13), reason="TensorFlow 0.12-1.12: Keras cannot (6.4)"),
    pytest.mark.clause("6.4"), pytest.mark.one_route]
eagerly = pytest.mark.parametrize("eagerly", [False, True] if EAGER and VERSION >= (1, 15) else [False])


@custom_grad
def fifty(x, y, k=1., text=None):
    """Two results and what is no tensor; the gradients are 50 and 70 times the upstream ones."""
    return {"a": x * 2. * k, "b": [y * 3., 7, text]}, lambda da, db: (50. * da, 70. * db)


@custom_grad
def single(x):
    return 2. * x, lambda dy: 50. * dy


def dense(**options):
    """One weight, 1 at first."""
    return keras.layers.Dense(1, kernel_initializer="ones", use_bias=False, **options)


def loss_of(target, output):
    return output


def step(model, *inputs, **options):
    """The weights after a step of gradient descent on the sum of all outputs, at learning rate 0.01."""
    count = len(model.outputs)
    model.compile(optimizer=keras.optimizers.SGD(0.01), loss=[loss_of] * count if count > 1 else loss_of, **options)
    xs = [np.array(x, np.float32) for x in inputs]
    target = np.zeros([len(xs[0]), 1], np.float32)
    model.fit(xs if len(xs) > 1 else xs[0], [target] * count if count > 1 else target, epochs=1, verbose=0, batch_size=len(target))
    return np.ravel([np.ravel(w) for w in model.get_weights()])


def close(got, expected, what=""):
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6, err_msg=what)


def run_eagerly(eagerly):
    return {"run_eagerly": True} if eagerly else {}


def two_branches():
    x, y = keras.layers.Input(shape=(1,)), keras.layers.Input(shape=(1,))
    result = fifty(dense()(x), text="kept", k=3., y=dense()(y))
    assert result["b"][1:] == [7, "kept"]
    return keras.Model([x, y], [result["a"], result["b"][0]])


# ---------------------------------------------------------------------------------------------------- symbolic tensors
@eagerly
def test_a_model_of_symbolic_tensors_is_trained_with_the_custom_gradient(eagerly):
    model = two_branches()
    # the loss is the sum of both outputs: dw = 50 x and 70 y, here 2 * 50 and 3 * 70
    close(step(model, [[2.]], [[3.]], **run_eagerly(eagerly)), [1. - 0.01 * 100., 1. - 0.01 * 210.])
    close(model.predict([np.array([[2.]]), np.array([[3.]])])[1], [[3. * 3. * (1. - 2.1)]])


def test_the_step_that_users_write():
    if not hasattr(keras.Model, "train_step"):
        assert VERSION < (2, 2)
        return
    x = keras.layers.Input(shape=(1,))

    class Model(keras.Model):
        def train_step(self, data):
            inputs = data[0]
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(self(inputs, training=True))
            [w] = self.trainable_variables
            self.optimizer.apply_gradients([(tape.gradient(loss, tape_source(w)), w)])
            return {"loss": loss}
    tape_source = lambda w: w.value if KERAS_3 else w
    close(step(Model(x, single(dense()(x))), [[2.]]), [0.])


@pytest.mark.skipif(not EAGER, reason="TensorFlow 1.13-1.15 without eager mode: the test after is that of graphs (6.4)")
def test_gradients_of_the_inputs():
    x = keras.layers.Input(shape=(1,))
    model = keras.Model(x, single(single(x)))
    x = tf.constant([[1.]])
    for call in [model] + ([tf.function(model)] if VERSION >= (2, 0) else []):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = call(x)
        close(tape.gradient(y, x).numpy(), [[2500.]])


@pytest.mark.skipif(EAGER, reason="TensorFlow 1.13-1.15 with eager mode: the test before is that of tapes (6.4)")
def test_gradients_in_the_graph_of_keras():
    x = keras.layers.Input(shape=(1,))
    y = single(x)
    x_2 = tf.constant([[1.]])
    y_2 = keras.Model(x, y)(x_2)
    gradients = [v1.gradients(y, x)[0], v1.gradients(y_2, x_2)[0]]
    close(keras.backend.get_session().run(gradients, {x: [[1.]]}), [[[50.]], [[50.]]])


READY_MADE = {
    # the gradient of a weight whose input is 2
    "scale": (lambda x: scale_gradient(x, 5.), 10.),
    "reverse": (lambda x: reverse_gradient(x), -2.),
    "clip": (lambda x: clip_gradient_by_value(x, -0.1, 0.1), 0.2),
    "straight-through": (straight_through(tf.round), 2.),
    "recompute": (recompute(lambda x: x * x), 8.),  # d (2 w)^2 / dw = 8 w
    "numpy": (lambda x: py_func(np.square, [x], tf.float32, grad=lambda op, dy: 50. * dy, shape=[None, 1]), 100.),
}


@pytest.mark.parametrize("name", sorted(READY_MADE))
def test_ready_made_functions(name):
    f, gradient = READY_MADE[name]
    x = keras.layers.Input(shape=(1,))
    close(step(keras.Model(x, f(dense()(x))), [[2.]]), [1. - 0.01 * gradient])


def test_dtypes_stay():
    x = keras.layers.Input(shape=(2,), dtype="float64")
    y = single(x)
    assert tf.as_dtype(y.dtype) == tf.float64 and list(y.shape)[1:] == [2]


# ------------------------------------------------------------------------------------------------ layers, as ever
class Owner(keras.layers.Layer if keras else object):
    """A layer whose function takes the weight, or reads it."""

    def __init__(self, takes, **options):
        super(Owner, self).__init__(**options)
        self.takes = takes

    def build(self, shape):
        self.w = self.add_weight(name="w", shape=[], initializer="ones")
        super(Owner, self).build(shape)

    def call(self, inputs):
        if self.takes:
            return custom_grad(lambda x, w: (x * w, lambda dy: (None, 50. * tf.reduce_sum(dy))))(inputs, self.w)
        f = lambda x: (x * tf.convert_to_tensor(self.w), lambda dy, variables: (None, [50. * tf.reduce_sum(dy)]))
        return custom_grad(f)(inputs)


@eagerly
@pytest.mark.parametrize("takes", [True, False])
def test_weights_of_a_layer(takes, eagerly):
    x = keras.layers.Input(shape=(1,))
    close(step(keras.Model(x, Owner(takes)(x)), [[2.], [4.]], **run_eagerly(eagerly)), [1. - 0.01 * 50.])


@pytest.mark.clause("6.5")
@pytest.mark.skipif(VERSION < (2, 4), reason="TensorFlow before 2.4 has mixed precision under other names (6.5)")
@pytest.mark.parametrize("takes", [True, False])
def test_mixed_precision_and_loss_scaling(takes):
    x = keras.layers.Input(shape=(1,))
    owner = Owner(takes, dtype=keras.mixed_precision.Policy("mixed_float16"))
    model = keras.Model(x, keras.layers.Activation("linear", dtype="float32")(owner(x)))
    optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.01), initial_scale=8.)
    model.compile(optimizer=optimizer, loss=loss_of)
    model.fit(np.array([[2.], [4.]], np.float32), np.zeros([2, 1]), verbose=0, batch_size=2)
    assert tf.as_dtype(owner.compute_dtype) == tf.float16
    close(np.ravel(model.get_weights()), [1. - 0.01 * 50.])


def test_a_lambda_layer():
    x = keras.layers.Input(shape=(1,))
    close(step(keras.Model(x, keras.layers.Lambda(single)(dense()(x))), [[2.]]), [0.])


def test_keras_layer():
    x, y = keras.layers.Input(shape=(1,)), keras.layers.Input(shape=(1,))
    scaled = keras_layer(scale_gradient, scale=5., name="scaled")
    assert scaled.name == "scaled"
    close(step(keras.Model(x, scaled(dense()(x))), [[2.]]), [1. - 0.01 * 10.])
    both = keras_layer(custom_grad(lambda x, y: (x + y, lambda dy: (50. * dy, 70. * dy))))
    close(step(keras.Model([x, y], both([dense()(x), dense()(y)])), [[2.]], [[3.]]), [0., 1. - 2.1])


# ------------------------------------------------------------------------------------------- copied, saved and loaded
def copies(model, folder):
    """`{name: a copy of a model}` by all ways of this release."""
    made = {}
    again = lambda: keras.Model.from_config(model.get_config(), custom_objects=custom_objects(keras))
    made["config"] = again()
    made["config"].set_weights(model.get_weights())
    if VERSION >= (1, 14):
        made["clone"] = keras.models.clone_model(model)
        made["clone"].set_weights(model.get_weights())
    formats = ["h5"] if HAS_H5 else []
    formats += ["keras"] if VERSION >= (2, 12) else []
    formats += [""] if (2, 0) <= VERSION < (2, 16) else []
    for extension in formats:
        path = os.path.join(folder, "model." + extension if extension else "saved_model")
        model.save(path)
        made[extension] = keras.models.load_model(path, custom_objects=custom_objects(keras), compile=False)
    return made


def test_copies_and_saved_models_have_the_gradient(tmpdir):
    model = two_branches()
    for name, copy in sorted(copies(model, str(tmpdir)).items()):
        close(step(copy, [[2.]], [[3.]]), [0., 1. - 2.1], name)
    x = keras.layers.Input(shape=(1,))
    model = keras.Model(x, keras_layer(scale_gradient, scale=5.)(dense()(x)))
    for name, copy in sorted(copies(model, str(tmpdir)).items()):
        close(step(copy, [[2.]]), [1. - 0.01 * 10.], name)


def test_a_function_that_is_not_known_is_an_error():
    x = keras.layers.Input(shape=(1,))
    model = keras.Model(x, single(x))
    config = eval(repr(model.get_config()).replace("test_6_keras.single", "test_6_keras.gone"))
    with pytest.raises(LookupError, match="test_6_keras.gone.*Import the module"):
        keras.Model.from_config(config, custom_objects=custom_objects(keras))


@pytest.mark.parametrize("what", ["lambda", "object", "array"])
def test_what_cannot_be_saved_says_so(what):
    x = keras.layers.Input(shape=(1,))
    y = {"lambda": lambda: custom_grad(lambda x: (x, lambda dy: dy))(x),
         "object": lambda: fifty(x, x, text=pytest)["a"],
         "array": lambda: fifty(x, np.ones([1, 1], np.float32))["a"]}[what]()
    model = keras.Model(x, y)
    with pytest.raises(NotImplementedError, match="cannot be saved"):
        model.layers[-1].get_config()


# --------------------------------------------------------------------------------------------------------------- errors
@pytest.mark.skipif(not EAGER, reason="TensorFlow 1.13-1.15 without eager mode: optimizers find all variables of the graph (6.4)")
@pytest.mark.parametrize("how", ["taken", "read"])
def test_variables_that_no_layer_owns_are_an_error(how):
    w = keras.Variable(3., name="w") if KERAS_3 else tf.Variable(3., name="w")
    product = custom_grad(lambda x, w: (x * w, lambda dy: (dy, tf.reduce_sum(dy))))
    reads = custom_grad(lambda x: (x * w, lambda dy, variables: (dy, [None])))
    x = keras.layers.Input(shape=(1,))
    swallowed = how == "read" and VERSION < (1, 14)  # Keras of 1.13 has an error of its own where a layer's call has one
    with pytest.raises(NotImplementedError if swallowed else TypeError, match="" if swallowed else "uses the variables 'w.*would not train"):
        product(x, w) if how == "taken" else reads(x)


@pytest.mark.skipif(not EAGER or VERSION < (2, 4), reason="TensorFlow before 2.4: symbolic tensors are tensors (6.4)")
def test_a_symbolic_tensor_from_a_closure_is_an_error():
    x = keras.layers.Input(shape=(1,))
    with pytest.raises(RuntimeError, match="symbolic Keras tensor.*from its closure"):
        custom_grad(lambda y: (x, lambda dy: dy))(tf.constant(1.))


def test_only_decorated_functions_become_layers():
    for f in (tf.nn.relu, None, "f", py_func):
        with pytest.raises(TypeError, match="keras_layer: f must be a function decorated"):
            keras_layer(f)
