# -*- coding: utf-8 -*-
"""Section 11 of docs/contract.md: what `scan` says of releases is so on the TensorFlow of this cell."""
from __future__ import absolute_import, division, print_function

import importlib
import re

import pytest
import tensorflow as tf

from harness import VERSION, v1
from tfgradcompat.tools import scan_facts

pytestmark = [pytest.mark.once, pytest.mark.clause("11.26")]


def release(text):
    return tuple(int(part) for part in text.split("."))


def there(where):
    """Whether a text as "from 1.4 on", "1.4-1.6 only" or "there on every release so far" speaks of this release."""
    since = re.match(r"from ([\d.]+) on", where)
    between = re.match(r"([\d.]+)-([\d.]+)", where)
    if since:
        return VERSION >= release(since.group(1))
    if between:
        return release(between.group(1)) <= VERSION <= release(between.group(2))
    assert where.startswith("there on every release"), where
    return True


def has(dotted):
    """Whether a dotted name can be had; what is no module is an attribute of one."""
    module, _, name = dotted.rpartition(".")
    try:
        return hasattr(importlib.import_module(module), name) or bool(importlib.import_module(dotted))
    except ImportError:
        return False


@pytest.mark.parametrize("name", sorted(scan_facts.PRIVATE_MODULES) + sorted(scan_facts.PRIVATE_NAMES))
def test_private_parts_are_where_they_are_said_to_be(name):
    where = scan_facts.PRIVATE_MODULES.get(name) or scan_facts.PRIVATE_NAMES[name]
    assert has(name) == there(where)


@pytest.mark.parametrize("name", [
    "nn_ops.%srelu_grad", "nn_ops.%smax_pool_grad", "math_ops.%stanh_grad", "array_ops.%stile_grad"])
def test_generated_gradients_lost_their_underscore(name):
    for underscore in ("_", ""):
        dotted = "tensorflow.python.ops.gen_" + name % underscore
        assert has(dotted) == there(scan_facts.private_part(dotted)[1])
    for always in ("bias_add_grad", "fused_batch_norm_grad"):
        assert scan_facts.private_part("tensorflow.python.ops.gen_nn_ops." + always) is None
        assert has("tensorflow.python.ops.gen_nn_ops." + always)


def test_operations_have_gradients_from_the_release_on_that_is_said():
    ops = importlib.import_module("tensorflow.python.framework.ops")
    registered = (getattr(ops, "_gradient_registry", None) or ops.gradient_registry).list()
    known = dict((op_type, release(since)) for op_type, since in scan_facts.OWN_GRADIENTS.items())
    assert [op_type for op_type, since in known.items() if VERSION >= since and op_type not in registered] == []
    # Of later releases the first that has one is not known to the minor; and 1.8 had the gradient of ClipByValue.
    exact = [op_type for op_type, since in known.items() if since <= (2, 1)]
    assert [op_type for op_type in exact if VERSION < known[op_type] and op_type in registered] == []


def types_of(make):
    """The types of the operations that a function makes in a new graph."""
    with tf.Graph().as_default() as graph:
        x = v1.placeholder("float32", [2, 2])
        before = len(graph.get_operations())
        make(x)
        return set(op.type for op in graph.get_operations()[before:])


@pytest.mark.parametrize("name, make, since", [
    ("Add", lambda x: x + x, (1, 15)),
    ("Select", lambda x: tf.where(x > 0., x, x), (2, 0)),
    ("Gather", lambda x: tf.gather(x, [0]), (1, 8)),
    ("BatchMatMul", lambda x: tf.matmul(tf.reshape(x, [1, 2, 2]), tf.reshape(x, [1, 2, 2])), (1, 14)),
    ("Concat", lambda x: tf.concat([x, x], 0) if VERSION >= (1, 0) else tf.concat(0, [x, x]), (1, 0)),
])
def test_operations_that_have_another_type_since(name, make, since):
    rows = [(types, how) for types, _, how in scan_facts.RENAMED_TYPES if name in types]
    (old, new), how = rows[0]
    assert "%d.%d" % since in how
    found = types_of(make)
    assert (new in found) == (VERSION >= since) and (old in found) == (VERSION < since)


def test_leaky_relu_and_clip_by_value():
    if hasattr(tf.nn, "leaky_relu"):
        assert ("LeakyRelu" in types_of(tf.nn.leaky_relu)) == (VERSION >= (1, 13))
    assert ("ClipByValue" in types_of(lambda x: tf.clip_by_value(x, 0., 1.))) == (VERSION == (1, 8))


def test_a_name_can_be_registered_once_only():
    register = importlib.import_module("tensorflow.python.framework.ops").RegisterGradient
    register("Test11ScanFacts")(lambda op, dy: dy)
    with pytest.raises(KeyError):
        register("Test11ScanFacts")(lambda op, dy: dy)


@pytest.mark.parametrize("name, where", [
    ("Print", "0.12-1.15"), ("py_func", "0.12-1.15"), ("custom_gradient", "from 1.7 on"),
    ("recompute_grad", "from 1.15 on"), ("RegisterGradient", "there on every release"),
    ("stop_gradient", "there on every release")])
def test_public_names(name, where):
    assert hasattr(tf, name) == there(where)


def test_tf_print_as_it_is_today():
    assert hasattr(tf, "print") and getattr(tf, "print") is not getattr(tf, "Print", None) if VERSION >= (1, 12) else (
        getattr(tf, "print", None) is getattr(tf, "Print", None) or not hasattr(tf, "print"))


def test_compute_gradient_is_another_function_since_2_0():
    function = tf.test.compute_gradient
    decorator = getattr(function, "_tf_decorator", None)  # 1.14 and 1.15 call it deprecated
    code = (decorator.decorated_target if decorator else function).__code__
    assert code.co_varnames[:2] == (("f", "x") if VERSION >= (2, 0) else ("x", "x_shape"))
    assert hasattr(tf.test, "compute_gradient_error") == (VERSION < (2, 0))
