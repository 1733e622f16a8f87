#### straight-through sign by overriding with another operation's gradient
import tensorflow as tf
from tensorflow.python.framework import ops

def binarize(x):
    g = tf.get_default_graph()
    with ops.name_scope("Binarized") as name:
        with g.gradient_override_map({"Sign": "Identity"}):  # expect: override-map
            return tf.sign(x, name=name)

#### a map in a variable, two operations of a clip
import tensorflow as tf

class Overrider(object):
    def clip(self, tensor, low, high, transparent=False):
        omap = {}
        if transparent:
            omap = {"Minimum": "Identity", "Maximum": "Identity"}
        with tf.get_default_graph().gradient_override_map(omap):  # expect: override-map
            return tf.clip_by_value(tensor, low, high)

#### a helper of that name, and its own use of it
import contextlib
import uuid
import tensorflow as tf

def register_to_random_name(grad_f):
    name = grad_f.__name__ + "_" + str(uuid.uuid4())
    tf.RegisterGradient(name)(grad_f)  # expect: register-random-name
    return name

@contextlib.contextmanager
def gradient_override_map(functions):
    names = dict((op, register_to_random_name(f)) for op, f in functions.items())
    with tf.get_default_graph().gradient_override_map(names):  # expect: override-map
        yield

def use(x, f):
    with gradient_override_map({"Relu": f}):
        return tf.nn.relu(x)

#### guided backprop of a Keras model, registered once
import keras
import tensorflow as tf
from tensorflow.python.framework import ops

def register_gradient():
    if "GuidedBackProp" not in ops._gradient_registry._registry:  # expect: registry-patch
        @ops.RegisterGradient("GuidedBackProp")  # expect: register-fixed-name
        def _GuidedBackProp(op, grad):
            dtype = op.inputs[0].dtype
            return grad * tf.cast(grad > 0., dtype) * tf.cast(op.inputs[0] > 0., dtype)

def modify_backprop(model, name):
    g = tf.get_default_graph()
    with g.gradient_override_map({"Relu": name}):  # expect: override-map
        for layer in [l for l in model.layers[1:] if hasattr(l, "activation")]:
            if layer.activation == keras.activations.relu:
                layer.activation = tf.nn.relu
        return keras.applications.vgg16.VGG16(weights="imagenet")

#### guided gradients by private functions
import tensorflow as tf
from tensorflow.python.framework import ops
from tensorflow.python.ops import gen_nn_ops, math_grad, math_ops  # expect: private-import

@ops.RegisterGradient("GuidedTanh")  # expect: register-fixed-name
def _guided_tanh(op, grad):
    g = math_grad._TanhGrad(op, grad)
    return tf.where(g > 0., g, tf.zeros_like(g))

@ops.RegisterGradient("GuidedRelu6")  # expect: register-fixed-name
def _guided_relu6(op, grad):
    relu6_grad = gen_nn_ops._relu6_grad(grad, op.outputs[0])  # expect: private-import
    return tf.where(grad > 0., relu6_grad, tf.zeros_like(grad))

MAP = {"Tanh": "GuidedTanh", "Relu6": "GuidedRelu6"}

def replace(graph, build):
    with graph.gradient_override_map(MAP):  # expect: override-map
        return build()

#### harmless: a framework of one's own with a registry
class RegisterGradient(object):
    _gradient_registry = {}

    def __init__(self, op_type):
        self.op_type = op_type

    def __call__(self, function):
        self._gradient_registry[self.op_type] = function
        return function

@RegisterGradient("add")
def _add_gradient(op, grad):
    return grad, grad

def backward(node, grad):
    return RegisterGradient._gradient_registry[type(node)](node, grad)

#### harmless: another package's registry
import numpy as np
from optimizer.autodiff import _gradient_registry, gradient

def check(kind):
    assert kind in _gradient_registry
    return np.asarray(gradient(kind))

#### harmless: a custom op whose gradient is in its own file
import tensorflow as tf
from tensorflow.python.framework import ops
import sys
import os

BASE_DIR = os.path.dirname(os.path.abspath(__file__))
sys.path.append(BASE_DIR)
sampling_module = tf.load_op_library(os.path.join(BASE_DIR, "tf_sampling_so.so"))

def gather_point(inp, idx):
    return sampling_module.gather_point(inp, idx)

@tf.RegisterGradient("GatherPoint")
def _gather_point_grad(op, out_g):
    return [sampling_module.gather_point_grad(op.inputs[0], op.inputs[1], out_g), None]

ops.NoGradient("FarthestPointSample")

#### second derivatives of an operation, for gradient penalties
import tensorflow as tf
from tensorflow.python.framework import ops

@ops.RegisterGradient("ResizeBilinearGrad")  # expect: register-own-type
def _resize_bilinear_grad_grad(op, grad):
    return tf.image.resize_bilinear(grad, tf.shape(op.inputs[0])[1:3]), None

@ops.RegisterGradient("Roll")  # expect: register-own-type
def _roll_grad(op, grad):
    return tf.roll(grad, -op.inputs[1], op.inputs[2]), None, None

#### Defun with types that are known at run time
import random
import tensorflow as tf
from tensorflow.python.framework import function

def recompute(fn, inputs, variables, custom_grad_fn):
    outputs = fn(*inputs)
    in_types = [t.dtype for t in inputs] + [v.dtype.base_dtype for v in variables]

    @function.Defun(  # expect: defun
        *in_types,
        func_name="identity_custom_grad%d" % random.randint(1, 10 ** 9),
        python_grad_func=custom_grad_fn)
    def identity(*args):
        return tuple(tf.identity(t) for t in args)
    return identity(*outputs)

#### Defun called at once
from tensorflow.python.framework import function as tf_function

def with_gradient(op, grad_op, types, name):
    return tf_function.Defun(*types, python_grad_func=grad_op, func_name=name)(op)  # expect: defun

#### harmless: Defun of a library of one's own
from compiler import function

@function.Defun(python_grad_func=None)
def f(x):
    return x

#### gather's gradient
import tensorflow as tf

def sparse_to_dense(op, dy):
    return tf.convert_to_tensor(dy), None, None

tf.RegisterGradient("DenseGather")(sparse_to_dense)  # expect: register-fixed-name
graph = tf.get_default_graph()
with graph.gradient_override_map({"Gather": "DenseGather"}):  # expect: override-map, override-op-type
    y = tf.gather([1., 2.], [0])

#### a py_func with both kinds of operation
import random
import tensorflow.compat.v1 as tf1

def tf_py_func(func, inp, Tout, grad):
    name = "PyFuncGrad%s" % random.randint(0, 1 << 30)
    tf1.RegisterGradient(name)(grad)  # expect: register-random-name
    overrides = {"PyFunc": name, "PyFuncStateless": name}
    with tf1.get_default_graph().gradient_override_map(overrides):  # expect: py-func-override
        return tf1.numpy_function(func, inp, Tout)

#### a py_func in a map that is made elsewhere
import tensorflow as tf

def call(func, inp, overrides):
    with tf.get_default_graph().gradient_override_map(overrides):  # expect: py-func-override
        return tf.py_func(func, inp, tf.float32)
