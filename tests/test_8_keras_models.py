# -*- coding: utf-8 -*-
"""Clause 8.7 of docs/contract.md: Keras models with decorated functions in them, saved, loaded and trained further.

A model computes y = 2 w x, with the gradient 10 dy of the doubling in place of 2 dy. At x = 1 its loss y^2 has the gradient 40 w
(8 w is the true one), so that a step with the rate 0.01 leaves 0.6 w. It is trained for one step and saved with w = 0.6; another
process loads it and takes the next step, to 0.36. A step by the true gradient would leave 0.92 * 0.6.
"""
from __future__ import absolute_import, division, print_function

import pytest

from harness import HAS_H5, VERSION
from programs import in_order

HAS_SAVED_MODELS = (2, 0) <= VERSION < (2, 16)  # of Keras: Keras 3 exports them without the model
pytestmark = [pytest.mark.clause("8.7"), pytest.mark.once,
              pytest.mark.skipif(VERSION < (1, 4), reason="TensorFlow 0.12-1.3 has no tf.keras (8.7)"),
              pytest.mark.skipif(VERSION < (2, 0) and not HAS_H5, reason="TensorFlow 1.4-1.15 saves Keras models by h5py only (8.7)")]

MODULE = """
import tensorflow as tf
from tfgradcompat import custom_grad

@custom_grad
def ten(x):
    return x * 2., lambda dy: 10. * dy

def through_ten(x):
    return ten(x)

def inside(factor):
    @custom_grad
    def scaled(x):
        return x * 2., lambda dy: factor * dy
    return scaled

class Ten(tf.keras.layers.Layer):
    def call(self, x):
        return ten(x)

    def compute_output_shape(self, shape):
        return shape

class Scaled(tf.keras.layers.Layer):
    def __init__(self, factor=10., **options):
        super(Scaled, self).__init__(**options)
        self.factor = factor

    def call(self, x):
        return inside(self.factor)(x)

    def compute_output_shape(self, shape):
        return shape

    def get_config(self):
        return dict(super(Scaled, self).get_config(), factor=self.factor)
"""

BOTH = """
from __future__ import print_function
import os
import numpy as np, tensorflow as tf
VERSION = tuple(int(part) for part in tf.__version__.split(".")[:2])
keras = tf.keras

def step(model):
    # Compiled anew: what Keras saves of optimizers and losses differs.
    model.compile(keras.optimizers.SGD(0.01), loss="mse")
    model.train_on_batch(np.ones([1, 1], np.float32), np.zeros([1, 1], np.float32))
    return float(model.get_weights()[0].ravel()[0])

def near(got, expected):
    assert abs(got - expected) < 1e-6, (got, expected)
"""

SAVE = BOTH + """
import model

def saved(layer, *paths, **options):
    x = keras.layers.Input((1,))
    y = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")(x)
    net = keras.models.Model(x, layer(y))
    near(step(net), 0.6)
    for path in paths:
        net.save(path, **options)
    return net

saved(model.Ten(name="a"), "ten.h5", "ten.keras")
saved(model.Scaled(name="a"), "scaled.h5", "scaled.keras")
# Lambda(model.ten) itself cannot be saved before 2.16: Keras dumps the code of the function.
saved(keras.layers.Lambda(model.through_ten, name="a"), "lambda.h5", "lambda.keras")
if VERSION >= (2, 16):
    saved(keras.layers.Lambda(model.ten, name="a"), "direct.keras")
    saved(model.Scaled(name="a")).export("scaled")
else:
    try:
        saved(keras.layers.Lambda(model.ten, name="a"), "direct.h5")
    except TypeError as error:
        assert "tfgradcompat" in str(error)
    else:
        raise AssertionError("no error")
if (2, 0) <= VERSION < (2, 16):
    saved(model.Ten(name="a"), "ten")
    saved(model.Scaled(name="a"), "scaled")
if (2, 7) <= VERSION < (2, 16):
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    saved(model.Ten(name="a"), "ten_without", options=options)
    saved(model.Scaled(name="a"), "scaled_without", options=options)
"""

LOAD = BOTH + """
import tfgradcompat

def loaded(path, custom=()):
    options = {"safe_mode": False} if "lambda" in path and VERSION >= (2, 13) else {}  # the code of a function is loaded
    return keras.models.load_model(path, compile=False, custom_objects=dict(custom), **options)

def fails(path, *words, **options):
    try:
        near(step(loaded(path, **options)), 0.36)
    except Exception as error:
        assert not isinstance(error, AssertionError), error
        assert any(word in str(error) for word in words), (path, type(error), str(error))
    else:
        raise AssertionError("no error for %s" % path)

def goes_on(path, **options):
    near(step(loaded(path, **options)), 0.36)

# "not callable" is all that Keras says of a class that it does not know, 2.13 to 2.15.
for suffix in (".h5", ".keras"):
    fails("ten" + suffix, "Ten", "not callable")
    fails("scaled" + suffix, "Scaled", "not callable")
    fails("lambda" + suffix, "'ten'", "through_ten")
if (2, 7) <= VERSION < (2, 16):
    goes_on("ten")
    goes_on("scaled")
    fails("ten_without", "model.ten")
    fails("scaled_without", "scaled")
elif (2, 0) <= VERSION < (2, 7):
    fails("ten", "model.ten")
    fails("scaled", "scaled")
if VERSION >= (2, 16):
    net = tf.saved_model.load("scaled")
    x = tf.constant([[1.]])
    with tf.GradientTape() as tape:
        y = net.serve(x)
    near(tape.gradient(y, net.variables[0]).numpy().item(), 10.)

import model
layers = {"Ten": model.Ten, "Scaled": model.Scaled, "through_ten": model.through_ten, "ten": model.ten}
for suffix in (".h5", ".keras"):
    goes_on("ten" + suffix, custom=layers)
    goes_on("scaled" + suffix, custom=layers)
    goes_on("lambda" + suffix, custom=layers)
if VERSION >= (2, 16):
    goes_on("direct.keras", custom=layers)
if (2, 0) <= VERSION < (2, 16):
    goes_on("ten")
    goes_on("ten", custom=layers)
    if VERSION < (2, 3):  # Keras does not ask for the layers of a SavedModel
        fails("scaled", "scaled", custom=layers)
    else:
        goes_on("scaled", custom=layers)
    if VERSION < (2, 7):  # what was captured at the call, a factor, cannot be found again without the layer
        fails("scaled", "scaled")
if (2, 7) <= VERSION < (2, 16):
    fails("ten_without", "model.ten")
    goes_on("ten_without", custom=layers)
"""


def test_in_another_process(tmpdir):
    in_order(tmpdir, MODULE, SAVE, LOAD)
