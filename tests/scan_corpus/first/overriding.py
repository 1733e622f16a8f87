#### guided backprop, the recipe
import tensorflow as tf

@tf.RegisterGradient("GuidedRelu")  # expect: register-fixed-name
def _guided_relu_grad(op, grad):
    gate = tf.cast(op.outputs[0] > 0, "float32") * tf.cast(grad > 0, "float32")
    return gate * grad

def build(images):
    g = tf.get_default_graph()
    with g.gradient_override_map({"Relu": "GuidedRelu"}):  # expect: override-map
        return tf.nn.relu(images)

#### gradient reversal layer of tf-dann
import tensorflow as tf
from tensorflow.python.framework import ops

class FlipGradientBuilder(object):
    def __init__(self):
        self.num_calls = 0

    def __call__(self, x, l=1.0):
        grad_name = "FlipGradient%d" % self.num_calls
        @ops.RegisterGradient(grad_name)  # expect: register-random-name
        def _flip_gradients(op, grad):
            return [tf.negative(grad) * l]

        g = tf.get_default_graph()
        with g.gradient_override_map({"Identity": grad_name}):  # expect: override-map
            y = tf.identity(x)
        self.num_calls += 1
        return y

flip_gradient = FlipGradientBuilder()

#### a name from uuid, a private module's alias
import uuid
from tensorflow.python.framework import ops as tf_ops
import tensorflow.compat.v1 as tf

def clipped(x, bound):
    name = "Clip" + uuid.uuid4().hex
    tf_ops.RegisterGradient(name)(lambda op, dy: tf.clip_by_value(dy, -bound, bound))  # expect: register-random-name
    with tf.get_default_graph().gradient_override_map({"Identity": name}):  # expect: override-map
        return tf.identity(x)

#### an operation type that has another name on newer releases
import tensorflow as tf

@tf.RegisterGradient("HalfAdd")  # expect: register-fixed-name
def half_add(op, dy):
    return 0.5 * dy, 0.5 * dy

def residual(x, y):
    with tf.get_default_graph().gradient_override_map({"Add": "HalfAdd"}):  # expect: override-map, override-op-type
        return x + y

#### both names of the operation are there
import tensorflow.compat.v1 as tf
GRADIENT = "HalfAddBoth"

@tf.RegisterGradient(GRADIENT)  # expect: register-fixed-name
def half_add(op, dy):
    return 0.5 * dy, 0.5 * dy

def residual(x, y):
    overrides = {"Add": GRADIENT, "AddV2": GRADIENT}
    with tf.get_default_graph().gradient_override_map(overrides):  # expect: override-map
        return x + y

#### harmless: the gradient of an operation of one's own
import os
import tensorflow as tf
from tensorflow.python.framework import ops

_module = tf.load_op_library(os.path.join(os.path.dirname(__file__), "roi_pooling.so"))

@ops.RegisterGradient("RoiPool")
def _roi_pool_grad(op, grad, _):
    return [_module.roi_pool_grad(op.inputs[0], op.inputs[1], op.outputs[1], grad), None]

#### harmless: the same without the library in sight
from tensorflow.python.framework import ops
from . import correlation_op

@ops.RegisterGradient("Correlation")
def _correlation_grad(op, in_grad):
    return correlation_op.grad(in_grad, op.inputs[0], op.inputs[1])

#### a gradient for an operation that has one on newer releases
import tensorflow as tf
from tensorflow.python.framework import ops
from tensorflow.python.ops import gen_nn_ops

@ops.RegisterGradient("MaxPoolGrad")  # expect: register-own-type
def _max_pool_grad_grad(op, grad):
    return [tf.zeros_like(op.inputs[0]), tf.zeros_like(op.inputs[1]),
            gen_nn_ops._max_pool_grad_grad(op.inputs[0], op.inputs[1], grad, [1, 2, 2, 1])]  # expect: private-import

#### patching the registry
import tensorflow as tf
from tensorflow.python.framework import ops

def replace(op_type, function):
    reg = ops._gradient_registry._registry  # expect: registry-patch
    old = reg[op_type]["type"]
    reg[op_type]["type"] = function
    return old

#### harmless: a dictionary and a function that look like it
registry = {}

def RegisterGradient(name):
    def decorate(function):
        registry[name] = function
        return function
    return decorate

@RegisterGradient("Relu")
def relu_grad(node, dy):
    return dy * (node.value > 0)

#### harmless: reading an operation's gradient override in a comment only
import tensorflow as tf

def note():
    """Was: with g.gradient_override_map({"Relu": "GuidedRelu"}): ..."""
    # tf.RegisterGradient("GuidedRelu")
    return "gradient_override_map", tf.nn.relu

#### Defun with a gradient in Python
import tensorflow as tf
from tensorflow.python.framework import function

@function.Defun(tf.float32, tf.float32)
def _grad(x, dy):
    return dy * 2.

@function.Defun(tf.float32, grad_func=_grad)  # expect: defun
def double(x):
    return x * 2.

#### Defun imported by name
import tensorflow as tf
from tensorflow.python.framework.function import Defun

def reverse(op, dy):
    return -dy

@Defun(tf.float32, python_grad_func=reverse, func_name="Reverse")  # expect: defun
def reverse_gradient(x):
    return tf.identity(x)

#### harmless: Defun without a gradient
import tensorflow as tf
from tensorflow.python.framework import function

@function.Defun(tf.float32)
def double(x):
    return x * 2.
