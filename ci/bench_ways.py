# -*- coding: utf-8 -*-
"""The ways to give a piece of work a gradient of its own: this package, TensorFlow's own, and those that people write by hand.

A way makes a callable of a `Work`. `lacks` says why a way cannot do something; a table shows a dash there.
"""
from __future__ import absolute_import, division, print_function

import collections
import importlib
import itertools

import numpy as np
import tensorflow as tf

import tfgradcompat

v1 = getattr(getattr(tf, "compat", None), "v1", None) or tf
VERSION = tuple(int(part) for part in tf.__version__.split("-")[0].split(".")[:2])
_numbers = itertools.count()


class Work(object):
    """What a function computes, and its gradient.

    forward(*xs): the result; None where the function hands over its argument.
    backward(dy, *xs): the gradient, or a list of `count` gradients.
    array(*xs, *outside): `forward` in numpy, for py_func, which gets as inputs what else the function takes from `outside`.
    """

    def __init__(self, forward, backward, array=lambda x: x, count=1):
        self.forward, self.backward, self.array, self.count = forward, backward, array, count
        self.outside = []

    def result(self, xs):
        return xs[0] if self.forward is None else self.forward(*xs)

    def gradients(self, dy, xs):
        found = self.backward(dy, *xs)
        return found if isinstance(found, list) else [found]


def twice():
    """x * 2, and a gradient that is not the derivative."""
    return Work(lambda x: x * 2., lambda dy, x: 10. * dy, lambda x: x * np.float32(2.))


def twice_and_last():
    """The same plus the result of the call before, which it takes from outside: see `programs.build`."""
    work = Work(lambda x: x * 2. + work.outside[0], lambda dy, x: 10. * dy, lambda x, last: x * np.float32(2.) + last)
    return work


def total(count):
    """The sum of `count` inputs."""
    return Work(lambda *xs: tf.add_n(list(xs)), lambda dy, *xs: [10. * dy] * count, lambda *xs: sum(xs), count)


def handed():
    """x, and the upstream gradient as it is: what a step costs is what the carrier costs."""
    return Work(None, lambda dy, x: dy)


# ------------------------------------------------------------------------------------------------------------ the ways
def decorated(decorator):
    def make(work):
        if work.count == 1:  # as people write it
            return decorator(lambda x: (work.result([x]), lambda dy: work.backward(dy, x)))
        return decorator(lambda *xs: (work.result(xs), lambda dy: work.backward(dy, *xs)))
    return make


def native_decorator():
    """tf.custom_gradient, or what 1.4 to 1.6 have of it in a private module; None before."""
    for owner in ("tensorflow", "tensorflow.python.eager.custom_gradient"):
        try:
            return getattr(importlib.import_module(owner), "custom_gradient")
        except (ImportError, AttributeError):
            pass
    return None


NATIVE = native_decorator()


def plain(work):
    """No gradient of its own: the work, and a tf.identity."""
    return lambda *xs: tf.identity(work.result(xs))


def fresh_name(way):
    return "Bench%s%d" % (way, next(_numbers))


def override(work):
    """An override of Identity by a gradient that is registered once."""
    name = fresh_name("Override")
    tf.RegisterGradient(name)(lambda op, dy: work.backward(dy, op.inputs[0]))
    return lambda x: handed_over(work, x, name)


def handed_over(work, x, name):
    """The Identity with the gradient `name`; the rest of the work goes past it, as in the answers that people paste."""
    with v1.get_default_graph().gradient_override_map({"Identity": name}):
        carrier = tf.identity(x)
    if work.forward is None:
        return carrier
    return carrier + tf.stop_gradient(work.forward(carrier) - carrier)


def per_call(work):
    """A name that is registered for each call, as tf.custom_gradient does it: IdentityN where there is one (1.4), else Identity."""
    identity_n = getattr(importlib.import_module("tensorflow.python.ops.array_ops"), "identity_n", None)

    def call(*xs):
        name = fresh_name("PerCall")
        if identity_n is None:
            tf.RegisterGradient(name)(lambda op, dy: work.backward(dy, *xs))
            return handed_over(work, xs[0], name)
        tf.RegisterGradient(name)(lambda op, dy, *unused: [None] + work.gradients(dy, xs))
        result = work.result(xs)
        with v1.get_default_graph().gradient_override_map({"IdentityN": name}):
            return identity_n([result] + list(xs))[0]
    return call


def defun(work):
    """A function of the graph with a Python gradient function."""
    Defun = importlib.import_module("tensorflow.python.framework.function").Defun
    function = Defun(*[tf.float32] * work.count, func_name=fresh_name("Defun"),
                     python_grad_func=lambda op, dy: work.backward(dy, *op.inputs))(
                         lambda *xs: tf.identity(work.result(xs)))

    def call(*xs):
        y = function(*xs)
        y.set_shape(xs[0].get_shape())
        return y
    return call


def py_func(work):
    """Code in numpy, and an override of PyFunc that is registered for each call."""
    def call(*xs):
        name, count = fresh_name("PyFunc"), len(work.outside)
        tf.RegisterGradient(name)(lambda op, dy: work.gradients(dy, xs) + [None] * count)
        with v1.get_default_graph().gradient_override_map({"PyFunc": name}):
            y = v1.py_func(work.array, list(xs) + work.outside, tf.float32)
        y.set_shape(xs[0].get_shape())
        return y
    return call


WAYS = collections.OrderedDict([
    ("ours", decorated(tfgradcompat.custom_grad)), ("native", decorated(NATIVE)), ("identity", plain), ("override", override),
    ("per call", per_call), ("Defun", defun), ("py_func", py_func)])
BY_HAND = ("override", "per call", "Defun", "py_func")


def lacks(way, eager=False, count=1, outside=False):
    """Why this release or this way cannot do it; None if it can."""
    if way == "native" and NATIVE is None:
        return "came with TensorFlow 1.7, for graphs privately with 1.4"
    if eager and way in BY_HAND:
        return "graphs only"
    if count > 1 and (way == "override" or way == "per call" and VERSION < (1, 4)):
        return "an Identity has one input"
    if outside and way == "Defun":
        return "its gradient function must know what it takes from outside"
    return None
