# -*- coding: utf-8 -*-
"""Section 8 of docs/contract.md: what lives, and for how long."""
from __future__ import absolute_import, division, print_function

import collections
import gc
import importlib
import sys
import weakref

import numpy as np
import pytest
import tensorflow as tf

from harness import HAS_FUNCTION, VERSION, compiled_function, gradients_of, new_session, v1
from hasty_threads import built, in_threads
from tensorflow.python.framework import ops
from tfgradcompat import custom_grad

GRAPHS = 10
KEEPS_FUNCTIONS = (1, 13) <= VERSION < (1, 15)  # registers a gradient for each, which holds the function


def capturing(factor):
    """A function whose gradient takes a tensor from the forward pass: natively that keeps the graph for ever."""
    @custom_grad
    def f(x):
        y = x * 2.
        return y, lambda dy: factor * dy * y
    return f


@custom_grad
def ten(x):
    return x * 2., lambda dy: 10. * dy


def registered():
    """The names in TensorFlow's registry but those that 1.14 enters for each of its functions."""
    return set(name for name in ops._gradient_registry._registry if "PartitionedCall" not in name)


# ------------------------------------------------------------------------------------------------------- 8.1, 8.2 graphs
@pytest.mark.clause("8.1")
@pytest.mark.clause("8.2")
@pytest.mark.needs("in_graph")
def test_graphs_are_freed_and_the_registry_does_not_grow(mode):
    def build():
        with tf.Graph().as_default() as graph:
            x = v1.placeholder(tf.float32, [])
            dx = gradients_of(capturing(3.)(ten(x)), [x])[0]
            inner = gradients_of(tf.cond(x > 0., lambda: capturing(5.)(x), lambda: x), [x])[0]
            with new_session(graph) as session:
                got = [float(v) for v in session.run([dx, inner], {x: 1.})]
            assert got == [3. * 4. * 10., 5. * 2.]
            return weakref.ref(graph)

    build()
    gc.collect()
    before = registered()
    graphs = [build() for _ in range(GRAPHS)]
    gc.collect()
    assert [graph for graph in graphs if graph() is not None] == []
    assert registered() - before == set()


@pytest.mark.clause("8.1")
@pytest.mark.clause("8.2")
@pytest.mark.needs("uses_tape")
@pytest.mark.skipif(not HAS_FUNCTION, reason="tf.function came with TensorFlow 1.14 (8.1)")
def test_functions_are_freed_and_the_registry_does_not_grow(mode):
    found = []

    def build():
        f, g = capturing(3.), capturing(5.)

        def program(x):
            if not isinstance(x, ops.EagerTensor):
                found.append(weakref.ref(v1.get_default_graph()))
            return f(ten(x)) + tf.cond(x > 0., lambda: g(x), lambda: x)

        assert mode.gradients(program, 1.) == [3. * 4. * 10. + 5. * 2.]

    build()
    gc.collect()
    before = registered()
    del found[:]
    for _ in range(GRAPHS // 2):
        build()
    gc.collect()
    if mode.tape_inside or not KEEPS_FUNCTIONS:
        assert [graph for graph in found if graph() is not None] == []
    assert registered() - before == set()


@pytest.mark.clause("8.1")
@pytest.mark.clause("8.2")
@pytest.mark.needs("in_function", "uses_tape")
@pytest.mark.skipif(not HAS_FUNCTION, reason="tf.function, which is traced again for other shapes, came with TensorFlow 1.14 (8.1)")
def test_decorators_in_a_function_that_is_traced_again_and_again(mode):
    found = []

    def program(x):
        if not isinstance(x, ops.EagerTensor):
            found.append(weakref.ref(v1.get_default_graph()))
        return tf.reduce_sum(capturing(3.)(capturing(5.)(x)))

    def gradient(x, f=program):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    traced = compiled_function(gradient if mode.tape_inside else program, False)
    run = lambda size: traced(tf.ones([size])) if mode.tape_inside else gradient(tf.ones([size]), traced)

    # 3 * 4 for the outer, 5 * 2 for the inner: 3 * (2 * 2) * 5 * 2.
    np.testing.assert_allclose(run(1), [120.])
    before = registered()
    for size in range(2, 7):
        np.testing.assert_allclose(run(size), [120.] * size)
    assert len(found) >= 6
    traced = None
    gc.collect()
    if mode.tape_inside or not KEEPS_FUNCTIONS:
        assert [graph for graph in found if graph() is not None] == []
        assert registered() - before == set()


@pytest.mark.clause("8.1")
def test_nothing_of_the_package_outlives_its_graph(mode):
    """What would make memory grow slowly: objects that no graph holds."""
    if KEEPS_FUNCTIONS and mode.in_function and not mode.tape_inside:
        pytest.skip("TensorFlow 1.13 and 1.14 keep every function that was differentiated, natively too (8.1)")
    ours = lambda o: str(getattr(type(o), "__module__", "")).startswith("tfgradcompat.")
    kept = lambda: collections.Counter(type(o).__name__ for o in gc.get_objects() if ours(o))

    def build():
        mode.gradients(lambda x: capturing(3.)(ten(x)), 1.)

    build()
    gc.collect()
    before = kept()
    for _ in range(3):
        build()
    gc.collect()
    assert kept() - before == {}  # what is left from other tests may go meanwhile


@pytest.mark.clause("8.2")
@pytest.mark.needs("calls_directly", "uses_tape")
def test_eager_calls_register_nothing(mode):
    before = registered()
    for i in range(5):
        assert mode.gradients(capturing(3.), 1.) == [6.]
    assert registered() - before == set()


# -------------------------------------------------------------------------------------------------------------- 8.3 names
@pytest.mark.clause("8.3")
def test_a_module_that_is_reloaded(mode, tmpdir, monkeypatch):
    path = tmpdir.join("reloaded_%s.py" % mode.name)
    source = "from tfgradcompat import custom_grad\n@custom_grad\ndef f(x):\n    return x * 2., lambda dy: %d. * dy\n"
    monkeypatch.syspath_prepend(str(tmpdir))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path.write(source % 3)
    module = importlib.import_module("reloaded_%s" % mode.name)
    old = module.f
    assert mode.gradients(old, 1.) == [3.]
    path.write(source % 40)
    del sys.modules[module.__name__]
    new = importlib.import_module(module.__name__).f
    assert mode.gradients(lambda x: old(new(x)) + 100. * new(x), 1.) == [3. * 40. + 4000.]
    assert mode.gradients(new, 1.) == [40.] and mode.gradients(old, 1.) == [3.]


@pytest.mark.clause("8.3")
def test_functions_of_one_name(mode):
    fs = []
    for factor in range(2, 6):
        @custom_grad
        def f(x, factor=float(factor)):
            return x * 1., lambda dy: factor * dy
        fs.append(f)

    def chain(x):
        for f in fs:
            x = f(x)
        return x

    assert mode.gradients(chain, 1.) == [2. * 3. * 4. * 5.]


# ------------------------------------------------------------------------------------------------------------ 8.5 threads
@pytest.mark.clause("8.5")
@pytest.mark.needs("in_graph")
def test_threads_that_build_one_graph_find_their_functions_again(mode):
    """The gradients of section 2's threads, where each thread has a function of its own and they call each other's."""
    fs = [capturing(float(i + 2)) for i in range(4)]
    with tf.Graph().as_default() as graph:
        x = tf.constant(1.)

        def work(i, k):
            def make():
                with tf.name_scope("t%d_%d/" % (i, k)):
                    return fs[(i + k) % 4](x)
            return built(graph, make)

        outputs = in_threads(work, 4, 10)
        keys = sorted(outputs)
        gradients = [gradients_of(outputs[key], [x])[0] for key in keys]
        with new_session(graph) as session:
            got = session.run(gradients)
    np.testing.assert_allclose(got, [2. * ((i + k) % 4 + 2) for i, k in keys])


@pytest.mark.clause("8.5")
@pytest.mark.needs("in_graph")
def test_eight_hasty_threads_build_one_graph(mode):
    """The small twin of ci/threads.py: natively some of these gradients are those of other calls."""
    threads, calls = 8, 15
    factor = lambda t, c: 1. + t * calls + c
    with tf.Graph().as_default() as graph:
        xs = dict(((t, c), tf.constant(1.)) for t in range(threads) for c in range(calls))
        ys = in_threads(lambda t, c: built(graph, lambda: capturing(factor(t, c))(xs[t, c])), threads, calls)
        keys = sorted(xs)
        gradients = gradients_of([ys[key] for key in keys], [xs[key] for key in keys])
        with new_session(graph) as session:
            got = session.run(gradients)
    np.testing.assert_allclose(got, [2. * factor(t, c) for t, c in keys])
