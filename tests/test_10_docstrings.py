# -*- coding: utf-8 -*-
"""Section 10 of docs/contract.md: the example in the docstring of each public function, run as it is written there.

An example says what comes out in one of two ways: as in the README (`# loss([1., 2.]) is 3. with the gradient [5., 5.]`), which is
run in every mode, or, where it is marked "(eager mode)" or "(TensorFlow 2)" or makes no tensors, as an interactive session shows it.
"""
from __future__ import absolute_import, division, print_function

import doctest
import re

import numpy as np
import pytest
import tensorflow as tf

import tfgradcompat
from harness import EAGER, GRAPH_UNDER_EAGER_FROM, VERSION, check
from tfgradcompat import transforms

PUBLIC = [(name, getattr(tfgradcompat, name)) for name in tfgradcompat.__all__ if name != "transforms"]
PUBLIC += [("transforms." + name, value) for name, value in sorted(vars(transforms).items())
           if not name.startswith("_") and getattr(value, "__module__", None) == transforms.__name__ and not isinstance(value, type)]
PROMISE = re.compile(r"^ *(?:>>>|\.\.\.) # (\w+)\((.*)\) is (.+?) with the gradients? (.+)$", re.M)
PROMISING = [pair for pair in PUBLIC if PROMISE.search(pair[1].__doc__)]
SHOWING = [pair for pair in PUBLIC if pair not in PROMISING]


def scope():
    """The names that an example may use without importing them."""
    names = dict((name.split(".")[-1], value) for name, value in PUBLIC)
    names.update(vars(tfgradcompat), tf=tf, np=np)  # clip_by_value and the like are those of `transforms`
    return dict((name, value) for name, value in names.items() if not name.startswith("__"))


def ids(pairs):
    return [name for name, _ in pairs]


@pytest.mark.clause("10.19")
def test_each_public_function_says_what_a_caller_must_know():
    for name, function in PUBLIC:
        parts = ["Example:"] if name.endswith(("route", "skip_on_nan")) else ["Args:", "Raises:", "Example:"]
        missing = [part for part in parts if part not in function.__doc__]
        assert not missing, (name, missing)


@pytest.mark.clause("10.19")
@pytest.mark.parametrize("name, function", PROMISING, ids=ids(PROMISING))
def test_promises_of_examples(mode, name, function):
    names = scope()
    if "inside" in mode.name or mode.calls_directly or name != "value_and_gradients" or mode.higher_order:
        for example in doctest.DocTestParser().get_examples(function.__doc__):
            exec(compile(example.source, name, "exec", 0, True), names)
        for called, arguments, value, gradients in PROMISE.findall(function.__doc__):
            check(mode, names[called], list(eval("[%s]" % arguments)), [np.array(g) for g in eval("[%s]" % gradients)],
                  value=eval(value), rtol=1e-5)


@pytest.mark.clause("10.19")
@pytest.mark.parametrize("name, function", SHOWING, ids=ids(SHOWING))
def test_examples_that_show_what_comes_out(name, function, capsys):
    if re.search(r"\((eager mode|TensorFlow 2)\)", function.__doc__) and not (EAGER and VERSION >= (2, 0)):
        pytest.skip("the example needs eager mode and the names of TensorFlow 2.0 and newer (10.19)")
    if "with tf.Graph()" in function.__doc__ and EAGER and VERSION < GRAPH_UNDER_EAGER_FROM:
        pytest.skip("the example needs a graph, which stays eager in TensorFlow 1.5-1.8 with eager mode on (10.19)")
    test = doctest.DocTestParser().get_doctest(function.__doc__, scope(), name, None, 0)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0, capsys.readouterr().out
