#### the clip of soft actor-critic
import tensorflow as tf

def clip_but_pass_gradient(x, l=-1., u=1.):
    clip_up = tf.cast(x > u, tf.float32)
    clip_low = tf.cast(x < l, tf.float32)
    return x + tf.stop_gradient((u - x) * clip_up + (l - x) * clip_low)  # expect: stop-gradient-trick

#### harmless: a bootstrapped target, eligibility, baseline
import tensorflow as tf

def losses(rewards, dones, gamma, q, q_next, value, log_prob, alpha, entropy):
    target = rewards + tf.stop_gradient((1 - dones) * gamma * q_next)
    td = tf.reduce_mean(q - tf.stop_gradient((1.0 - dones) * gamma * q_next))
    policy = -log_prob * tf.stop_gradient(target - value)
    temperature = tf.stop_gradient(alpha) * entropy + tf.stop_gradient(entropy) * 0.1
    return td, policy, temperature

#### reversal by assigned names
import tensorflow as tf

def reverse(emb):
    kept = tf.stop_gradient((1.0 + 1e-3) * emb)
    reversed_ = -1e-3 * emb
    return kept + reversed_  # expect: stop-gradient-trick

#### reversal in a Lambda layer
import tensorflow as tf
from keras.layers import Lambda

def grl(lam):
    return Lambda(lambda t: (-lam) * t + tf.stop_gradient((1 + lam) * t))  # expect: stop-gradient-trick

#### a mask of gradients
import tensorflow as tf

def masked(X, mask):
    X[0] = tf.stop_gradient((1 - mask) * X[0]) + mask * X[0]  # expect: stop-gradient-trick
    return X

#### the Keras backend, terms in another order
from keras import backend as K

def st_clip(x):
    clipped = K.clip(x, -1., 1.)
    return K.stop_gradient(clipped - x) + x  # expect: stop-gradient-trick

def log_clip(x):
    return K.log(K.clip(K.stop_gradient(x), 1e-3, 1) - K.stop_gradient(x) + x)  # expect: stop-gradient-trick

#### quantizers: minus first, and in place
import tensorflow as tf

def quantized(x, xq):
    return x + tf.stop_gradient(-x + xq)  # expect: stop-gradient-trick

def in_place(x):
    y = tf.tanh(x)
    y += tf.stop_gradient(tf.sign(x) - y)  # expect: stop-gradient-trick
    return y

#### a straight-through estimator by parts
import tensorflow as tf
stop = tf.stop_gradient

def sample(logits):
    soft = tf.nn.softmax(logits)
    hard = tf.one_hot(tf.argmax(soft, -1), 10)
    delta = hard - soft
    return soft + stop(delta)  # expect: stop-gradient-trick

#### the same with the functions of TensorFlow
import tensorflow as tf

def angle(x):
    shrunk = tf.acos(0.99 * x)
    true = tf.acos(x)
    return tf.math.add(tf.stop_gradient(tf.math.subtract(true, shrunk)), shrunk)  # expect: stop-gradient-trick

#### harmless: softmax, normalisation, keras losses
from tensorflow.keras import backend as K
import tensorflow as tf

def softmax(x):
    e = tf.exp(x - tf.stop_gradient(tf.reduce_max(x, -1, keepdims=True)))
    return e / tf.reduce_sum(e, -1, keepdims=True)

def vq(quantized, x, beta):
    e = K.mean((K.stop_gradient(quantized) - x) ** 2)
    q = K.mean((quantized - K.stop_gradient(x)) ** 2)
    return q + beta * e

def centred(x):
    mean = tf.stop_gradient(tf.reduce_mean(x, 0))
    return x - mean, x + 0.1 * tf.stop_gradient(x)

#### harmless: a moving average, a residual, a frozen branch
import tensorflow as tf

def update(old, new, net, x):
    average = 0.99 * old + 0.01 * tf.stop_gradient(new)
    return average, net(x) + tf.stop_gradient(net.frozen(x)), x + net(tf.stop_gradient(x))

#### harmless: stop_gradient of something else
from jax import lax
import numpy as np

def stop_gradient(x):
    return np.array(x)

def ste(x):
    return x + stop_gradient(np.round(x) - x), x + lax.stop_gradient(lax.round(x) - x)

#### eager tutorials of 1.5
import tensorflow as tf
import tensorflow.contrib.eager as tfe

w = tfe.Variable(0.0)

def train(dataset, loss_fn):
    optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.01)
    grad_fn = tfe.implicit_value_and_gradients(loss_fn)  # expect: contrib-eager
    for x, y in tfe.Iterator(dataset):
        loss, gradients = grad_fn(x, y)
        optimizer.apply_gradients(gradients)

#### contrib.eager, decorators and assigned names
import tensorflow as tf

tfe = tf.contrib.eager

@tfe.implicit_value_and_gradients  # expect: contrib-eager
def loss_fn(features):
    return features

step = tfe.defun(loss_fn)  # expect: contrib-eager

#### contrib.eager from the inside
from tensorflow.contrib.eager.python import tfe
from tensorflow.contrib.eager.python.tfe import gradients_function  # expect: contrib-eager
tfe.enable_eager_execution()
df = gradients_function(lambda x: x * x)

#### slim training
import tensorflow as tf
import tensorflow.contrib.slim as slim

def op(loss, optimizer):
    return slim.learning.create_train_op(loss, optimizer, clip_gradient_norm=4.)  # expect: contrib-gradient

def plain(loss, optimizer):
    return slim.learning.create_train_op(loss, optimizer)

#### harmless: slim of its own package, and other contribs
import tf_slim as slim
from tensorflow.contrib import rnn, layers
from tensorflow.contrib.framework import nest

def op(loss, optimizer):
    cell = rnn.LSTMCell(10)
    layers.l2_regularizer(0.1)
    return slim.learning.create_train_op(loss, optimizer, clip_gradient_norm=4.), nest.flatten(cell)

#### optimizers by other names
import tensorflow as tf

def get_train_op(model, optimizer, lr):
    if optimizer == "adam":
        optimizer_func = tf.train.AdamOptimizer(lr)
    else:
        optimizer_func = tf.train.GradientDescentOptimizer(lr)
    gradients, variables = zip(*optimizer_func.compute_gradients(model.loss))  # expect: compute-gradients
    return optimizer_func.apply_gradients(zip(gradients, variables))

def towers(solver, loss):
    return solver.compute_gradients(loss, var_list=tf.trainable_variables())  # expect: compute-gradients

def direct(loss):
    return tf.compat.v1.train.MomentumOptimizer(0.1, 0.9).compute_gradients(loss)  # expect: compute-gradients

#### an optimizer that wraps
import tensorflow as tf

class Clipped(tf.train.AdamOptimizer):
    def compute_gradients(self, loss, *args, **kwargs):
        pairs = super(Clipped, self).compute_gradients(loss, *args, **kwargs)  # expect: compute-gradients
        return [(tf.clip_by_norm(g, 1.), v) for g, v in pairs]

#### harmless: other things with that method
import numpy as np
import tensorflow as tf
from engines import Engine
from rllib import RayTrainerWorker

class Outer(object):
    def compute_gradients(self, objective, params):
        return tf.gradients(objective, params)

class Inner(Outer):
    def compute_gradients(self, objective, params):
        return super(Inner, self).compute_gradients(objective, params)

def run(node, worker):
    eng = Engine()
    g = eng.compute_gradients([node])[0]
    return np.abs(g).max(), Outer().compute_gradients(node, []), worker.compute_gradients({})

#### private gradients
from tensorflow.python.ops import gradients_impl  # expect: private-import
from tensorflow.python.eager import backprop, context  # expect: private-import
import tensorflow.python.ops.nn_grad as grads  # expect: private-import
from tensorflow.python.eager.function import defun  # expect: private-import

def hvp(loss, xs, v):
    return gradients_impl._hessian_vector_product(loss, xs, v), grads._ReluGrad

#### harmless: private modules with similar names
from tensorflow.python.ops import gen_nn_ops, nn_ops, control_flow_ops
from tensorflow.python.training import optimizer
from tensorflow.python.keras.utils import tf_utils

def f(op, grad):
    return gen_nn_ops.conv2d_backprop_input(op.inputs[0], op.inputs[1], grad, [1], "SAME"), grad.my_grad

#### harmless: printing that is not in a gradient
from __future__ import print_function
import tensorflow as tf

@tf.custom_gradient
def f(x):
    y = tf.Print(x, [x], "forward")
    return y * 2., lambda dy: dy * 2.

def grad(dy):
    return tf.Print(dy, [dy])

tf.print("done")

#### a gradient function that is handed over
import numpy as np
import tensorflow as tf
from my_layers import py_func

def _square_grad(op, dy):
    dy = tf.Print(dy, [dy], "square")  # expect: print-in-gradient
    return dy * 2. * op.inputs[0]

def square(x):
    return py_func(np.square, [x], [tf.float32], grad=_square_grad)

#### harmless: no TensorFlow at all
import torch

class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, dy):
        print(dy)
        return dy

def optimizer_step(optimizer, loss):
    return optimizer.compute_gradients(loss)
