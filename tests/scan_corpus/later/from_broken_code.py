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
