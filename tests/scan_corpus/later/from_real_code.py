#### known false alarm: a Fisher loss
import tensorflow as tf

def fisher(value, noise):
    sample = value + noise
    return -tf.reduce_mean(tf.pow(value - tf.stop_gradient(sample), 2))

#### reversal with a number
import tensorflow as tf

def reverse(x):
    return -x + tf.stop_gradient(2 * x)  # expect: stop-gradient-trick

def reverse_other_way(x):
    return tf.stop_gradient(2. * x) - x  # expect: stop-gradient-trick

#### a noise factor
import tensorflow as tf

class Quantizer(object):
    def __call__(self, x):
        xq = tf.round(x)
        return x + tf.stop_gradient(self.factor * (-x + xq))  # expect: stop-gradient-trick

#### someone else's helper
import tensorflow as tf
from lucid.misc.gradient_override import gradient_override_map
from lucid.misc import redirected_relu_grad

def render(x):
    with gradient_override_map({"Relu": redirected_relu_grad.redirected_relu_grad}):  # expect: override-map
        return tf.nn.relu(x)

#### harmless: a perturbation, a mean of what was stopped
import tensorflow as tf

def perturb(feature, perturbations, key, old, new, decay):
    moved = feature + tf.stop_gradient(perturbations[key])
    blended = (1. - decay) * new + tf.stop_gradient(decay * old)
    return moved, blended

#### average over samples
import tensorflow as tf

def assign(q_samples, hot):
    return (
        tf.reduce_mean(q_samples, 0) +  # expect: stop-gradient-trick
        tf.stop_gradient(hot - tf.reduce_mean(q_samples, 0)))

#### zero with the gradient of another
import tensorflow as tf

def gradient_of(x, surrogate):
    return x + (surrogate - tf.stop_gradient(surrogate))  # expect: stop-gradient-trick

#### the registry, as one explainer patches it
try:
    from tensorflow.python.eager import backprop as tf_backprop  # expect: private-import
    from tensorflow.python.framework import ops as tf_ops
    from tensorflow.python.ops import (  # expect: private-import
        gradients_impl as tf_gradients_impl,
    )
except ImportError:
    pass

def custom(op_names):
    reg = tf_ops._gradient_registry._registry  # expect: registry-patch
    return dict((name, reg[name]["type"]) for name in op_names)
