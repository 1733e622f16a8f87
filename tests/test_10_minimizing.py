# -*- coding: utf-8 -*-
"""Section 10 of docs/contract.md: computing, changing and applying gradients."""
from __future__ import absolute_import, division, print_function

import numpy as np
import pytest
import tensorflow as tf

from harness import (
    IndexedSlices, KERAS_3, MODES, VERSION, as_numpy, check, compiled_function, new_session, right_or_error, same, v1, variable)
from tfgradcompat import minimize, transforms, value_and_gradients

NAN = float("nan")
takes_steps = pytest.mark.needs("takes_steps")


def optimizers():
    """Each takes steps with momentum 0.9, unless its name says something else."""
    made = {"train": lambda: v1.train.MomentumOptimizer(0.1, 0.9)}
    if VERSION >= (1, 14):
        made["keras"] = lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9)
    if (2, 11) <= VERSION < (2, 16):
        made["legacy keras"] = lambda: tf.keras.optimizers.legacy.SGD(0.1, momentum=0.9)
    if VERSION >= (2, 4):
        made["loss scale"] = lambda: tf.keras.mixed_precision.LossScaleOptimizer(made["keras"]())
    if KERAS_3:
        made["loss scale factor"] = lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9, loss_scale_factor=8.)
    return made


OPTIMIZERS = optimizers()


def value_of(v):
    return tf.convert_to_tensor(v)


def steps(mode, optimizer, loss, variables, feeds, **options):
    """The values of all variables after each step; `loss(fed, *variables)` is the loss."""
    found = []
    if mode.in_graph:
        with tf.Graph().as_default() as graph:
            made = [v.make(mode) for v in variables]
            fed = v1.placeholder(tf.float32, [])
            step = minimize(optimizer(), loss(fed, *made), made, **options)
            assert isinstance(step, tf.Operation)
            values = [value_of(v) for v in made]
            with new_session(graph) as session:
                session.run(v1.global_variables_initializer())
                for feed in feeds:
                    session.run(step, {fed: feed})
                    found.append(session.run(values))
        return found
    made, one = [v.make(mode) for v in variables], optimizer()
    step = lambda fed: minimize(one, lambda: loss(fed, *made), made, **options)
    if mode.in_function:
        step = compiled_function(step, mode.autograph)
    for feed in feeds:
        before = loss(tf.constant(feed), *made)
        np.testing.assert_allclose(as_numpy(step(tf.constant(feed))), as_numpy(before))
        found.append([as_numpy(value_of(v)) for v in made])
    return found


def can(mode, name, kind, **options):
    """Whether TensorFlow can: optimizers with slots inside functions, Keras and tf.cond with reference variables."""
    if kind == "ref":
        return name == "train" and ("skip" not in options or VERSION < (2, 0))
    return not mode.in_function or VERSION >= (1, 13)


def squared(fed, w):
    return fed * value_of(w)**2.


# ------------------------------------------------------------------------------------------------------------ 10.14 minimize
@pytest.mark.clause("10.14")
@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
@takes_steps
def test_steps(mode, kind, name):
    def call():
        found = steps(mode, OPTIMIZERS[name], squared, [variable(1., kind, name="w")], [1., 1., 1.])
        np.testing.assert_allclose(np.ravel(found), [0.8, 0.46, 0.062], rtol=1e-5)  # v = 0.9 v + 2 w; w -= 0.1 v

    right_or_error(can(mode, name, kind), call)


@pytest.mark.clause("10.14")
@pytest.mark.clause("10.17")
@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
@takes_steps
def test_changed_and_skipped_steps(mode, kind, name):
    def call():
        change = [transforms.clip_by_value(-0.5, 0.5), transforms.skip_on_nan()]
        found = steps(mode, OPTIMIZERS[name], squared, [variable(1., kind, name="w")], [1., NAN, 1.], transform=change)
        np.testing.assert_allclose(np.ravel(found), [0.95, 0.95, 0.855], rtol=1e-6)  # v = 0.5, none, 0.95

    right_or_error(can(mode, name, kind, skip=True), call)


@pytest.mark.clause("10.14")
@takes_steps
def test_without_momentum_and_with_an_own_transform(mode):
    def double(pairs):
        return [(2. * g, v) for g, v in pairs]

    sgd = lambda: v1.train.GradientDescentOptimizer(0.1)
    loss = lambda fed, w, u: squared(fed, w) + tf.reduce_sum(3. * value_of(u))
    found = steps(mode, sgd, loss, [variable(1., name="w"), variable([1., 2.], name="u")], [2.], transform=double)
    same(found[0], [np.float32(0.2), np.array([0.4, 1.4])])
    [found] = steps(mode, sgd, loss, [variable(1., name="w"), variable([1., 2.], name="u")], [2.], transform=lambda pairs: pairs[1:])
    same(found, [np.float32(1.), np.array([0.7, 1.7])])


@pytest.mark.clause("10.14")
def test_a_function_is_as_good_as_a_tensor_in_a_graph():
    if "graph" not in [mode.name for mode in MODES]:
        pytest.skip("TensorFlow 1.5-1.8 has no graphs under eager execution (10.14)")
    with tf.Graph().as_default() as graph:
        w = v1.get_variable("w", initializer=1.)
        step = minimize(v1.train.GradientDescentOptimizer(0.1), lambda: 3. * w, w)
        with new_session(graph) as session:
            session.run(v1.global_variables_initializer())
            session.run(step)
            assert abs(session.run(value_of(w)) - 0.7) < 1e-6


# ------------------------------------------------------------------------------------------------- 10.18 missing gradients
@pytest.mark.clause("10.18")
@takes_steps
def test_a_gradient_of_none_is_an_error_that_names_the_variable(mode):
    if not mode.unconnected_variables:
        pytest.skip("functions of TensorFlow 1.8-1.10 with the tape inside fail on a variable without a gradient (10.18)")
    sgd = lambda: v1.train.GradientDescentOptimizer(0.1)
    loss = lambda fed, w, lonely: squared(fed, w)
    both = [variable(1., name="w"), variable(1., name="lonely")]
    with pytest.raises(ValueError) as error:
        steps(mode, sgd, loss, both, [1.])
    assert "lonely" in str(error.value) and "'w" not in str(error.value)
    [found] = steps(mode, sgd, loss, both, [1.], allow_unconnected=True)
    same(found, [np.float32(0.8), np.float32(1.)])
    with pytest.raises(ValueError) as error:
        steps(mode, sgd, lambda fed, w, lonely: fed * 1., both, [1.], allow_unconnected=True)
    assert "'w" in str(error.value) and "lonely" in str(error.value)


@pytest.mark.clause("10.18")
@takes_steps
def test_value_and_gradients_says_what_is_missing(mode):
    def found(**options):
        return mode.execute(lambda x, y: value_and_gradients(lambda x, y: x * x, [x, y], **options), 3., 4.)

    with pytest.raises(ValueError) as error:
        found()
    assert "leaf 1 of xs" in str(error.value) and "leaf 0" not in str(error.value)
    same(found(allow_unconnected=True)[1], [6., None])


# ------------------------------------------------------------------------------------------------ 10.13 value and gradients
@pytest.mark.clause("10.13")
@takes_steps
def test_forms_of_xs(mode):
    def program(x, y):
        product = lambda x, y: x * y
        nest = lambda d: d["a"] * d["b"][0]
        return [value_and_gradients(product, [x, y]), value_and_gradients(product, (x, y)), value_and_gradients(lambda x: x * x, x),
                value_and_gradients(nest, {"a": x, "b": (y,)}), value_and_gradients(lambda: x * y * y, [y, x]),
                value_and_gradients(lambda x: x * 5., np.float32(2.) * np.ones(2, np.float32))]

    a, b, c, d, e, f = mode.execute(program, 3., 4.)
    assert a == (12., [4., 3.]) and b == (12., (4., 3.)) and c == (9., 6.) and d == (12., {"a": 4., "b": (3.,)})
    assert e == (48., [24., 16.])
    same(f[1:] + f[:1], [np.array([5., 5.]), np.array([10., 10.])])


@pytest.mark.clause("10.13")
@takes_steps
def test_variables_as_xs(mode, kind):
    program = lambda w, x: value_and_gradients(lambda w: value_of(w) * x, [w])
    value, [gradient] = mode.execute(program, variable(3., kind), 5.)
    assert (value, gradient) == (15., 5.)


@pytest.mark.clause("10.13")
@takes_steps
def test_differentiated_again(mode):
    def f(x):
        _, gradient = value_and_gradients(lambda x: x * x * x, x)
        return gradient

    check(mode, f, [2.], [12.], value=12.)


# ------------------------------------------------------------------------------------------------------------ 10.15 transforms
def changed(mode, transform, *gradients):
    """The gradients that a transform makes of these; IndexedSlices are given as (values, indices, rows)."""
    def program():
        given = []
        for gradient in gradients:
            if isinstance(gradient, tuple):
                values, indices, rows = gradient
                gradient = IndexedSlices(tf.constant(values), tf.constant(indices), tf.constant([rows] + list(np.shape(values)[1:])))
            elif gradient is not None:
                gradient = tf.constant(gradient)
            given.append(gradient)
        pairs = transform([(g, "variable %d" % i) for i, g in enumerate(given)])
        assert [v for _, v in pairs] == ["variable %d" % i for i in range(len(gradients))]
        found = []
        for gradient, _ in pairs:
            is_sparse = isinstance(gradient, IndexedSlices)
            found.append((tf.convert_to_tensor(gradient), tf.shape(gradient.indices)[0]) if is_sparse else gradient)
        return found

    return mode.execute(program)


DENSE = [np.float32([3., -4.]), np.float32(12.), None]
SLICES = (np.float32([[3., 0.], [1., 2.], [5., -2.]]), [2, 0, 2], 4)  # together [[1, 2], [0, 0], [8, -2], [0, 0]]


@pytest.mark.clause("10.15")
@pytest.mark.parametrize("make, expected", [
    (lambda: transforms.clip_by_value(-1., 5.), [[3., -1.], 5.]),
    (lambda: transforms.clip_by_norm(2.5), [[1.5, -2.], 2.5]),
    (lambda: transforms.clip_by_global_norm(6.5), [[1.5, -2.], 6.]),
    (lambda: transforms.clip_by_global_norm(20), [[3., -4.], 12.]),
    (lambda: transforms.scale(0.5), [[1.5, -2.], 6.]),
    (lambda: transforms.scale(tf.constant(2)), [[6., -8.], 24.]),
    (lambda: transforms.skip_on_nan(), [[3., -4.], 12.]),
    (lambda: transforms.chain(), [[3., -4.], 12.]),
    (lambda: transforms.chain(transforms.scale(10.), transforms.skip_on_nan(), transforms.clip_by_value(-35., 99.)), [[30., -35.], 99.]),
], ids=["by value", "by norm", "by global norm", "short", "scale", "scale by a tensor", "finite", "nothing", "chain"])
@takes_steps
def test_transforms(mode, make, expected):
    same(changed(mode, lambda pairs: make()(pairs), *DENSE), [np.array(e) for e in expected] + [None])


@pytest.mark.clause("10.15")
@takes_steps
def test_noise(mode):
    noise = transforms.add_noise(0.5, seed=3)
    one, other, sparse = changed(mode, noise, np.ones(5000, np.float32), np.ones(5000, np.float32), SLICES)
    for found in (one, other):
        assert abs(found.mean() - 1.) < 0.05 and abs(found.std() - 0.5) < 0.05
    assert not np.allclose(one, other)
    assert sparse.shape == (4, 2) and len(np.unique(sparse)) == 8  # dense: every row got its noise
    with pytest.raises(TypeError):
        changed(mode, noise, np.complex64([1j]))


@pytest.mark.clause("10.15")
@takes_steps
def test_numbers_of_transforms_are_read_each_time(mode):
    if mode.in_function and not mode.unconnected_variables:
        pytest.skip("functions of TensorFlow 1.8-1.10 with the tape inside fail on a variable without a gradient (10.15)")

    def loss(fed, w):
        return 100. * fed * value_of(w)

    if mode.in_graph:
        with tf.Graph().as_default() as graph:
            w, norm = variable(0., name="w").make(mode), variable(1., name="norm", trainable=False).make(mode)
            step = minimize(v1.train.GradientDescentOptimizer(1.), 100. * value_of(w), [w], transforms.clip_by_norm(norm))
            more = v1.assign(norm, 2.)
            with new_session(graph) as session:
                session.run(v1.global_variables_initializer())
                for op in (step, more.op, step):
                    session.run(op)
                assert session.run(value_of(w)) == -3.
        return
    w, norm = variable(0., name="w").make(mode), variable(1., name="norm", trainable=False).make(mode)
    sgd = v1.train.GradientDescentOptimizer(1.)
    step = lambda: minimize(sgd, lambda: 100. * value_of(w), [w], transforms.clip_by_norm(norm))
    step = compiled_function(step, mode.autograph) if mode.in_function else step
    step()
    norm.assign(2.)
    step()
    assert as_numpy(value_of(w)) == -3.


# ---------------------------------------------------------------------------------------------------------------- 10.16 sparse
@pytest.mark.clause("10.16")
@pytest.mark.parametrize("make, factor, rows", [
    (lambda: transforms.scale(3.), 3., 3),
    (lambda: transforms.clip_by_norm(np.sqrt(73.) / 2), 0.5, 2),  # 1 + 4 + 64 + 4 are 73
    (lambda: transforms.clip_by_global_norm(np.sqrt(73.) / 4), 0.25, 2),
    (lambda: transforms.skip_on_nan(), 1., 3),
], ids=["scale", "norm", "global norm", "skip"])
@takes_steps
def test_slices_stay_sparse(mode, make, factor, rows):
    [(dense, count)] = changed(mode, lambda pairs: make()(pairs), SLICES)
    np.testing.assert_allclose(dense, factor * np.array([[1., 2.], [0., 0.], [8., -2.], [0., 0.]]), rtol=1e-6)
    assert count == rows


@pytest.mark.clause("10.16")
@takes_steps
def test_slices_clipped_by_value(mode):
    [(dense, count)] = changed(mode, lambda pairs: transforms.clip_by_value(-1., 6.)(pairs), SLICES)
    np.testing.assert_array_equal(dense, [[1., 2.], [0., 0.], [6., -1.], [0., 0.]])  # of the sum 8, not of 3 and 5
    assert count == 2
    [dense] = changed(mode, lambda pairs: transforms.clip_by_value(0.5, 6.)(pairs), SLICES)
    np.testing.assert_array_equal(dense, [[1., 2.], [.5, .5], [6., .5], [.5, .5]])


@pytest.mark.clause("10.16")
@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
@takes_steps
def test_embeddings_are_updated(mode, name):
    def call():
        loss = lambda fed, table: tf.reduce_sum(fed * tf.gather(table if not KERAS_3 else value_of(table), [1, 1]))
        kind = "resource" if "resource" in mode.variable_kinds else "ref"
        found = steps(mode, OPTIMIZERS[name], loss, [variable([[1.], [2.], [3.]], kind, name="table")], [5., 0.],
                      transform=transforms.clip_by_norm(4.))
        np.testing.assert_allclose(found[0][0], [[1.], [1.6], [3.]], rtol=1e-6)  # two gradients of 5 make 10

    right_or_error(can(mode, name, None), call)


# ------------------------------------------------------------------------------------------------------------------ 10.17 skip
@pytest.mark.clause("10.17")
@pytest.mark.parametrize("bad", [NAN, np.inf])
@takes_steps
def test_zeros_where_a_step_would_be_skipped(mode, bad):
    dense, (sparse, _), missing = changed(mode, transforms.skip_on_nan(), np.float32([1., bad]), SLICES, None)
    np.testing.assert_array_equal(dense, [0., 0.])
    np.testing.assert_array_equal(sparse, np.zeros((4, 2)))
    assert missing is None
