#### straight-through estimator
import tensorflow as tf

def quantize(x):
    return x + tf.stop_gradient(tf.round(x) - x)  # expect: stop-gradient-trick

#### hard gumbel softmax
import tensorflow as tf

def sample(y, k):
    y_hard = tf.cast(tf.equal(y, tf.reduce_max(y, 1, keepdims=True)), y.dtype)
    y = tf.stop_gradient(y_hard - y) + y  # expect: stop-gradient-trick
    return y

#### another function's gradient
import tensorflow as tf

def hard(x):
    soft = tf.sigmoid(x)
    binary = tf.cast(x > 0, tf.float32)
    out = soft - tf.stop_gradient(soft - binary)  # expect: stop-gradient-trick
    return out

#### scaled gradient
import tensorflow as tf

def scale_gradient(x, scale):
    return x * scale + tf.stop_gradient(x * (1 - scale))  # expect: stop-gradient-trick

#### harmless: the maximum in a softmax
import tensorflow as tf

def log_sum_exp(x):
    m = tf.stop_gradient(tf.reduce_max(x, axis=-1, keepdims=True))
    return tf.log(tf.reduce_sum(tf.exp(x - m), axis=-1)) + m

def shifted(x):
    return x - tf.stop_gradient(tf.reduce_max(x))

#### harmless: targets and commitment losses
import tensorflow as tf

def losses(z_e, z_q, reward, value, q_next, beta):
    target = reward + 0.99 * tf.stop_gradient(q_next)
    advantage = target - tf.stop_gradient(value)
    codebook = tf.reduce_mean(tf.square(tf.stop_gradient(z_e) - z_q))
    commitment = tf.reduce_mean(tf.square(z_e - tf.stop_gradient(z_q)))
    return advantage, codebook + beta * commitment

#### vector quantisation with a straight-through step
import tensorflow as tf

def quantise(z_e, codes):
    z_q = tf.gather(codes, tf.argmin(tf.norm(z_e[:, None] - codes, axis=-1), -1))
    loss = tf.reduce_mean((tf.stop_gradient(z_q) - z_e) ** 2)
    return z_e + tf.stop_gradient(z_q - z_e), loss  # expect: stop-gradient-trick

#### stop_gradient under another name, tf.add
from tensorflow import stop_gradient as sg
import tensorflow as tf

def ste(x):
    return tf.add(x, sg(tf.sign(x) - x))  # expect: stop-gradient-trick

#### the well-known py_func with a gradient
import numpy as np
import tensorflow as tf

def py_func(func, inp, Tout, stateful=True, name=None, grad=None):
    rnd_name = "PyFuncGrad" + str(np.random.randint(0, int(1e8)))
    tf.RegisterGradient(rnd_name)(grad)  # expect: register-random-name
    g = tf.get_default_graph()
    with g.gradient_override_map({"PyFunc": rnd_name}):  # expect: py-func-override
        return tf.py_func(func, inp, Tout, stateful=stateful, name=name)

#### harmless: py_func for data and metrics
import tensorflow as tf

def dataset(files, load):
    return tf.data.Dataset.from_tensor_slices(files).map(lambda f: tf.py_func(load, [f], tf.float32))

def metric(y, p, score):
    return tf.numpy_function(score, [y, p], tf.float64)

#### printing in a gradient
import tensorflow as tf

@tf.custom_gradient
def show(x):
    def grad(dy):
        dy = tf.Print(dy, [dy], "dy: ")  # expect: print-in-gradient
        return dy
    return tf.identity(x), grad

#### printing in a registered gradient
import tensorflow as tf

@tf.RegisterGradient("ShowGradient")  # expect: register-fixed-name
def _show(op, dy):
    return tf.Print(dy, [tf.norm(dy)])  # expect: print-in-gradient

def show(x):
    with tf.get_default_graph().gradient_override_map({"Identity": "ShowGradient"}):  # expect: override-map
        return tf.identity(x)

#### harmless: printing elsewhere
import tensorflow as tf

@tf.custom_gradient
def f(x):
    x = tf.Print(x, [x])
    def grad(dy):
        print("building the gradient")
        return dy
    return x * 1., grad

#### contrib.eager
import tensorflow as tf
import tensorflow.contrib.eager as tfe

tfe.enable_eager_execution()

def loss(w):
    return w ** 2

grad = tfe.gradients_function(loss)  # expect: contrib-eager
both = tfe.implicit_value_and_gradients(loss)  # expect: contrib-eager

@tfe.custom_gradient  # expect: contrib-eager
def f(x):
    return x * 2., lambda dy: dy

#### harmless: contrib.eager without gradients
import tensorflow as tf
tfe = tf.contrib.eager
tfe.enable_eager_execution()
v = tfe.Variable(1.)
print(tfe.num_gpus(), v)

#### contrib clips gradients
import tensorflow as tf
slim = tf.contrib.slim

def train(loss, grads):
    grads = slim.learning.clip_gradient_norms(grads, 5.)  # expect: contrib-gradient
    return tf.contrib.layers.optimize_loss(loss, None, 0.1, "SGD", clip_gradients=1.), grads  # expect: contrib-gradient

#### harmless: contrib without gradients
import tensorflow as tf

def train(loss):
    init = tf.contrib.layers.xavier_initializer()
    return tf.contrib.layers.optimize_loss(loss, None, 0.1, "SGD"), init

#### compute, change, apply
import tensorflow as tf

def step(loss):
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    gvs = optimizer.compute_gradients(loss)  # expect: compute-gradients
    return optimizer.apply_gradients([(tf.clip_by_value(g, -1., 1.), v) for g, v in gvs])

#### on an attribute
import tensorflow as tf

class Agent(object):
    def __init__(self, lr):
        self.opt = tf.train.AdamOptimizer(lr)

    def train(self, loss):
        grads = self.opt.compute_gradients(loss, var_list=tf.trainable_variables())  # expect: compute-gradients
        return self.opt.apply_gradients(grads)

#### harmless: a function of one's own with that name
import tensorflow as tf

class Network(object):
    def compute_gradients(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss(x, y)
        return tape.gradient(loss, self.variables)

    def step(self, optimizer, x, y):
        optimizer.apply_gradients(zip(self.compute_gradients(x, y), self.variables))

def compute_gradients(loss, variables):
    return tf.gradients(loss, variables)

grads = compute_gradients(tf.constant(1.), [])

#### private modules
from tensorflow.python.eager import custom_gradient  # expect: private-import
from tensorflow.python.ops import nn_grad  # expect: private-import
from tensorflow.python.ops.gradients_impl import _GradientsHelper  # expect: private-import
from tensorflow.python.ops import gen_nn_ops

def guided(op, dy):
    return gen_nn_ops._relu_grad(dy, op.outputs[0])  # expect: private-import

#### harmless: private modules without gradients
from tensorflow.python.framework import ops, dtypes
from tensorflow.python.ops import array_ops, math_ops
from tensorflow.python.client import device_lib

x = ops.convert_to_tensor(1., dtype=dtypes.float32)
y = math_ops.add(array_ops.identity(x), 1.)

#### recompute_grad
import tensorflow as tf

@tf.recompute_grad  # expect: recompute-grad
def block(x):
    return tf.layers.dense(x, 10)

@tf.contrib.layers.recompute_grad  # expect: recompute-grad
def block2(x):
    return tf.layers.dense(x, 10)

#### a TensorFlow that is looked for
try:
    import tensorflow.compat.v1 as tf
except ImportError:
    import tensorflow as tf
cg = getattr(tf, "custom_gradient", None)
v1 = tf.compat.v1 if hasattr(tf, "compat") else tf

class Layer(object):
    @cg  # expect: custom-gradient-form
    def f(self, x):
        return v1.identity(x), lambda dy: v1.Print(dy, [dy])  # expect: print-in-gradient

#### harmless: numpy, torch, other packages
import numpy as np
import torch

def grad(x):
    x.grad = None
    y = x + (torch.round(x) - x).detach()
    return np.gradient(y.numpy())
