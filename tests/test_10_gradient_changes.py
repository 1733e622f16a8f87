# -*- coding: utf-8 -*-
"""Section 10 of docs/contract.md: functions that change, show or check a gradient."""
from __future__ import absolute_import, division, print_function

import collections
import os
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from harness import VERSION, check, same, variable
from tfgradcompat import (
    check_gradient, clip_gradient_by_norm, clip_gradient_by_value, clip_gradients_by_global_norm, print_gradient,
    reverse_gradient, scale_gradient, straight_through)

CHANGES = collections.OrderedDict([
    ("scale", lambda x: scale_gradient(x, 0.5)),
    ("reverse", lambda x: reverse_gradient(x, 2.)),
    ("value", lambda x: clip_gradient_by_value(x, -1., 3.5)),
    ("norm", lambda x: clip_gradient_by_norm(x, 2.5)),
    ("global norm", lambda x: clip_gradients_by_global_norm(x, 2.5)),
    ("print", lambda x: print_gradient(x, "look:")),
    ("check", lambda x: check_gradient(x, "must be finite")),
])
# What they make of the upstream gradient [3, 4], of norm 5.
CHANGED = {"scale": [1.5, 2.], "reverse": [-6., -8.], "value": [3., 3.5], "norm": [1.5, 2.], "global norm": [1.5, 2.],
           "print": [3., 4.], "check": [3., 4.]}
COMPLEX = [np.complex64, np.complex128]
HAS_BFLOAT16 = VERSION >= (2, 0)  # before, the arithmetic of some dtypes lacks kernels


# -------------------------------------------------------------------------------------------------- 10.1 the way forward
# Dtypes differ in their kernels, not by where they run: function modes, which take their time, see float32 only.
directly = pytest.mark.needs("calls_directly")


def assert_exact(mode, dtype):
    special = np.array([1.1, -0., np.nan, np.inf, -np.inf, 123456789., 1e-7, 3.], np.float64)
    special[5] = 12345. if dtype is np.float16 else special[5]
    x = special.astype(dtype)
    if dtype in COMPLEX:
        x = (x + 1j * x[::-1]).astype(dtype)
    names = [name for name in CHANGES if dtype not in COMPLEX or name != "value"]
    values = mode.run(lambda x: [CHANGES[name](x) for name in names] + [straight_through(tf.negative)(x)], x)
    assert [value.dtype for value in values] == [dtype] * (len(names) + 1)
    for name, value in zip(names, values):
        assert value.tobytes() == x.tobytes(), name
    np.testing.assert_array_equal(values[-1], -x)


@pytest.mark.clause("10.1")
def test_forward_is_exact(mode):
    assert_exact(mode, np.float32)


@pytest.mark.clause("10.1")
@directly
@pytest.mark.parametrize("dtype", [np.float16, np.float64] + COMPLEX)
def test_forward_is_exact_in_other_dtypes(mode, dtype):
    assert_exact(mode, dtype)


@pytest.mark.clause("10.1")
@directly
@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 1)], ids=str)
def test_scalars_and_empty_tensors(mode, shape):
    x = np.ones(shape, np.float32)
    values, gradients = mode.value_and_gradients(lambda x: [f(x) for f in CHANGES.values()] + [straight_through(tf.negative)(x)], x)
    assert [value.shape for value in values] == [shape] * 8
    # upstream 1 each: 0.5 - 2 + 1 + 1 + 1 + 1 + 1, and 1 from the straight-through one
    same(gradients, [np.full(shape, 4.5, np.float32)])


@pytest.mark.clause("10.1")
def test_a_nest_comes_back_as_it_is(mode):
    pair = collections.namedtuple("pair", "left right")

    def f(x, y):
        nest = {"a": x, "b": pair([y, tf.constant([1, 2]), 3], ("text", None, 2.5))}
        out = scale_gradient(nest, 2.)
        assert type(out["b"]) is pair and out["b"].right == ("text", None, 2.5) and out["b"].left[2] == 3
        out = clip_gradients_by_global_norm(out, 5.)
        return 3. * out["a"] + 4. * out["b"].left[0], out["b"].left[1]

    value, gradients = mode.value_and_gradients(f, [1.], [2.])  # clipped [3, 4] stays, then doubled
    np.testing.assert_array_equal(value[1], [1, 2])
    same(gradients, [np.array([6.]), np.array([8.])])


@pytest.mark.clause("10.1")
def test_a_numpy_scalar_beside_tensors(mode):
    check(mode, lambda x: scale_gradient([np.float32(1.), x], 7.)[1], [[1., 2.]], [[7., 7.]])


@pytest.mark.clause("10.1")
def test_each_tensor_of_a_nest_has_its_own_norm(mode):
    f = lambda x, y: sum(clip_gradient_by_norm([x, y], 2.))
    check(mode, lambda x, y: 3. * f(x, y), [1., 2.], [2., 2.])


@pytest.mark.clause("10.1")
def test_values_of_sparse_tensors_and_variables(mode):
    def f(x, v):
        sparse = scale_gradient(tf.SparseTensor([[0], [2]], x, [3]), 2.)
        return sparse.values * scale_gradient(v, 3.)

    check(mode, f, [[1., 2.], variable([5., 7.])], [[10., 14.], [3., 6.]], value=[5., 14.])


# --------------------------------------------------------------------------------------- 10.2 to 10.5: what each makes of dy
@pytest.mark.clause("10.2")
@pytest.mark.clause("10.3")
@pytest.mark.clause("10.4")
@pytest.mark.clause("10.5")
def test_changes(mode):
    assert_changed(mode, np.float32)


@pytest.mark.clause("10.2")
@directly
@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_changes_in_other_real_dtypes(mode, dtype):
    assert_changed(mode, dtype)


def assert_changed(mode, dtype):
    gradients = mode.gradients(lambda *xs: [f(x) for f, x in zip(CHANGES.values(), xs)],
                               *[np.array([1, 2], dtype) for _ in CHANGES], upstream=[[3., 4.] for _ in CHANGES])
    for name, gradient in zip(CHANGES, gradients):
        assert gradient.dtype == dtype
        np.testing.assert_allclose(gradient, CHANGED[name], rtol=2e-3 if dtype is np.float16 else 1e-6, err_msg=name)


@pytest.mark.clause("10.2")
@directly
@pytest.mark.skipif(not HAS_BFLOAT16, reason="TensorFlow 0.12-1.15 lacks kernels for bfloat16 (10.1)")
def test_changes_in_bfloat16(mode):
    def f(*xs):
        return [tf.cast(f(tf.cast(x, tf.bfloat16)), tf.float32) for f, x in zip(CHANGES.values(), xs)]

    values, gradients = mode.value_and_gradients(f, *[[1., 2.] for _ in CHANGES], upstream=[[3., 4.] for _ in CHANGES])
    np.testing.assert_array_equal(values, [[1., 2.]] * len(CHANGES))
    for name, gradient in zip(CHANGES, gradients):
        np.testing.assert_allclose(gradient, CHANGED[name], rtol=1e-2, err_msg=name)


@pytest.mark.clause("10.2")
@pytest.mark.clause("10.4")
@directly
@pytest.mark.parametrize("dtype", COMPLEX)
def test_changes_in_complex_dtypes(mode, dtype):
    fs = [lambda x: scale_gradient(x, 0.5), lambda x: scale_gradient(x, 2j), lambda x: reverse_gradient(x, 3),
          lambda x: clip_gradient_by_norm(x, 2.5), lambda x: clip_gradients_by_global_norm([x], 2.5)[0], CHANGES["check"],
          CHANGES["print"]]
    up = np.array([3 + 4j, 0], dtype)
    gradients = mode.gradients(lambda *xs: [f(x) for f, x in zip(fs, xs)], *[np.array([1 + 1j, 2], dtype) for _ in fs],
                               upstream=[up for _ in fs])
    for factor, gradient in zip([0.5, 2j, -3, 0.5, 0.5, 1, 1], gradients):  # the norm of `up` is 5
        assert gradient.dtype == dtype
        np.testing.assert_allclose(gradient, factor * up, rtol=1e-6)


@pytest.mark.clause("10.2")
def test_a_scale_of_another_dtype_or_shape(mode):
    def f(x, y, z):
        return [scale_gradient(x, tf.constant(3)), scale_gradient(y, np.array([[10.], [100.]])), reverse_gradient(z, tf.constant([7.]))]

    x = np.ones((2, 2), np.float32)
    check(mode, f, [x, x, x], [3. * x, [[10., 10.], [100., 100.]], -7. * x], shapes=["unknown", None, "unknown"])


@pytest.mark.clause("10.2")
@pytest.mark.clause("10.3")
@pytest.mark.parametrize("change", [lambda x, s: scale_gradient(x, s), lambda x, s: clip_gradient_by_value(x, -1., s)],
                         ids=["scale", "bound"])
def test_a_shape_that_does_not_broadcast_is_an_error_when_it_runs(mode, change):
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        mode.gradients(lambda x, s: change(x, s), [1., 2.], [[1., 2.], [3., 4.]], shapes=["unknown", "unknown"], wrt=[0])


@pytest.mark.clause("10.3")
def test_clipping_by_value(mode):
    # one-sided, by tensors of different shapes, and NaN stays NaN
    x = [1., 2., 3.]
    check(mode, lambda x: clip_gradient_by_value(x, 0., np.inf), [x], [[0., 5., np.nan]], upstream=[[-7., 5., np.nan]])
    check(mode, lambda x: clip_gradient_by_value(x, tf.constant(-1.), tf.constant([1., 2., 3.])), [x], [[1., -1., 3.]],
          upstream=[[9., -9., 9.]])


@pytest.mark.clause("10.3")
@directly
def test_a_bound_beyond_the_dtype_is_none(mode):
    [gradient] = mode.gradients(lambda x: clip_gradient_by_value(x, -1e30, 1e30), np.array([1, 2], np.float16), upstream=[[3., 4.]])
    np.testing.assert_array_equal(gradient, [3., 4.])


@pytest.mark.clause("10.4")
def test_clipping_by_norm(mode):
    table = [(1., [3., 4.], [0.6, 0.8]), (5., [3., 4.], [3., 4.]), (7., [3., 4.], [3., 4.]), (1., [0., 0.], [0., 0.]),
             (0., [3., 4.], [0., 0.]), (0., [0., 0.], [0., 0.]), (1., [np.nan, 4.], [np.nan, np.nan]),
             (1., [np.inf, 4.], [np.nan, 0.]), (1, [0., 2.], [0., 1.])]
    norms, upstream, expected = zip(*table)
    check(mode, lambda *xs: [clip_gradient_by_norm(x, norm) for x, norm in zip(xs, norms)], [[1., 2.] for _ in table],
          [np.array(e) for e in expected], upstream=upstream)


@pytest.mark.clause("10.4")
@directly
def test_the_norm_of_float16_is_beyond_its_range(mode):
    [gradient] = mode.gradients(lambda x: clip_gradient_by_norm(x, 5.), np.ones(2, np.float16), upstream=[[300., 400.]])
    np.testing.assert_allclose(gradient, [3., 4.], rtol=2e-3)


@pytest.mark.clause("10.4")
def test_clipping_between_matmuls(mode):
    x = [[1., 2.], [3., 4.]]
    product = lambda x, y: tf.matmul(clip_gradient_by_norm(x, 1.), clip_gradient_by_norm(y, 0.5))
    dx = np.array([[3., 7.], [3., 7.]]) / np.sqrt(116.)
    dy = 0.5 * np.array([[4., 4.], [6., 6.]]) / np.sqrt(104.)
    check(mode, product, [x, x], [dx, dy], value=np.matmul(x, x))


@pytest.mark.clause("10.5")
def test_clipping_by_global_norm(mode):
    table = [(1., [3., 4.], [0.6, 0.8]), (1., [3., 0.], [1., 0.]), (5., [3., 4.], [3., 4.]), (9., [3., 4.], [3., 4.]),
             (1., [0., 0.], [0., 0.]), (0., [3., 4.], [0., 0.]), (1., [np.inf, 1.], [np.nan, np.nan]), (1., [np.nan, 1.], [np.nan, np.nan])]

    def f(*xs):
        return sum([clip_gradients_by_global_norm([x, y], norm) for x, y, (norm, _, _) in zip(xs[::2], xs[1::2], table)], [])

    flat = lambda column: sum([row[column] for row in table], [])
    check(mode, f, [1., 2.] * len(table), flat(2), upstream=flat(1))


@pytest.mark.clause("10.5")
def test_the_global_norm_of_several_shapes_and_dtypes(mode):
    def f(x, y, z):
        x, y, z = clip_gradients_by_global_norm((x, y, z), 1.)
        return 2. * x, y

    gradients = mode.gradients(f, np.ones(2, np.float16), np.float64(1.), [5.])
    assert [g.dtype for g in gradients] == [np.float16, np.float64, np.float32]
    for gradient, expected in zip(gradients, ([2 / 3., 2 / 3.], 1 / 3., [0.])):  # of norm 3, with zeros for z
        np.testing.assert_allclose(gradient, expected, rtol=1e-3)


# ------------------------------------------------------------------------------------------------------------- 10.6 printing
@pytest.mark.clause("10.6")
@pytest.mark.skipif(VERSION <= (1, 4), reason="tf.Print of TensorFlow 0.12-1.4 goes to its log, which is off here: see the next test (10.6)")
def test_printed_once_to_stderr_when_the_gradient_is_computed(mode, capfd):
    def f(x, z):
        x, z = print_gradient([x, z], "look here:")
        return x * x + 0. * z

    capfd.readouterr()
    mode.run(f, [1., 2.], [3., 4.])
    assert "look here:" not in capfd.readouterr().err
    same(mode.gradients(f, [1., 2.], [3., 4.]), [np.array([2., 4.]), np.zeros(2)])
    out, err = capfd.readouterr()
    assert err.count("look here:") == 1 and "look here:" not in out
    [line] = [line for line in err.splitlines() if "look here:" in line]
    assert "[2 4]" in line and "[0 0]" in line


@pytest.mark.clause("10.6")
@pytest.mark.skipif(VERSION > (1, 4), reason="the test before is that of TensorFlow 1.5 and newer (10.6)")
def test_printed_to_the_log_of_old_releases():
    code = ("import tensorflow as tf; from tfgradcompat import print_gradient; x = tf.constant([1., 2.]);"
            "g = tf.gradients(print_gradient(x, 'look here:') * 3., x); s = tf.Session(); s.run(x); s.run(g)")
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="0")
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, env=env)
    err = process.communicate()[1].decode("utf-8", "replace")
    assert process.returncode == 0 and err.count("look here: [3 3]") == 1, err


@pytest.mark.clause("10.6")
@pytest.mark.skipif(VERSION <= (1, 4), reason="tf.Print of TensorFlow 0.12-1.4 goes to its log, which is off here (10.6)")
def test_printing_says_how_much(mode, capfd):
    mode.gradients(lambda x: print_gradient(x, summarize=-1), np.arange(5, dtype=np.float32), upstream=[[5., 6., 7., 8., 9.]])
    assert "[5 6 7 8 9]" in capfd.readouterr().err


# ------------------------------------------------------------------------------------------------------------- 10.7 checking
@pytest.mark.clause("10.7")
@pytest.mark.parametrize("bad, dtype", [(np.nan, np.float32), (np.inf, np.float16), (-np.inf, np.complex64)])
def test_a_gradient_that_is_not_finite_is_an_error(mode, bad, dtype):
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        mode.gradients(CHANGES["check"], np.array([1., 2.], dtype), upstream=[[3., bad]])
    assert "must be finite" in str(error.value)


# ------------------------------------------------------------------------------------------------------- 10.10 where they run
def everything(x):
    """Gradient 5 times that of what comes behind it, for small ones."""
    x = clip_gradient_by_value(clip_gradient_by_norm(scale_gradient(x, 5.), 1e6), -1e6, 1e6)
    return straight_through(tf.identity)(check_gradient(clip_gradients_by_global_norm([x], 1e6)[0]))


@pytest.mark.clause("10.10")
@pytest.mark.needs("control_flow")
def test_in_control_flow(mode):
    def loops(x, y):
        return [tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, 2. * everything(x)), [tf.constant(0), x])[1],
                tf.map_fn(lambda y: y * everything(y), y)]

    x = [1., 2.]
    check(mode, lambda x: tf.cond(tf.reduce_sum(x) > 0., lambda: everything(x), lambda: x), [x], [[5., 5.]], value=x)
    check(mode, loops, [x, x], [[100., 100.], [6., 12.]], value=[[4., 8.], [1., 4.]])


@pytest.mark.clause("10.10")
def test_unknown_shapes_and_slices_from_downstream(mode):
    check(mode, everything, [[[1., 2.]]], [[[5., 5.]]], value=[[1., 2.]], shapes=["unknown"])
    check(mode, everything, [[[1., 2.]]], [[[5., 5.]]], value=[[1., 2.]], shapes=[(None, 2)])
    gathered = lambda x: tf.gather(clip_gradient_by_norm(scale_gradient(x, 3.), 1.), [1, 1])
    check(mode, gathered, [[1., 2., 4.]], [[0., 3., 0.]], value=[2., 2.])


@pytest.mark.clause("10.10")
@pytest.mark.needs("higher_order")
def test_second_derivatives(mode):
    fs = [lambda x: scale_gradient(x, 3.), lambda x: clip_gradient_by_norm(x, 1.), lambda x: clip_gradient_by_norm(x, 1.),
          lambda x: clip_gradient_by_value(x, -1., 1.)]
    second = mode.higher(lambda *xs: sum(f(x)**2 for f, x in zip(fs, xs)), 2, [1., 2.], [3., 4.], [0., 0.], [0.1, 4.])[1]
    # With d = x / |x| and dx = 2x / |2x|: the sum of dx has the gradient (1 - d (1, 1) d) / |x|. At 0: that of 2x, clipped.
    same(second, [np.array(e) for e in ([18., 18.], [0.032, -0.024], [np.sqrt(0.5)] * 2, [1., 0.])], rtol=1e-5)


# ------------------------------------------------------------------------------------------------- 10.12 read when it runs
@pytest.mark.clause("10.12")
@pytest.mark.needs("unconnected_variables")
def test_variables_are_read_each_time(mode, kind):
    def f(x, v):
        return tf.stack([3. * scale_gradient(x[0], v), 3. * reverse_gradient(x[1], v), 3. * clip_gradient_by_norm(x[2], v),
                         3. * clip_gradient_by_value(x[3], -1., v), 3. * clip_gradients_by_global_norm([x[4]], v)[0]])

    with mode.repeated(f, np.ones(5, np.float32), variable(2., kind)) as (step, _, assign):
        np.testing.assert_allclose(step(), [6., -6., 2., 2., 2.])
        assign(0, 5.)
        np.testing.assert_allclose(step(), [15., -15., 3., 3., 3.])


@pytest.mark.clause("10.12")
@pytest.mark.needs("unconnected_variables")
def test_what_a_change_is_made_with_gets_no_gradient(mode):
    def f(x, v, t):
        return scale_gradient(clip_gradient_by_value(x, t - 9., v), v)

    check(mode, f, [1., variable(2.), 3.], [2., None, None])
