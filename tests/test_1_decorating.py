# -*- coding: utf-8 -*-
"""Section 1 of docs/contract.md: decorating."""
from __future__ import absolute_import, division, print_function

import copy
import functools
import importlib
import inspect
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

import tfgradcompat
from harness import PY2, SETUP, VERSION, check
from tfgradcompat import custom_grad


def triple(x):
    """x doubled, with a gradient of three."""
    return x * 2., lambda dy: 3. * dy


decorated_triple = custom_grad(triple)


@custom_grad
def top_level(x, k=2.):
    """What it says."""
    return x * k, lambda dy: 7. * dy


# --------------------------------------------------------------------------------------------------------- 1.1 spellings
@pytest.mark.clause("1.1")
@pytest.mark.parametrize("decorate", [custom_grad, custom_grad(), lambda f: custom_grad(f=f)], ids=["bare", "call", "keyword"])
def test_three_spellings(mode, decorate):
    check(mode, decorate(triple), [[1., 2.]], [[3., 3.]], value=[2., 4.])


@pytest.mark.clause("1.1")
def test_relu_with_a_clipped_gradient_unchanged(mode):
    @custom_grad
    def clip_grad_relu(x):
        result = tf.nn.relu(x)

        def grad(dresult):
            return tf.clip_by_value(dresult, -5., 5.)

        return result, grad

    check(mode, clip_grad_relu, [[-1., 2.]], [[5., 5.]], value=[0., 2.], upstream=[[10., 10.]])


@pytest.mark.clause("1.1")
@pytest.mark.parametrize("w, dw", [([.25, .5], [-2., -3.]), (.25, -5.)], ids=["vector weight", "scalar weight"])
def test_weighted_sum_unchanged(mode, w, dw):
    # d(w x + (1 - w) y): dx = w, dy = 1 - w, dw = x - y = [-2, -3]; a scalar w gets the sum of the last, -5
    @custom_grad
    def weighted_sum(x, y, weight):
        def grad(d):
            return d * weight, d * (1. - weight), d * (x - y)

        return weight * x + (1. - weight) * y, grad

    ws = np.broadcast_to(np.asarray(w), (2,))
    check(mode, weighted_sum, [[1., 2.], [3., 5.], w], [ws, 1. - ws, dw])


# ---------------------------------------------------------------------------------------------------------- 1.2 callables
class Model(object):
    """Decorated methods of every sort."""

    scale = 4.

    def __init__(self, factor):
        self.factor = factor

    @custom_grad
    def method(self, x):
        return x * self.factor, lambda dy: 10. * self.factor * dy

    @custom_grad()
    def method_with_parentheses(self, x, k=2.):
        return x * k, lambda dy: self.factor * dy

    @staticmethod
    @custom_grad
    def static_outside(x):
        return x * 2., lambda dy: 5. * dy

    @custom_grad
    @staticmethod
    def static_inside(x):
        return x * 2., lambda dy: 6. * dy

    @classmethod
    @custom_grad
    def class_outside(cls, x):
        return x * cls.scale, lambda dy: 7. * dy

    @custom_grad
    @classmethod
    def class_inside(cls, x):
        return x * cls.scale, lambda dy: 8. * cls.scale * dy

    def plain(self, x):
        return x * self.factor, lambda dy: -self.factor * dy

    def __call__(self, x):
        return x * self.factor, lambda dy: 9. * dy


class SubModel(Model):
    scale = 40.

    @custom_grad
    def method(self, x):
        y = super(SubModel, self).method(x)  # x * factor with a gradient of its own, which this one hides
        return y + 1., lambda dy: -1. * dy


@pytest.mark.clause("1.2")
def test_methods_know_their_instance(mode):
    a, b = Model(2.), Model(3.)
    check(mode, lambda x: (a.method(x), b.method(x)), [1.], [50.], value=(2., 3.))
    check(mode, lambda x: Model.method(a, x), [1.], [20.], value=2.)
    check(mode, lambda x: b.method_with_parentheses(x, k=5.), [1.], [3.], value=5.)
    check(mode, a.method, [1.], [20.], value=2.)


@pytest.mark.clause("1.2")
@pytest.mark.parametrize("owner", [Model, Model(2.)], ids=["of the class", "of an instance"])
@pytest.mark.parametrize("name, value, gradient", [
    ("static_outside", 2., 5.), ("static_inside", 2., 6.), ("class_outside", 4., 7.), ("class_inside", 4., 32.)])
def test_static_and_class_methods(mode, owner, name, value, gradient):
    check(mode, getattr(owner, name), [1.], [gradient], value=value)


@pytest.mark.clause("1.2")
def test_class_methods_of_a_subclass(mode):
    check(mode, SubModel.class_inside, [1.], [320.], value=40.)
    check(mode, SubModel(2.).class_outside, [1.], [7.], value=40.)


@pytest.mark.clause("1.2")
def test_method_that_calls_the_overridden_one(mode):
    check(mode, SubModel(3.).method, [2.], [-1.], value=7.)


@pytest.mark.clause("1.2")
@pytest.mark.parametrize("f, value, gradient", [
    (lambda x: (x * 2., lambda dy: 6. * dy), 2., 6.),
    (functools.partial(lambda k, x: (x * k, lambda dy: 11. * dy), 5.), 5., 11.),
    (functools.partial(lambda x, k: (x * k, lambda dy: 12. * dy), k=5.), 5., 12.),
    (functools.partial(functools.partial(lambda x, k, m: (x * k, lambda dy: m * dy), k=5.), m=13.), 5., 13.),
    (Model(3.), 3., 9.),
    (Model(3.).plain, 3., -3.),
], ids=["lambda", "partial", "partial by keyword", "partial of a partial", "callable object", "bound method"])
def test_other_callables(mode, f, value, gradient):
    check(mode, custom_grad(f), [1.], [gradient], value=value)


@pytest.mark.clause("1.2")
def test_a_keyword_of_the_call_goes_before_one_that_a_partial_froze(mode):
    scaled = functools.partial(lambda x, k, m: (x * k, lambda dy: m * dy), k=5., m=13.)
    check(mode, lambda x: custom_grad(scaled)(x, k=7.), [1.], [13.], value=7.)
    check(mode, lambda x: custom_grad(functools.partial(scaled, m=17.))(x), [1.], [17.], value=5.)


@pytest.mark.clause("1.2")
def test_functions_made_in_a_loop_keep_their_own(mode):
    functions = []
    for factor in (2., 3., 5.):
        def f(x, factor=factor):
            return x * 1., lambda dy: factor * dy

        functions.append(custom_grad(f))
    check(mode, lambda x: [f(x) for f in functions], [1.], [532.], upstream=[1., 10., 100.])  # 2 + 30 + 500
    for f, factor in zip(functions, (2., 3., 5.)):
        check(mode, f, [1.], [factor])


@pytest.mark.clause("1.2")
def test_nested_definitions(mode):
    def make(factor):
        @custom_grad
        def f(x):
            def grad(dy):
                return factor * dy
            return x + 0., grad
        return f

    two, three = make(2.), make(3.)
    check(mode, lambda x: two(x) * three(x), [5.], [25.], value=25.)  # 2 * 5 + 3 * 5


# --------------------------------------------------------------------------------------------------------------- 1.3 names
@pytest.mark.clause("1.3")
def test_name_doc_module_wrapped():
    assert decorated_triple.__name__ == "triple"
    assert decorated_triple.__doc__ == triple.__doc__
    assert decorated_triple.__module__ == __name__
    assert decorated_triple.__wrapped__ is triple
    if not PY2:
        assert decorated_triple.__qualname__ == "triple"


@pytest.mark.clause("1.3")
def test_names_of_methods():
    assert Model.method.__name__ == "method"
    assert Model(1.).method.__name__ == "method"
    assert Model.static_inside.__name__ == "static_inside"
    assert Model.class_inside.__name__ == "class_inside"
    if not PY2:
        assert Model.method.__qualname__ == "Model.method"


@pytest.mark.clause("1.3")
def test_signature():
    if PY2:  # inspect of Python 2 does not follow __wrapped__ by itself
        assert inspect.getargspec(top_level.__wrapped__) == (["x", "k"], None, None, (2.,))
    else:
        assert str(inspect.signature(top_level)) == "(x, k=2.0)"
        assert str(inspect.signature(Model(1.).method)) == "(x)"


@pytest.mark.clause("1.3")
@pytest.mark.parametrize("f", [functools.partial(triple), Model(2.), lambda x: triple(x)], ids=["partial", "object", "lambda"])
def test_what_has_no_name_is_decorated_all_the_same(f):
    assert callable(custom_grad(f))
    assert custom_grad(f).__wrapped__ is f


@pytest.mark.clause("1.3")
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickled_by_reference(protocol):
    assert pickle.loads(pickle.dumps(top_level, protocol)) is top_level


@pytest.mark.clause("1.3")
def test_copied_by_reference():
    assert copy.copy(top_level) is top_level
    assert copy.deepcopy(top_level) is top_level
    assert copy.deepcopy({"layer": [top_level]})["layer"][0] is top_level


# ------------------------------------------------------------------------------------------------------ 1.4 no side effects
def python(code, **environment):
    """Run a program in a fresh interpreter; what it wrote to stdout and stderr."""
    environment = dict(os.environ, PYTHONIOENCODING="utf-8", **environment)
    process = subprocess.Popen([sys.executable, "-W", "error::DeprecationWarning:tfgradcompat", "-c", code], env=environment,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out, err


DECORATE = """
import sys
from tfgradcompat import custom_grad

@custom_grad
def f(x):
    return x * 2., lambda dy: dy

class Model(object):
    @custom_grad()
    def method(self, x):
        return x * 2., lambda dy: dy

custom_grad(lambda x: (x, lambda dy: dy))
"""


@pytest.mark.clause("1.4")
@pytest.mark.once
def test_importing_and_decorating_do_nothing():
    code = DECORATE + """
assert not [name for name in sys.modules if name.split(".")[0] in ("tensorflow", "keras")], "imported"
"""
    assert python(code) == ("", "")


@pytest.mark.clause("1.4")
@pytest.mark.once
def test_without_tensorflow_the_first_call_says_what_to_install():
    code = "import sys\nsys.modules['tensorflow'] = None\n" + DECORATE + """
for call in (lambda: f(1.), lambda: Model().method(1.)):
    try:
        call()
    except ImportError as error:
        text = str(error)
        assert "pip install" in text and "tensorflow" in text, text
    else:
        raise AssertionError("no error")
"""
    assert python(code) == ("", "")


@pytest.mark.clause("1.4")
def test_decorating_registers_nothing():
    from tensorflow.python.framework import ops
    registry = getattr(ops, "_gradient_registry", None) or ops.gradient_registry
    before = set(registry.list())
    for _ in range(10):
        custom_grad(lambda x: triple(x))
    assert set(registry.list()) <= before  # those of other tests may go meanwhile


# ----------------------------------------------------------------------------------------------------------------- 1.5 route
@pytest.mark.clause("1.5")
def test_the_route_of_this_process(mode):
    check(mode, decorated_triple, [1.], [3.])
    if SETUP == "override":
        assert tfgradcompat.route() == "override"
    else:
        assert tfgradcompat.route() == ("native" if VERSION >= (1, 7) else "override")


@pytest.fixture
def fresh(monkeypatch):
    """The package imported once more, which has chosen no route yet. The other is back after the test."""
    if VERSION >= (1, 14):  # what the fresh copy hangs into TensorFlow goes with it
        pfor = importlib.import_module("tensorflow.python.ops.parallel_for.pfor")
        monkeypatch.setattr(pfor, "_is_stateful_pfor_op", pfor._is_stateful_pfor_op)
    for name in list(sys.modules):
        if name.split(".")[0] == "tfgradcompat":
            monkeypatch.delitem(sys.modules, name)
    fresh = importlib.import_module("tfgradcompat")
    assert fresh is not tfgradcompat
    return fresh


@pytest.mark.clause("1.5")
@pytest.mark.parametrize("name", ["native", "override"])
@pytest.mark.skipif(VERSION < (1, 7), reason="before TensorFlow 1.7 there is only one route (1.5)")
def test_a_route_is_forced(fresh, monkeypatch, name):
    monkeypatch.setenv("TFGRADCOMPAT_ROUTE", name)
    assert fresh.route() == name
    monkeypatch.delenv("TFGRADCOMPAT_ROUTE")
    assert fresh.route() == name  # chosen once


@pytest.mark.clause("1.5")
def test_an_unknown_route_is_an_error(fresh, monkeypatch):
    monkeypatch.setenv("TFGRADCOMPAT_ROUTE", "sideways")
    with pytest.raises(ValueError) as error:
        fresh.route()
    for fact in ("TFGRADCOMPAT_ROUTE", "sideways", "native", "override"):
        assert fact in str(error.value)


@pytest.mark.clause("1.5")
@pytest.mark.skipif(VERSION >= (1, 7), reason="TensorFlow 1.7 and newer have tf.custom_gradient (1.5)")
def test_native_cannot_be_forced_where_there_is_none(fresh, monkeypatch):
    monkeypatch.setenv("TFGRADCOMPAT_ROUTE", "native")
    with pytest.raises(RuntimeError) as error:
        fresh.route()
    assert "1.7" in str(error.value)
