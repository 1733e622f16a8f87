# -*- coding: utf-8 -*-
"""Clause 6.1 of docs/contract.md: what trains and builds models besides Keras and tf.distribute (see the files of these names)."""
from __future__ import absolute_import, division, print_function

import os
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from harness import VERSION, new_session, v1
from tfgradcompat import custom_grad

pytestmark = [pytest.mark.clause("6.1"), pytest.mark.once]


@custom_grad
def fifty(x):
    return 2. * x, lambda dy: 50. * dy


# ------------------------------------------------------------------------------------------------------------- Estimators
@pytest.mark.skipif(not (1, 4) <= VERSION <= (2, 15), reason="tf.estimator is finished in TensorFlow 1.4-2.15 (6.1)")
def test_an_estimator_trains_with_the_custom_gradient(tmpdir):
    def model_fn(features, labels, mode):
        w = v1.get_variable("w", shape=[], initializer=v1.ones_initializer())
        loss = tf.reduce_sum(fifty(w * features))
        optimizer = v1.train.GradientDescentOptimizer(0.01)
        train = optimizer.minimize(loss, global_step=v1.train.get_or_create_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    def input_fn():
        return tf.constant([2.]), tf.constant([0.])

    estimator = tf.estimator.Estimator(model_fn, model_dir=str(tmpdir))
    estimator.train(input_fn, steps=1)
    np.testing.assert_allclose(estimator.get_variable_value("w"), 1. - 0.01 * 100., atol=1e-6)
    estimator.train(input_fn, steps=1)  # from the checkpoint
    np.testing.assert_allclose(estimator.get_variable_value("w"), 1. - 0.01 * 200., atol=1e-6)


# ----------------------------------------------------------------------------------- layers of TensorFlow 1, in a graph
def dense_layers():
    """`{name: f(x)}`: a dense layer with one weight that starts at 1, and the decorated function as its activation."""
    ones = v1.ones_initializer() if VERSION >= (1, 0) else v1.constant_initializer(1.)
    made = {}
    if (1, 0) <= VERSION <= (2, 15) and hasattr(v1, "layers"):
        made["tf.layers"] = lambda x: v1.layers.dense(x, 1, activation=fifty, use_bias=False, kernel_initializer=ones)
    if VERSION < (2, 0):
        made["contrib"] = lambda x: tf.contrib.layers.fully_connected(
            x, 1, activation_fn=fifty, weights_initializer=ones, biases_initializer=None)
    return made


@pytest.mark.skipif(VERSION > (2, 15), reason="TensorFlow 2.16 and newer have neither tf.layers nor contrib (6.1)")
@pytest.mark.parametrize("name", ["tf.layers", "contrib"])
def test_an_activation_of_a_layer(name):
    if name not in dense_layers():
        return  # each release has at least one: the test after
    with tf.Graph().as_default() as graph:
        if v1 is tf and VERSION >= (1, 7) and tf.executing_eagerly():
            return  # 1.7 and 1.8 stay eager in a graph
        x = v1.placeholder(tf.float32, [None, 1])
        y = dense_layers()[name](x)
        [w] = v1.trainable_variables()
        gradient = v1.gradients(y, w)[0]
        with new_session(graph) as session:
            session.run(v1.global_variables_initializer())
            np.testing.assert_allclose(session.run(gradient, {x: [[2.], [3.]]}), [[250.]])


def test_each_release_to_2_15_has_one_of_these_layers():
    assert dense_layers() or VERSION > (2, 15)


# -------------------------------------------------------------------------------------------------------- scopes of XLA
JIT_SCOPE = (tf.contrib.compiler.jit.experimental_jit_scope if (1, 0) <= VERSION < (2, 0) else
             tf.xla.experimental.jit_scope if VERSION >= (2, 0) else None)


@pytest.mark.skipif(JIT_SCOPE is None, reason="TensorFlow 0.12 has no scopes of XLA (6.1)")
def test_a_scope_of_xla():
    @custom_grad
    def squared(x):
        y = x * x
        return y, lambda dy: 10. * dy * y

    with tf.Graph().as_default() as graph:
        if v1 is tf and VERSION >= (1, 7) and tf.executing_eagerly():
            return  # 1.7 and 1.8 stay eager in a graph
        x = v1.placeholder(tf.float32, [2])
        with JIT_SCOPE():
            y = fifty(squared(x))
        gradient = v1.gradients(y, x)[0]
        with new_session(graph) as session:
            # 50 * 10 x^2, in place of 4 x
            np.testing.assert_allclose(session.run([y, gradient], {x: [1., 2.]}), [[2., 8.], [500., 2000.]], rtol=1e-6)


# ------------------------------------------------------------------------------------- programs of TensorFlow 1 on 2
V1_PROGRAM = """
import os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow.compat.v1 as tf
from tfgradcompat import custom_grad, recompute, override_gradient, minimize, transforms
getattr(tf, sys.argv[1])()

@custom_grad
def fifty(x):
    return 2. * x, lambda dy: 50. * dy

@custom_grad
def product(x):
    w = tf.get_variable("w", initializer=3., use_resource="resource" in sys.argv)
    return x * w, lambda dy, variables: (dy * 7., [dy * 11.])

x = tf.placeholder(tf.float32, [])
ys = [fifty(x), product(x), recompute(lambda x: x ** 3.)(x),
      tf.cond(x > 0., lambda: fifty(x), lambda: x),
      tf.while_loop(lambda i, v: i < 2, lambda i, v: [i + 1, fifty(v)], [tf.constant(0), x])[1],
      tf.reduce_sum(tf.map_fn(fifty, tf.stack([x, x])))]
with override_gradient({"Relu": lambda op, dy: dy * 9.}):
    ys.append(tf.nn.relu(x))
[w] = tf.trainable_variables()
gradients = [tf.gradients(y, x)[0] for y in ys] + [tf.gradients(ys[1], w)[0]]
v = tf.Variable(1.)
step = minimize(tf.train.GradientDescentOptimizer(0.1), v ** 2., [v], transform=transforms.clip_by_value(-0.5, 0.5))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    found = session.run(gradients, {x: 2.})
    session.run(step)
    assert abs(session.run(v) - 0.95) < 1e-6
# 3 x^2 = 12; two steps of the loop 50 * 50; two elements of the map 50 each
np.testing.assert_allclose(found, [50., 7., 12., 50., 2500., 100., 9., 11.], rtol=1e-6)
"""


@pytest.mark.skipif(VERSION < (2, 0), reason="TensorFlow 1 has no version 2 behaviour that could be off (6.1)")
@pytest.mark.parametrize("how, route", [("disable_v2_behavior", "native"), ("disable_v2_behavior resource", "override"),
                                        ("disable_eager_execution", "native")])
def test_version_2_behaviour_off(how, route):
    process = subprocess.Popen([sys.executable, "-c", V1_PROGRAM] + how.split(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env=dict(os.environ, TFGRADCOMPAT_ROUTE=route))
    out = process.communicate()[0].decode("utf-8", "replace")
    assert process.returncode == 0, out
