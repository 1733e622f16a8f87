"""What the examples share: the digits, layers, and one way to run functions of tensors on every TensorFlow.

An example is written as functions of tensors. `compiled` makes functions of numpy arrays of them: on TensorFlow 2 with
`tf.function`, on TensorFlow 1 with placeholders and a session.
"""
from __future__ import absolute_import, division, print_function

import contextlib
import io
import json
import platform

import numpy as np
import tensorflow as tf

from tfgradcompat.tools import digits

v1 = getattr(getattr(tf, "compat", None), "v1", None) or tf  # where TensorFlow 2 keeps what is from TensorFlow 1
HAS_FUNCTIONS = hasattr(tf, "function") and tf.executing_eagerly()


def load_digits():
    """(training images, their labels, held-out images, their labels); images are [n, 64] between 0 (paper) and 1 (ink)."""
    images, labels, held_out_images, held_out_labels = digits.load()
    return images.astype(np.float32), labels, held_out_images.astype(np.float32), held_out_labels


def batches(random, count, size):
    """The indices of `count` images in a random order, `size` at a time; what is left over waits for the next epoch."""
    order = random.permutation(count)
    return [order[i:i + size] for i in range(0, count - size + 1, size)]


def weights(random, *shape):
    """A variable for a layer with rectifiers (He et al. 2015), drawn by numpy so that every TensorFlow begins with the same."""
    return tf.Variable((random.randn(*shape) * np.sqrt(2. / np.prod(shape[:-1]))).astype(np.float32))


def new_layer(random, inputs, outputs):
    """The variables of a dense layer."""
    return [weights(random, inputs, outputs), tf.Variable(np.zeros(outputs, np.float32))]


def dense(x, layer):
    return tf.matmul(x, layer[0]) + layer[1]


def cross_entropy(labels, logits):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


@contextlib.contextmanager
def new_world():
    """Where variables are made and compiled functions run: on TensorFlow 1 a graph of their own with a session."""
    if HAS_FUNCTIONS:
        yield
    else:
        with tf.Graph().as_default(), v1.Session():
            yield


def compiled(f):
    """f, from tensors to tensors or to the step of `minimize`, as a function of arrays that is built at its first call."""
    if HAS_FUNCTIONS:
        function = tf.function(f, autograph=False)
        return lambda *arrays: as_arrays(function(*[tf.constant(array) for array in arrays]))
    built = []

    def run(*arrays):
        session = v1.get_default_session()
        if not built:
            inputs = [v1.placeholder(array.dtype, (None,) + array.shape[1:] if array.ndim else ()) for array in arrays]
            built.append((inputs, f(*inputs)))
            names = session.run(v1.report_uninitialized_variables())  # those of optimizers are made by `f`
            session.run(v1.variables_initializer([v for v in v1.global_variables() if v.op.name.encode() in names]))
        inputs, result = built[0]
        return session.run(result, dict(zip(inputs, arrays)))
    return run


def as_arrays(result):
    return [one.numpy() for one in result] if isinstance(result, (list, tuple)) else result.numpy()


def add_json(parser):
    parser.add_argument("--json", help="also write the numbers to this file, for draw.py")


def write_json(path, example, numbers):
    """Numbers, and what they were measured on."""
    found = dict(numbers, example=example, tensorflow=tf.__version__, python=platform.python_version())
    with io.open(path, "w", encoding="utf-8") as stream:
        stream.write(json.dumps(found, indent=1, sort_keys=True) + u"\n")
