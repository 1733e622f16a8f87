#### called by keyword
import tensorflow as tf

@tf.custom_gradient
def scale(x, factor):
    def grad(dy):
        return dy * factor, None
    return tf.identity(x), grad

def loss(x):
    y = tf.reduce_sum(scale(x, factor=2.))  # expect: custom-gradient-keywords
    return y + tf.reduce_sum(scale(x=x, factor=3.))  # expect: custom-gradient-keywords

#### harmless: called by position
import tensorflow as tf

@tf.custom_gradient
def scale(x, factor):
    def grad(dy):
        return dy * factor, None
    return tf.identity(x), grad

def loss(x):
    return tf.reduce_sum(scale(x, 2.), axis=0)

#### keyword through an assigned name
import tensorflow as tf

def _clip(x, bound):
    def grad(dy):
        return tf.clip_by_value(dy, -bound, bound), None
    return tf.identity(x), grad

clip = tf.custom_gradient(_clip)

def f(x):
    return clip(x, bound=tf.constant(1.))  # expect: custom-gradient-keywords

#### harmless: the option is in a closure
import tensorflow as tf

def clip(x, bound):
    @tf.custom_gradient
    def inner(x):
        return tf.identity(x), lambda dy: tf.clip_by_value(dy, -bound, bound)
    return inner(x)

def f(x):
    return clip(x, bound=1.)

#### a variable from outside
import tensorflow as tf

w = tf.Variable(3., name="w")

@tf.custom_gradient  # expect: custom-gradient-variable
def times_w(x):
    def grad(dy):
        return dy * 2.
    return x * w, grad

#### a variable of a layer
import tensorflow as tf

class Scale(tf.keras.layers.Layer):
    def build(self, shape):
        self.kernel = self.add_weight("kernel", shape=[1])

    def call(self, x):
        @tf.custom_gradient  # expect: custom-gradient-variable
        def op(x):
            return x * self.kernel, lambda dy: dy
        return op(x)

#### a variable that is made inside, taken by the gradient
import tensorflow as tf

@tf.custom_gradient  # expect: custom-gradient-variable
def dense(x):
    w = tf.get_variable("w", [3, 3], use_resource=True)
    def grad(dy, variables=None):
        return tf.matmul(dy, w, transpose_b=True), [tf.matmul(x, dy, transpose_a=True)]
    return tf.matmul(x, w), grad

#### harmless: the variable's value is an argument
import tensorflow as tf

w = tf.Variable(3.)

@tf.custom_gradient
def product(x, w):
    return x * w, lambda dy: (dy * w, dy * x)

y = product(tf.constant(2.), w)

#### harmless: the value is read before
import tensorflow as tf

def layer(x):
    w = tf.get_variable("w", [])
    value = tf.convert_to_tensor(w)

    @tf.custom_gradient
    def f(x):
        return x * value, lambda dy: dy
    return f(x)

#### a method
import tensorflow as tf

class Model(object):
    @tf.custom_gradient  # expect: custom-gradient-form
    def quantize(self, x):
        return tf.round(x), lambda dy: dy

#### a decorator with parentheses
from tensorflow import custom_gradient

@custom_gradient()  # expect: custom-gradient-form
def quantize(x):
    return x * 1., lambda dy: dy

#### harmless: static, and a method that only uses a decorated function
import tensorflow as tf

@tf.custom_gradient
def quantize(x):
    return tf.round(x), lambda dy: dy

class Model(object):
    @staticmethod
    @tf.custom_gradient
    def sign(x):
        return tf.sign(x), lambda dy: dy

    def call(self, x):
        return quantize(x)

#### harmless: another library's custom_gradient
from jax import custom_gradient

@custom_gradient
def scale(x, factor=2.):
    return x, lambda dy: (dy * factor, 0.)

scale(1., factor=3.)

#### numbers as gradients
import numpy as np
import tensorflow as tf

@tf.custom_gradient
def f(x, y):
    def grad(dy):
        return dy * y, 0.  # expect: custom-gradient-result
    return x * y, grad

@tf.custom_gradient
def g(x):
    return x * 1., lambda dy: np.ones(3)  # expect: custom-gradient-result

#### harmless: None and tensors as gradients
import tensorflow as tf

@tf.custom_gradient
def f(x, y, z):
    def grad(dy):
        return dy * 0., None, tf.zeros_like(z)
    return x * 1., grad

#### a list as one argument
import tensorflow as tf

@tf.custom_gradient
def total(xs):
    return tf.add_n(xs), lambda dy: [dy for _ in xs]

def f(a, b):
    return total([a, b])  # expect: custom-gradient-argument

#### None and a string as arguments
import tensorflow as tf

@tf.custom_gradient
def f(x, mask, how):
    return x * 2., lambda dy: (dy, None, None)

f(tf.constant(1.), None, "half")  # expect: custom-gradient-argument

#### harmless: a list of numbers is a tensor
import tensorflow as tf

@tf.custom_gradient
def f(x):
    return x * 2., lambda dy: dy

print(f([1., 2., -3.]))

#### forward mode
import tensorflow as tf

@tf.custom_gradient
def f(x):
    return x * 2., lambda dy: dy

def jvp(x, v):
    with tf.autodiff.ForwardAccumulator(x, v) as acc:  # expect: custom-gradient-forward
        y = f(x)
    return acc.jvp(y)
