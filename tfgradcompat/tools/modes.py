"""The ways to run code that this TensorFlow has, found by asking it: graph, eager, function.

What is asked is the state of the process, so that a TensorFlow 1 with eager execution enabled, or a TensorFlow 2 with
it disabled, is used the way its owner has set it.
"""
from __future__ import absolute_import, division, print_function

import tensorflow as tf

from .. import loading

_api = loading.load()
tf1 = _api.v1
eager_is_on = _api.executing_eagerly


def available_modes():
    """The names of the modes, the natural one of this process first."""
    if not eager_is_on():
        return ["graph"]
    modes = ["eager"]
    if hasattr(tf, "function"):  # since 1.14
        modes.append("function")
    with tf.Graph().as_default():
        if not eager_is_on():  # 1.4 to 1.8 stay eager inside a graph
            modes.append("graph")
    return modes


def new_variable(value, name):
    """A variable of the kind that the active mode wants, starting at the numpy array `value`."""
    if eager_is_on() and hasattr(tf, "get_variable"):
        # tf.Variable refuses to work eagerly before 1.11.
        return tf.get_variable(name, initializer=value, use_resource=True)
    return tf1.Variable(value, name=name)


def new_tape():
    """A gradient tape: tf.GradientTape since 1.7, that of tf.contrib.eager before."""
    tape = getattr(tf, "GradientTape", None) or tf.contrib.eager.GradientTape
    return tape()


def new_session():
    """A session on the default graph whose variables have their starting values."""
    session = tf1.Session()
    session.run(tf1.global_variables_initializer())
    return session


def result_and_gradients(function, inputs, variables, dy, mode):
    """Computes `function` of some inputs, and the gradients of sum(result * dy) with respect to each.

    Args:
      function: takes one tensor or variable per input, returns one tensor.
      inputs: numpy arrays.
      variables: the indices of the inputs that are to be variables.
      dy: numpy array with the shape and dtype of the result.
      mode: one of `available_modes()`.

    Returns:
      The result and a list of gradients, as numpy arrays; None stands for a missing gradient.
    """
    if mode == "graph":
        return _in_graph(function, inputs, variables, dy)
    sources = [new_variable(value, "input_%d" % i) if i in variables else tf.constant(value)
               for i, value in enumerate(inputs)]

    def compute(*tensors):
        arguments = [source if i in variables else tensor
                     for i, (source, tensor) in enumerate(zip(sources, tensors))]
        with new_tape() as tape:
            for i, argument in enumerate(arguments):
                if i not in variables:
                    tape.watch(argument)
            result = function(*arguments)
            total = tf.reduce_sum(result * dy)
        return result, tape.gradient(total, arguments)

    if mode == "function":
        compute = tf.function(compute)
    result, gradients = compute(*[tf.constant(value) for value in inputs])
    return result.numpy(), [None if gradient is None else gradient.numpy() for gradient in gradients]


def _in_graph(function, inputs, variables, dy):
    with tf.Graph().as_default():
        arguments = [new_variable(value, "input_%d" % i) if i in variables else tf.constant(value)
                     for i, value in enumerate(inputs)]
        result = function(*arguments)
        gradients = tf1.gradients(tf.reduce_sum(result * dy), arguments)
        there = [gradient for gradient in gradients if gradient is not None]
        with new_session() as session:
            result, there = session.run([result, there])
    there = iter(there)
    return result, [None if gradient is None else next(there) for gradient in gradients]
