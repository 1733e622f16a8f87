#### a function of a closure called with keywords
import tensorflow as tf

def make(bound):
    @tf.function
    @tf.custom_gradient
    def clip(x, low, high):
        return tf.identity(x), lambda dy: (tf.clip_by_value(dy, low, high), None, None)
    return lambda x: clip(x, low=-bound, high=bound)  # expect: custom-gradient-keywords

#### a dictionary is handed through
import tensorflow as tf

def decorate(func):
    def wrapper(*args, **kwargs):
        return tf.custom_gradient(func)(*args, **kwargs)  # expect: custom-gradient-keywords
    return wrapper

#### a method that is called with keywords
import tensorflow as tf

class Node(object):
    @tf.custom_gradient  # expect: custom-gradient-form
    def _execute(self, params, **input_kwargs):
        res = self.run(params, input_kwargs["device"])
        def grad(dy, **tfkwargs):
            return self.jacobian(params, dy), tfkwargs.get("variables")
        return res, grad

    def __call__(self, params):
        return self._execute(params, device="cpu")  # expect: custom-gradient-keywords

#### harmless: a decorated function that another scope hides
import tensorflow as tf

@tf.custom_gradient
def scale(x):
    return x * 2., lambda dy: dy

def other(scale, x):
    return scale(x, factor=3.)

def third(x):
    from helpers import scale
    return scale(x=x)

#### harmless: a lambda and a method behind it
import tensorflow as tf

class Layer(object):
    def __call__(self, w):
        compute = tf.custom_gradient(lambda x: self._compute(x))
        return compute(w)

    def _compute(self, w):
        return w * 2., lambda dy: dy * 3.

#### harmless: keywords of other functions inside
import tensorflow as tf

@tf.custom_gradient
def norm(x):
    y = tf.linalg.norm(x, axis=-1, keepdims=True)
    def grad(dy):
        return dy * (x / (y + 1e-19))
    return y, grad

def sinkhorn(x, b, eps=0.1):
    @tf.custom_gradient
    def _aux(x, b):
        f = tf.reduce_sum(x, axis=1, keepdims=True)
        return f * eps, lambda d: (d * x, d * b)
    return _aux(x, b)

#### harmless: decorated and static, called on the class
import tensorflow as tf

class Utility(object):
    @staticmethod
    @tf.custom_gradient
    def safe_norm(x):
        y = tf.sqrt(tf.reduce_sum(x * x, axis=1) + 1e-19)
        return y, lambda dy: dy * x / y

print(Utility.safe_norm(tf.ones([2, 2])))

#### harmless: this package's decorator
import tensorflow as tf
from tfgradcompat import custom_grad

w = tf.Variable(2.)

@custom_grad
def scale(x, options, factor=2.):
    def grad(dy, variables):
        return dy * w, [dy * x]
    return x * w * factor, grad

scale(tf.constant(1.), None, factor=3.)
scale([1., 2.], {"a": tf.constant(1.)})

#### printing in this package's gradient function
import tensorflow as tf
import tfgradcompat

@tfgradcompat.custom_grad
def f(x):
    def grad(dy):
        return tf.Print(dy, [dy])  # expect: print-in-gradient
    return x * 2., grad

#### tf.print in a gradient, in a branch
from __future__ import print_function
import tensorflow as tf

@tf.custom_gradient
def watch(x):
    def grad(dy):
        if True:
            tf.print("dy", dy)  # expect: print-in-gradient
        return dy
    return tf.identity(x), grad

#### a variable by two names, not trainable ones
import tensorflow as tf

class Dense(tf.keras.layers.Layer):
    def __init__(self):
        super(Dense, self).__init__()
        self.w = tf.Variable(tf.ones([2]))
        self.steps = tf.Variable(0, trainable=False)

    def call(self, x):
        @tf.custom_gradient  # expect: custom-gradient-variable
        def forward(x):
            w = self.w
            def grad(dy, variables):
                return dy * w, [dy * x]
            return x * w, grad

        @tf.custom_gradient
        def count(x):
            self.steps.assign_add(1)
            return x * 1., lambda dy: dy
        return forward(count(x))

#### layers inside
import tensorflow as tf

@tf.custom_gradient  # expect: custom-gradient-variable
def block(x):
    h = tf.layers.dense(x, 10)
    return h, lambda dy: dy

#### harmless: layers without variables, variables of other functions
import tensorflow as tf

w = tf.Variable(1.)

def loss(x):
    return x * w

@tf.custom_gradient
def pooled(x):
    y = tf.layers.max_pooling2d(x, 2, 2)
    return tf.layers.flatten(y), lambda dy: tf.reshape(dy, tf.shape(x))

#### harmless: a local name hides the variable
import tensorflow as tf

w = tf.get_variable("w", [])

@tf.custom_gradient
def f(x):
    w = tf.reduce_sum(x)
    return x * w, lambda dy: dy * w

@tf.custom_gradient
def g(x):
    return tf.add_n([x * w for w in (1., 2.)]), lambda dy: dy

#### a constant gradient, a numpy gradient
import numpy
import tensorflow as tf

@tf.custom_gradient
def step(x, threshold):
    def grad(dy):
        g = dy * numpy.float32(0.5)
        return [g, -1]  # expect: custom-gradient-result
    return tf.cast(x > threshold, tf.float32), grad

@tf.custom_gradient
def h(x):
    def grad(dy):
        return numpy.zeros(x.shape.as_list(), "float32")  # expect: custom-gradient-result
    return x * 1., grad

#### a tuple of tensors, a dictionary
import tensorflow as tf

def body(state, weights):
    return state[0] * weights["w"], lambda dy: (dy, dy, dy)

compiled = tf.custom_gradient(body)

def run(a, b, w):
    return compiled((a, b), {"w": w})  # expect: custom-gradient-argument

#### a partial
import functools
import tensorflow as tf

def clip(bound, x):
    return tf.identity(x), lambda dy: tf.clip_by_value(dy, -bound, bound)

clip_one = tf.custom_gradient(functools.partial(clip, 1.))  # expect: custom-gradient-form

#### a private custom_gradient of 1.4
from tensorflow.python.eager.custom_gradient import custom_gradient  # expect: private-import

@custom_gradient
def f(x, k):
    return x * k, lambda dy: (dy, None)

f(1., k=2.)  # expect: custom-gradient-keywords

#### recompute_grad with keywords
import tensorflow as tf

class Net(tf.keras.Model):
    def call(self, x, training=False):
        out = tf.recompute_grad(self.block_1)(x[0], training=training)  # expect: recompute-grad
        return tf.recompute_grad(lambda x, b=self.block_2: b(x))(out)  # expect: recompute-grad

#### harmless: recompute_grad of one's own
from . import utils

def recompute_grad(enabled):
    return lambda f: f

@utils.recompute_grad(True)
def call(inputs):
    return inputs

@recompute_grad(False)
def call2(inputs):
    return inputs
