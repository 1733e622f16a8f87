# -*- coding: utf-8 -*-
"""Section 10 of docs/contract.md: bad arguments of the ready-made functions: a clear error at the call."""
from __future__ import absolute_import, division, print_function

import re

import numpy as np
import pytest
import tensorflow as tf

from harness import MODES, v1, variable
from tfgradcompat import (
    check_gradient, clip_gradient_by_norm, clip_gradient_by_value, clip_gradients_by_global_norm, minimize, print_gradient,
    reverse_gradient, scale_gradient, straight_through, surrogate, transforms, value_and_gradients)

NAN, INF = float("nan"), float("inf")
BAD = []


def bad(f, exception, facts, *cases):
    """Registers calls of `f` that must raise; a case is a text that is evaluated, the arguments of `f`."""
    for case in cases:
        BAD.append(pytest.param(f, "f(%s)" % case, exception, facts, id="%s(%s)" % (f.__name__, case)))


# What holds no tensor that could have a gradient, for a first argument.
NO_TENSOR = ["None", "3.", "3", "True", "'text'", "b'text'", "[]", "{}", "()", "[1., 2.]", "[None, 'a']", "object()", "len", "np.float32(1.)",
             "np.array([1, 2])", "np.array(['a'])", "integers", "booleans", "strings", "[integers, {'a': strings}]", "np.array([None])"]
NO_NUMBER = ["None", "'2'", "True", "[1.]", "(1.,)", "{}", "object()", "len", "booleans", "strings", "np.array([True])", "complex(1, 2)",
             "np.complex64(1)", "tf.constant(np.complex64(1j))"]
NO_NORM = NO_NUMBER + ["-1.", "-1e-9", "NAN", "INF", "np.float32(NAN)", "np.array(-2)", "tf.constant(-2.)", "tf.constant(NAN)", "[1., 2.]", "x",
                       "np.ones(1)", "np.ones((2, 2))", "tf.constant([1., 1.])"]
NO_FUNCTION = ["None", "3", "'tf.round'", "x", "[tf.round]", "{}", "np.ones(2)", "True"]

for function in (scale_gradient, reverse_gradient):
    bad(function, TypeError, "'x'", *["%s, 2." % x for x in NO_TENSOR])
    bad(function, TypeError, "scale must", *["x, %s" % s for s in NO_NUMBER])
    bad(function, ValueError, "scale must", *["x, %s" % s for s in ("NAN", "INF", "-INF", "np.float64(NAN)", "tf.constant(NAN)")])
    bad(function, ValueError, "scale has shape", "x, np.ones(3)", "x, np.ones((1, 2))", "tf.constant(1.), x", "[x, tf.constant(1.)], x")
bad(scale_gradient, TypeError, "missing", "", "x", "scale=2.")
bad(scale_gradient, TypeError, "scale must", "[c, x], 2j")
bad(clip_gradient_by_value, TypeError, "'x'", *["%s, -1., 1." % x for x in NO_TENSOR + ["c", "[x, c]"]])
bad(clip_gradient_by_value, TypeError, "lo must", *["x, %s, 1." % lo for lo in NO_NUMBER])
bad(clip_gradient_by_value, TypeError, "hi must", *["x, -1., %s" % hi for hi in NO_NUMBER])
bad(clip_gradient_by_value, ValueError, "NaN", "x, NAN, 1.", "x, 1., NAN", "x, tf.constant(NAN), 1.")
bad(clip_gradient_by_value, ValueError, "greater", "x, 2., 1.", "x, 2, tf.constant(1.)", "x, np.array([0., 5.]), 1.", "x, INF, 1.")
bad(clip_gradient_by_value, ValueError, "shape", "x, np.zeros(3), 1.", "x, -1., np.ones((1, 2))")
bad(clip_gradient_by_value, TypeError, "missing", "x", "x, 1.")
for function in (clip_gradient_by_norm, clip_gradients_by_global_norm):
    bad(function, TypeError, "'xs?'", *["%s, 1." % x for x in NO_TENSOR])
    bad(function, (TypeError, ValueError), "norm must", *["x, %s" % norm for norm in NO_NORM])
bad(print_gradient, TypeError, "'x'", *NO_TENSOR)
bad(print_gradient, TypeError, "message", *["x, %s" % m for m in ("None", "3", "x", "['a']", "object()")])
bad(print_gradient, TypeError, "summarize", *["x, 'm', %s" % s for s in ("None", "'3'", "2.5", "True", "[3]", "x")])
bad(print_gradient, ValueError, "summarize", "x, 'm', 0", "x, 'm', -2")
bad(check_gradient, TypeError, "'x'", *NO_TENSOR)
bad(check_gradient, TypeError, "message", *["x, %s" % m for m in ("None", "3", "x", "['a']")])


def straight_through_of(f, *args):
    return straight_through(f)(*args)


def surrogate_of(f, b, *args):
    return surrogate(f, b)(*args)


bad(straight_through, TypeError, "f must be a function", *NO_FUNCTION)
bad(straight_through_of, TypeError, "'x'", *["tf.identity, %s" % x for x in NO_TENSOR])
bad(straight_through_of, TypeError, "returned", *["lambda x: %s, x" % y for y in ("None", "1.", "'text'", "[]", "object()")])
bad(straight_through_of, TypeError, "dtype", "lambda x: x > 0., x", "lambda x: integers, x", "lambda x: tf.cast(x, tf.complex64), x",
    "lambda x: strings, x")
bad(straight_through_of, ValueError, "shape|holds 2", "tf.reduce_sum, x", "lambda x: tf.reshape(x, [2, 1]), x", "lambda x: [x, x], x")
bad(surrogate, TypeError, "f must be a function", *["%s, tf.round" % f for f in NO_FUNCTION])
bad(surrogate, TypeError, "b must be a function", *["tf.round, %s" % b for b in NO_FUNCTION])
bad(surrogate_of, TypeError, "f returned", *["lambda x: %s, tf.identity, x" % y for y in ("None", "1.", "'text'", "[]")])
bad(surrogate_of, TypeError, "b returned", *["tf.identity, lambda x: %s, x" % y for y in ("None", "1.", "'text'", "[]")])
bad(surrogate_of, TypeError, "dtype", "lambda x: x > 0., tf.identity, x", "tf.identity, lambda x: integers, x",
    "tf.identity, lambda x: tf.cast(x, tf.complex64), x")
bad(surrogate_of, ValueError, "shape|holds", "tf.reduce_sum, tf.identity, x", "tf.identity, lambda x: [x, x], x")

NO_PAIRS = ["None", "3", "x", "[x]", "[(x,)]", "[(x, 'v', 1)]", "[(3., 'v')]", "['ab', (1, 2)]", "[(np.ones(2), 'v')]"]


def transformed(make, pairs):
    return make(pairs)


bad(transforms.clip_by_value, (TypeError, ValueError), "clip_by_value: lo must", *["%s, 1." % lo for lo in NO_NUMBER + ["NAN", "2.", "np.ones(2) - 9"]])
bad(transforms.clip_by_value, (TypeError, ValueError), "hi", *["-1., %s" % hi for hi in NO_NUMBER + ["NAN", "-2.", "np.ones(2)"]])
bad(transforms.clip_by_norm, (TypeError, ValueError), "clip_by_norm: norm must", *NO_NORM)
bad(transforms.clip_by_global_norm, (TypeError, ValueError), "clip_by_global_norm: norm must", *NO_NORM)
bad(transforms.scale, (TypeError, ValueError), "scale: factor must", *(NO_NUMBER + ["NAN", "INF", "np.ones(2)"]))
bad(transforms.add_noise, (TypeError, ValueError), "add_noise: stddev must", *NO_NORM)
bad(transforms.add_noise, TypeError, "seed", "1., 'a'", "1., 2.5", "1., True", "1., [1]")
bad(transforms.chain, TypeError, "transform 1", *["transforms.scale(2.), %s" % f for f in NO_FUNCTION])
bad(transformed, TypeError, "pairs|must be a tensor", *["transforms.%s, %s" % (t, pairs) for pairs in NO_PAIRS for t in (
    "scale(2.)", "clip_by_global_norm(2.)", "skip_on_nan()", "add_noise(1.)")])
bad(transformed, TypeError, "returned", *["transforms.chain(lambda pairs: %s), [(x, 'v')]" % pairs for pairs in NO_PAIRS])

bad(value_and_gradients, TypeError, "f must be a function", *["%s, x" % f for f in NO_FUNCTION])
bad(value_and_gradients, (TypeError, ValueError), "xs", *["lambda *xs: x, %s" % xs for xs in NO_TENSOR])
bad(value_and_gradients, TypeError, "must return", *["lambda x: %s, x" % y for y in ("None", "1.", "[x]", "integers", "'text'")])


def step(optimizer=None, loss=None, variables=None, transform=None):
    """`minimize` with a good argument in the place of each that is missing."""
    w = variable(1., name="w").make(MODES[0])
    optimizer = v1.train.GradientDescentOptimizer(0.1) if optimizer is None else optimizer
    return minimize(optimizer, (lambda: tf.convert_to_tensor(w) * 2.) if loss is None else loss, [w] if variables is None else variables, transform)


bad(step, TypeError, "apply_gradients", "3", "'sgd'", "len", "x", "[]", "object()", "tf.train")
bad(step, TypeError, "loss", *["loss=%s" % loss for loss in (
    "3.", "'loss'", "[x]", "np.ones(2)", "lambda: None", "lambda: 1.", "lambda: [x]", "lambda: integers")])
bad(step, TypeError, "variables must", *["variables=%s" % v for v in ("3", "'w'", "x", "[x]", "[None]", "{}", "iter([])", "['w']")])
bad(step, ValueError, "empty", "variables=[]", "variables=()")
bad(step, TypeError, "transform", *["transform=%s" % t for t in ("3", "'clip'", "[3]", "[None]", "x")])
bad(step, TypeError, "returned", *["transform=lambda pairs: %s" % pairs for pairs in (
    "None", "3", "pairs[0]", "[g for g, v in pairs]", "[(1., v) for g, v in pairs]", "[(g, 'w') for g, v in pairs]")])
bad(step, ValueError, "transform", "transform=lambda pairs: []", "transform=lambda pairs: [(None, v) for g, v in pairs]")


@pytest.mark.clause("10.11")
@pytest.mark.parametrize("f, call, exception, facts", BAD)
def test_bad_arguments(f, call, exception, facts):
    mode = MODES[0]  # graph or eager

    def program():
        scope = dict(globals(), f=f, x=tf.constant([1., 2.]), c=tf.constant(np.complex64([1j, 2.])), integers=tf.constant([1, 2]),
                     booleans=tf.constant([True, False]), strings=tf.constant(["a", "b"]))
        with pytest.raises(exception) as error:
            eval(call, scope)
        assert re.search(facts, str(error.value)), str(error.value)
        assert len(str(error.value)) < 500

    mode.execute(program)
