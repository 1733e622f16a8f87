#### names of names
import tensorflow as tf

def sample(logits, hard):
    soft = tf.nn.softmax(logits)
    delta = hard - soft
    stopped = tf.stop_gradient(delta)
    return soft + stopped  # expect: stop-gradient-trick

#### a class's own name does not hide the module's from its methods
from tensorflow import stop_gradient

class Layer(object):
    stop_gradient = False

    def call(self, x, q):
        return x + stop_gradient(q - x)  # expect: stop-gradient-trick

#### harmless: an optimizer of one's own
import tensorflow as tf

class Evolution(object):
    def compute_gradients(self, loss):
        return [loss(w) for w in self.population]

def step(loss):
    optimizer = Evolution()
    return optimizer.compute_gradients(loss)

#### harmless: clipping that is switched off
import tensorflow as tf

def train(loss):
    return tf.contrib.layers.optimize_loss(loss, None, 0.1, "SGD", clip_gradients=None)

#### numeric gradients of TensorFlow 1
import tensorflow as tf

class SquareTest(tf.test.TestCase):
    def test_gradient(self):
        with self.test_session():
            x = tf.constant([1., 2.])
            err = tf.test.compute_gradient_error(x, [2], tf.square(x), [2])  # expect: test-compute-gradient
            self.assertLess(err, 1e-3)

#### numeric gradients of TensorFlow 2, and by the private module
import tensorflow as tf
from tensorflow.python.ops import gradient_checker

def check(f, x, y):
    theoretical, numerical = tf.test.compute_gradient(f, [x])  # expect: test-compute-gradient
    return gradient_checker.compute_gradient(x, [2], y, [2]), theoretical  # expect: test-compute-gradient

#### harmless: a gradient that is computed by oneself
import numpy as np
import tensorflow as tf
from tensorflow.python.ops import math_ops

class Model(object):
    def compute_gradient(self, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = math_ops.square(x)
        return tape.gradient(y, x)

def compute_gradient(x, y):
    return np.gradient(x, y)

print(Model().compute_gradient(tf.constant(1.)), compute_gradient([1.], [2.]))
