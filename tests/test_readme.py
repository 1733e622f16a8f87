# -*- coding: utf-8 -*-
"""The examples of README.md, run as they are written there, in every mode; and the numbers that they promise.

A promise is a comment in an example: `# f(2., w=3.) is 6. with the gradients 3., 1.` What is given by name reaches `f` as a
variable.
"""
from __future__ import absolute_import, division, print_function

import io
import os
import re

import numpy as np
import pytest

from harness import check, variable

README = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "README.md")

pytestmark = pytest.mark.skipif(not os.path.exists(README), reason="README.md is not beside these tests")


def examples():
    """The Python blocks; none where the tests are alone."""
    if not os.path.exists(README):
        return []
    with io.open(README, encoding="utf-8") as file:
        return re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)


def promises(example):
    return re.findall(r"^# (\w+)\((.*)\) is (.+?) with the gradients? (.+)$", example, re.M)


def sources(*values, **variables):
    """The arguments of a promise, as the harness wants them."""
    return list(values) + [variable(value, name=name) for name, value in sorted(variables.items())]


def test_there_are_examples_and_each_promises_something():
    assert len(examples()) >= 2
    assert all(promises(example) for example in examples())


@pytest.mark.parametrize("number", range(len(examples())))
def test_example(mode, number):
    scope = {}
    for example in examples()[:number + 1]:  # an example may use what those before it define
        exec(compile(example, "README.md", "exec", 0, True), scope)  # without the __future__ of this file
    for name, arguments, value, gradients in promises(example):
        check(mode, scope[name], eval("sources(%s)" % arguments, {"sources": sources}),
              [np.array(gradient) for gradient in eval("[%s]" % gradients)], value=eval(value))
