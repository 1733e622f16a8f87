# -*- coding: utf-8 -*-
"""Section 11 of docs/contract.md: tfgradcompat.testing, which users' own tests call."""
from __future__ import absolute_import, division, print_function

import doctest

import numpy as np
import pytest
import tensorflow as tf

from harness import EAGER, GRAPH_UNDER_EAGER_FROM, VERSION
from tfgradcompat import clip_gradient_by_value, custom_grad, recompute, testing
from tfgradcompat.testing import assert_gradients, assert_same_everywhere, check_gradients, evaluate, gradients, variable

pytestmark = pytest.mark.one_route
MODES = testing.modes()
each_mode = pytest.mark.parametrize("where", MODES)
kinds = [False, True] if VERSION >= (1, 2) else [False]


@custom_grad
def product(x, y):
    return x * y, lambda dy: (dy * y, dy * x)


@custom_grad
def off_at_one_place(x):
    return x * x, lambda dy: 2. * x * dy * tf.constant([[1., 1.], [1., 1.2]], x.dtype)


@pytest.mark.clause("11.30")
def test_modes():
    if not EAGER:
        assert MODES == ["graph"]
    else:
        assert MODES == ["eager", "function"] + (["graph"] if VERSION >= GRAPH_UNDER_EAGER_FROM else [])


@pytest.mark.clause("11.30")
@each_mode
@pytest.mark.parametrize("use_resource", kinds)
def test_values_and_gradients(where, use_resource):
    f = lambda x, w: {"product": product(x, w), "more": [w * 2., "text", tf.shape(x)]}
    value = evaluate(f, [1., 2.], variable(3., use_resource), mode=where)
    np.testing.assert_array_equal(value["product"], [3., 6.])
    assert value["more"][:2] == [6., "text"] and list(value["more"][2]) == [2] and value["product"].dtype == np.float32
    # the sum of the product, with respect to w 1 + 2, and 2 w
    dx, dw = gradients(f, [1., 2.], variable(3., use_resource), mode=where)
    np.testing.assert_array_equal(dx, [3., 3.])
    assert dw == 5.
    dx, dw = gradients(f, [1., 2.], variable(3., use_resource), mode=where, upstream=[100., [1., 10.]])
    np.testing.assert_array_equal(dx, [3., 30.])
    assert dw == 221.  # dictionaries are in the order of their keys: 2 * 100 + 1 + 2 * 10


@pytest.mark.clause("11.30")
@each_mode
def test_what_has_no_gradient_is_none(where):
    assert gradients(lambda x, n, u: x + tf.cast(n, tf.float32), 1., 2, 3., mode=where)[1:] == [None, None]
    if where != "function" or VERSION >= (1, 7):  # functions of 1.5 and 1.6 cannot give back IndexedSlices
        dx, = gradients(lambda t: tf.gather(t, [1, 1]), [[1.], [2.]], mode=where)
        np.testing.assert_array_equal(dx, [[0.], [2.]])


@pytest.mark.clause("11.31")
def test_gradients_that_are_meant_to_differ():
    clip = lambda x: clip_gradient_by_value(x, -0.1, 0.1)
    assert_gradients(clip, [[3.]], [[0.1]])
    assert_gradients(lambda x, y: clip(x), [[3.], 1.], [[0.1], None])
    assert_gradients(clip, [[3., 1.]], [[0.05, -0.1]], upstream=[0.05, -7.])
    for expected, text in (([[0.2]], r"argument 0 is 0\.1.* at index \[0\]; expected 0\.2"), ([None], "argument 0 is .*; expected None"),
                           ([[[0.1]]], r"argument 0 has shape \(1,\); expected \(1, 1\)")):
        with pytest.raises(AssertionError, match=MODES[0] + ": the gradient for " + text):
            assert_gradients(clip, [[3.]], expected)
    with pytest.raises(AssertionError, match="2 expected gradients for 1 argument"):
        assert_gradients(clip, [[3.]], [[0.1], None])


@pytest.mark.clause("11.31")
def test_the_same_everywhere():
    assert_same_everywhere(product, [[1., 2.], 3.])
    if len(MODES) > 1:
        calls = []

        def another_each_time(x):
            calls.append(x)
            return x * float(len(calls))
        with pytest.raises(AssertionError, match="%s, against %s: result 0 is 2.0 at index" % tuple(MODES[1::-1])):
            assert_same_everywhere(another_each_time, [[1.]])


@pytest.mark.clause("11.32")
@pytest.mark.parametrize("order", [1, 2])
def test_right_gradients_pass(order):
    check_gradients(product, [[1., 2.], [3., 4.]], 3., order=order)
    check_gradients(lambda x, w: tf.tanh(product(x, w)), np.float32([0.1, 0.2]), variable(0.3), order=order)
    check_gradients(lambda x, n: x ** 3. * tf.cast(n, x.dtype), np.float64(1.5), 2, order=order)
    if VERSION >= (1, 15):
        check_gradients(recompute(lambda x: tf.sin(x) * x), [0.3, 0.4], order=order)


@pytest.mark.clause("11.32")
def test_complex_gradients():
    check_gradients(custom_grad(lambda z: (z * z, lambda dy: dy * tf.conj(2. * z) if VERSION < (1, 13) else dy * tf.math.conj(2. * z))),
                    np.complex64([1. + 2.j, 0.5 - 1.j]))
    with pytest.raises(AssertionError, match=r"argument 0, index \[0\]"):
        check_gradients(custom_grad(lambda z: (z * z, lambda dy: dy * 2. * z)), np.complex64([1. + 2.j]))


@pytest.mark.clause("11.32")
@each_mode
def test_a_wrong_gradient_is_named(where):
    x = [[1., 2.], [3., 4.]]
    with pytest.raises(AssertionError) as caught:
        check_gradients(lambda n, x: off_at_one_place(x), 1., x, modes=[where])
    text = str(caught.value)
    assert text.startswith(where) and "seed 0" in text and "argument 1, index [1, 1]" in text
    with pytest.raises(AssertionError, match="the gradient is None; numerically it is"):
        check_gradients(lambda x: tf.stop_gradient(x) * 2., [3.], modes=[where])


@pytest.mark.clause("11.32")
def test_a_wrong_second_gradient_is_found():
    f = custom_grad(lambda x: (x ** 3., lambda dy: dy * 3. * tf.stop_gradient(x) ** 2.))
    check_gradients(f, 2.)
    with pytest.raises(AssertionError, match="order 2, seed 0"):
        check_gradients(f, 2., order=2)


@pytest.mark.clause("11.32")
def test_a_function_that_computes_in_one_dtype_only():
    check_gradients(lambda x: x * tf.constant([1., 2.], tf.float32), np.float32([0.5, 1.5]))
    with pytest.raises(AssertionError, match="argument 0"):
        check_gradients(custom_grad(lambda x: (x * tf.constant(2., tf.float32), lambda dy: dy * 2.1)), np.float32([0.5]))


@pytest.mark.clause("11.30")
def test_bad_calls():
    with pytest.raises(ValueError, match="this process has the modes .*; got 'gpu'"):
        evaluate(product, 1., 2., mode="gpu")
    with pytest.raises(TypeError, match="unknown keyword 'ordr'"):
        check_gradients(product, 1., 2., ordr=2)
    with pytest.raises(ValueError, match="order is 3"):
        check_gradients(product, 1., 2., order=3)
    with pytest.raises(ValueError, match="no floating or complex tensor"):
        gradients(lambda x: tf.cast(x, tf.int32), 1.)
    with pytest.raises(ValueError, match="1 upstream gradients for 2 results"):
        gradients(lambda x: [x, x], 1., upstream=[1.])


@pytest.mark.clause("11.30")
@pytest.mark.parametrize("name", testing.__all__)
def test_examples(name, capsys):
    test = doctest.DocTestParser().get_doctest(getattr(testing, name).__doc__, {"np": np, "tf": tf}, name, None, 0)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0, capsys.readouterr().out
