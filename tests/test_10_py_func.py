# -*- coding: utf-8 -*-
"""Section 10 of docs/contract.md, clauses 10.20 to 10.23: py_func."""
from __future__ import absolute_import, division, print_function

import gc
import re
import weakref

import numpy as np
import pytest
import tensorflow as tf

import harness
from harness import VERSION, check, gradients_of, new_session, right_or_error, same, v1, variable
from tfgradcompat import custom_grad, py_func

BFLOAT16 = VERSION >= (1, 15)


def triple(x, **options):
    """3 x in numpy, with a gradient of seven."""
    return py_func(lambda a: a * 3, [x], x.dtype.base_dtype, grad=lambda op, dy: 7. * dy, shape=x.get_shape(), **options)


def run_error(mode, program, *arrays):
    """The text of the error that running `program` is, and its type."""
    with pytest.raises(Exception) as raised:
        mode.run(program, *arrays)
    return str(raised.value), raised.value


# ------------------------------------------------------------------------------------------- 10.20 values, shapes and dtypes
@pytest.mark.clause("10.20")
def test_static_shape_and_dtype_are_the_callers(mode):
    seen = []

    def program(x):
        y = py_func(np.square, [x], tf.float32, shape=[None, 2])
        several = py_func(lambda a: [a, 1, "a"], [x], [tf.float64, tf.int64, tf.string], shape=[[2, 2], [], None])
        seen.append([(t.dtype, t.get_shape().as_list() if t.get_shape().ndims is not None else None) for t in [y] + several])
        return y, several

    y, several = mode.run(program, [[1., 2.], [3., 4.]])
    if mode.name != "eager":
        assert seen[0] == [(tf.float32, [None, 2]), (tf.float64, [2, 2]), (tf.int64, []), (tf.string, None)]
    np.testing.assert_allclose(y, [[1., 4.], [9., 16.]])
    assert several[0].dtype == np.float64 and several[1] == 1 and several[2] == b"a"


@pytest.mark.clause("10.20")
@pytest.mark.parametrize("returned, dtype, value", [
    (np.float64(1.5), "float32", 1.5),
    (np.float32(1.5), "float64", 1.5),
    (2.5, "float32", 2.5),
    (3, "float32", 3.),
    ([1, 2], "float64", [1., 2.]),
    (np.array([1, 2]), "int32", [1, 2]),
    (1.5, "complex64", 1.5 + 0j),
    ([np.float32(4.)], "float32", 4.),
    (np.zeros([0, 3]), "float32", np.zeros([0, 3])),
    (u"\xe4", "string", b"\xc3\xa4"),
    ([b"a\x00", b"long"], "string", np.array([b"a\x00", b"long"], dtype=object)),
], ids=repr)
def test_results_are_cast_within_their_kind(mode, returned, dtype, value):
    got = mode.run(lambda x: py_func(lambda a: returned, [x], getattr(tf, dtype)), 1.)
    np.testing.assert_array_equal(got, value)
    assert dtype == "string" or got.dtype == dtype


@pytest.mark.clause("10.20")
def test_arguments_arrive_alike_in_every_mode(mode):
    seen = []

    def look(*args):
        seen.append([(type(a).__name__, getattr(a, "shape", None)) for a in args])
        return np.float32(0)

    mode.run(lambda x, y: py_func(look, [x, y, b"ab", [b"a", b"bcd"], np.zeros([2, 0], np.int32), 5], tf.float32), 1., [1.])
    assert seen == [[("float32", ()), ("ndarray", (1,)), ("bytes" if not harness.PY2 else "str", None), ("ndarray", (2,)),
                     ("ndarray", (2, 0)), ("int32", ())]]


@pytest.mark.clause("10.20")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"] + ["bfloat16"] * BFLOAT16)
def test_every_floating_dtype(mode, dtype):
    dtype = getattr(tf, dtype)

    def program(x):
        y = triple(tf.cast(x, dtype))
        return tf.cast(v1.real(y) if dtype.is_complex else y, tf.float32)

    check(mode, program, [[1., -2.]], [[7., 7.]], value=[3., -6.])


@pytest.mark.clause("10.20")
def test_unknown_shapes_scalars_and_empty_tensors(mode):
    check(mode, triple, [[1., 2.]], [[7., 7.]], value=[3., 6.], shapes=["unknown"])
    check(mode, triple, [2.], [7.], value=6.)
    check(mode, triple, [np.zeros([0, 2], np.float32)], [np.zeros([0, 2])], value=np.zeros([0, 2]))


@pytest.mark.clause("10.20")
def test_variables_are_inputs(mode):
    check(mode, lambda x, w: py_func(lambda a, b: a * b, [x, w], tf.float32, grad=lambda op, dy: [5. * dy, 6. * dy]),
          [2., variable(3.)], [5., 6.], value=6.)


@pytest.mark.clause("10.20")
@pytest.mark.needs("control_flow")
def test_inside_control_flow(mode):
    calls = []

    def numpy_triple(a):
        calls.append(a)
        return a * 3

    def step(v):
        return py_func(numpy_triple, [v], tf.float32, grad=lambda op, dy: op.outputs[0] * dy, shape=[])

    check(mode, lambda x: tf.while_loop(lambda i, v: i < 2, lambda i, v: [i + 1, step(v)], [tf.constant(0), x])[1], [1.],
          [27.], value=9.)
    check(mode, lambda x: tf.cond(x > 0., lambda: step(x), lambda: x), [2.], [6.], value=6.)
    assert len(calls) == 3  # the code runs once for each call, also where TensorFlow copies a loop


@pytest.mark.clause("10.20")
def test_stateless(mode):
    check(mode, lambda x: triple(x, stateful=False, name="named"), [1.], [7.], value=3.)


# ----------------------------------------------------------------------------------------------------------- 10.21 gradients
@pytest.mark.clause("10.21")
def test_the_well_known_recipe(mode):
    check(mode, lambda x: py_func(np.square, [x], tf.float32, grad=lambda op, dy: 2. * op.inputs[0] * dy, shape=[3]),
          [[1., 2., 3.]], [[2., 4., 6.]], value=[1., 4., 9.])


@pytest.mark.clause("10.21")
@pytest.mark.needs("boolean_outputs")
@pytest.mark.parametrize("way", ["grad", "grad_py"])
def test_several_inputs_and_outputs_of_all_kinds(mode, way):
    seen = []

    def grad(op, *dys):
        seen.append([dy is None for dy in dys])
        return [op.outputs[0] * dys[0] * 10., None, 4. * dys[2], None]

    def grad_py(inputs, outputs, dys):
        seen.append([dy is None for dy in dys])
        return [outputs[0] * dys[0] * 10., None, 4. * dys[2], None]

    def program(x, i, y):
        made = py_func(lambda x, i, y, s: [x * i, i + 1, y + 1., s + b"!"], [x, i, y, b"text"],
                       [tf.float32, tf.int32, tf.float32, tf.string], shape=[[2], [], [], []], **{way: locals_[way]})
        return made[:3]

    locals_ = {"grad": grad, "grad_py": grad_py}
    right_or_error(VERSION >= (1, 14) or not mode.in_function, lambda: check(
        mode, program, [[1., 2.], 3, 5.], [[30., 60.], None, 4.], value=[[3., 6.], 4, 6.], upstream=[[1., 1.], 1.]))
    assert all(row == [False, True, False, True] for row in seen)


@pytest.mark.clause("10.21")
def test_zeros_for_a_result_that_the_loss_does_not_use(mode):
    def program(x):
        return py_func(lambda a: [a, a], [x], [tf.float32] * 2, grad_py=lambda inputs, outputs, dys: dys[0] * 2. + dys[1] * 3.,
                       shape=[[2], [2]])[1]

    # Functions of 1.8 to 1.10 with the tape inside fail on it, in the second such function: see docs/limits.md.
    right_or_error(VERSION >= (1, 11) or not mode.tape_inside, lambda: check(mode, program, [[1., 2.]], [[3., 3.]]))


@pytest.mark.clause("10.21")
def test_gradients_in_numpy_are_cast_and_summed(mode):
    def program(x, w):
        return py_func(lambda a, b: a * b, [x, w], tf.float32, shape=[3],
                       grad_py=lambda inputs, outputs, dys: [np.float64(2.) * dys[0], dys[0] * inputs[0]])

    check(mode, program, [[1., 2., 3.], 4.], [[2., 2., 2.], 6.], value=[4., 8., 12.])


@pytest.mark.clause("10.21")
@pytest.mark.needs("higher_order")
def test_second_order_goes_through_inputs_and_outputs(mode):
    # exp with a gradient of 3 exp(x): first 3 e, second 9 e
    same(mode.higher(lambda x: py_func(np.exp, [x], tf.float32, grad=lambda op, dy: 3. * op.outputs[0] * dy, shape=[]), 2, 1.),
         [[3. * np.e], [9. * np.e]], rtol=1e-5)
    # a gradient of x**3: second 3 x**2
    same(mode.higher(lambda x: py_func(np.square, [x], tf.float32, grad=lambda op, dy: op.inputs[0] ** 3. * dy, shape=[]), 2, 2.),
         [[8.], [12.]])


@pytest.mark.clause("10.21")
@pytest.mark.needs("autograph")
def test_autograph_converts_grad(mode):
    def grad(op, dy):
        if dy > 1.:
            return dy * 10.
        return dy * 20.

    check(mode, lambda x: py_func(lambda a: a, [x], tf.float32, grad=grad, shape=[]), [1.], [30.], upstream=[3.])


@pytest.mark.clause("10.21")
def test_inside_a_decorated_function(mode):
    @custom_grad
    def f(x):
        return py_func(np.square, [x], tf.float32, shape=[]), lambda dy: dy * 11.

    check(mode, f, [3.], [11.], value=9.)


@pytest.mark.clause("10.21")
def test_integer_inputs_and_results_need_no_gradient(mode):
    check(mode, lambda x: tf.cast(py_func(lambda a: a, [tf.cast(x, tf.int32)], tf.int32), tf.float32) + x, [2.], [1.], value=4.)


@pytest.mark.clause("10.21")
def test_missing_gradients_are_an_error(mode):
    with pytest.raises(LookupError, match="square.*neither grad nor grad_py"):
        mode.gradients(lambda x: py_func(np.square, [x], tf.float32, shape=[]), 2.)
    check(mode, lambda x: tf.stop_gradient(py_func(np.square, [x], tf.float32, shape=[])) * x, [2.], [4.])


@pytest.mark.clause("10.21")
@pytest.mark.needs("higher_order")
def test_no_second_derivative_of_numpy(mode):
    with pytest.raises(LookupError, match="grad_py, in numpy, has none"):
        mode.higher(lambda x: py_func(np.square, [x], tf.float32, shape=[], grad_py=lambda i, o, d: d[0] * i[0]), 2, 2.)


# -------------------------------------------------------------------------------------------------------------- 10.22 errors
def fail(a):
    raise KeyError("message 42")


@pytest.mark.clause("10.22")
def test_exceptions_reach_the_caller(mode):
    text, error = run_error(mode, lambda x: py_func(fail, [x], tf.float32), 1.)
    assert "message 42" in text
    if mode.name == "eager":
        assert type(error) is KeyError


@pytest.mark.clause("10.22")
@pytest.mark.parametrize("func, facts", [
    (lambda a: [1., 2., 3.], [r"\(3,?\)", r"\(2\)"]),
    (lambda a: 1., [r"\(\)", r"\(2\)"]),
    (lambda a: a > 0., []),
    (lambda a: a * 1j, ["complex64", "float32"]),
    (lambda a: None, ["None", "float32"]),
    (lambda a: "text", ["float32"]),
    (lambda a: [a, a, a], [r"\(3, 2\)"]),
], ids=["longer", "scalar", "bool", "complex", "None", "text", "stacked"])
def test_results_that_are_not_as_promised(mode, func, facts):
    def program(x):
        return py_func(func, [x], tf.float32, shape=[2])

    if not facts:  # a boolean becomes 0 or 1, as numpy does it
        np.testing.assert_array_equal(mode.run(program, [1., -1.]), [1., 0.])
        return
    text, error = run_error(mode, program, [1., 2.])
    for fact in ["test_10_py_func"] + facts:
        assert re.search(fact, text), text


@pytest.mark.clause("10.22")
@pytest.mark.parametrize("returned, fact", [
    ([1.], "1;|returned 1"), ([1., 2., 3.], "returned 3"), (1., "float"), ([1., None], "None"), ([1., 2.5], "float64")])
def test_several_results_that_are_not_as_promised(mode, returned, fact):
    text, error = run_error(mode, lambda x: py_func(lambda a: returned, [x], [tf.float32, tf.int32])[0], 1.)
    assert re.search(fact, text), text


@pytest.mark.clause("10.22")
@pytest.mark.parametrize("returned, fact", [
    ([], "returned 0"), ([1., 2.], "returned 2"), (np.zeros([3, 3]), r"\(3, 3\)"), (np.zeros([2], complex), "complex"),
    ("text", r"shape \(\)|float32")], ids=["none", "two", "shape", "complex", "text"])
def test_gradients_in_numpy_that_are_wrong(mode, returned, fact):
    with pytest.raises(Exception) as raised:
        mode.gradients(lambda x: py_func(lambda a: a, [x], tf.float32, shape=[2], grad_py=lambda i, o, d: returned), [1., 2.])
    assert re.search(fact, str(raised.value)), raised.value


SLICES = object()
BAD = [
    (TypeError, "func", dict(func=None)),
    (TypeError, "func", dict(func="square")),
    (TypeError, r"func takes.*\(a, b\).*1", dict(func=lambda a, b: a)),
    (TypeError, r"func takes.*\(\).*1", dict(func=lambda: 1.)),
    (TypeError, "inputs must be a list", dict(inputs=1.)),
    (TypeError, "inputs must be a list", dict(inputs=None)),
    (TypeError, "inputs must be a list", dict(inputs={"a": 1.})),
    (TypeError, "input 0 is None", dict(inputs=[None])),
    (TypeError, "input 0 is", dict(inputs=[object()])),
    (TypeError, "input 0 is a composite.*IndexedSlices", dict(inputs=SLICES)),
    (TypeError, "Tout must be", dict(Tout=None)),
    (TypeError, "Tout must be", dict(Tout="no dtype")),
    (TypeError, "Tout must be", dict(Tout=[tf.float32, object()])),
    (ValueError, "Tout is empty", dict(Tout=[])),
    (TypeError, "grad must be a function", dict(grad=3.)),
    (TypeError, "grad_py must be a function", dict(grad_py=[])),
    (TypeError, r"grad takes.*\(dy\).*2", dict(grad=lambda dy: dy)),
    (TypeError, r"grad_py takes.*\(dy\).*3", dict(grad_py=lambda dy: dy)),
    (ValueError, "both grad and grad_py", dict(grad=lambda op, dy: dy, grad_py=lambda i, o, d: d)),
    (ValueError, "shape must be", dict(shape="abc")),
    (ValueError, "shape must be", dict(shape=[-1])),
    (ValueError, "shape must be", dict(shape=[2.5])),
    (ValueError, "one shape for each of the 1 dtypes", dict(Tout=[tf.float32], shape=[[2], [3]])),
    (ValueError, "shape must be", dict(Tout=[tf.float32, tf.float32], shape=3)),
]


@pytest.mark.clause("10.22")
@pytest.mark.parametrize("exception, text, arguments", BAD)
def test_bad_arguments(mode, exception, text, arguments):
    arguments = dict(dict(func=np.square, Tout=tf.float32), **arguments)

    def program(x):
        options = dict(dict(inputs=[x]), **arguments)
        if options["inputs"] is SLICES:
            options["inputs"] = [tf.IndexedSlices(tf.expand_dims(x, 0), tf.constant([0]))]
        return py_func(**options)

    with pytest.raises(exception, match="py_func: .*" + text):
        mode.execute(program, 1.)


@pytest.mark.clause("10.22")
@pytest.mark.parametrize("returned, text", [
    ([], "returned 0"), ([1., 2.], "returned 2"), ("text", "gradient"), (np.ones([3]), r"shape \(3,\)")])
def test_gradients_that_are_wrong(mode, returned, text):
    with pytest.raises((TypeError, ValueError), match="lambda.*" + text):
        mode.gradients(lambda x: py_func(lambda a: a, [x], tf.float32, shape=[2], grad=lambda op, dy: returned), [1., 2.])


# ---------------------------------------------------------------------------------------------------- 10.23 graphs and memory
@pytest.mark.clause("10.20")
@pytest.mark.needs("in_graph")
def test_a_number_goes_to_the_graph_of_the_tensors(mode):
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [])
    with tf.Graph().as_default():
        y = py_func(lambda a, b: a * b, [x, 3.], tf.float32, grad=lambda op, dy: [10. * dy, None], shape=[])
    assert y.graph is graph


@pytest.mark.clause("10.23")
@pytest.mark.needs("in_graph")
@pytest.mark.skipif(VERSION < (1, 1), reason="TensorFlow 0.12 and 1.0 cannot import such a graph at all (10.23)")
def test_an_exported_graph_runs_no_other_code(mode):
    """As in another process: the functions of the first graph are gone, and there are others."""
    def build(factor):
        with tf.Graph().as_default() as graph:
            x = tf.constant(2., name="x")
            tf.identity(py_func(lambda a: a * factor, [x], tf.float32), name="y")
        return graph

    exported = build(10.).as_graph_def()
    gc.collect()
    other = build(-1.)
    token = [node.attr["token"].s for node in exported.node if node.op == "PyFunc"][0].decode("utf-8")
    assert "test_10_py_func" in token and "only the process" in token
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(exported, name="")
        with new_session(graph) as session, pytest.raises(Exception) as raised:
            session.run("y:0")
    assert "test_10_py_func" in str(raised.value)
    with new_session(other) as session:
        assert session.run("y:0") == -2.


@pytest.mark.clause("10.23")
@pytest.mark.needs("in_graph")
def test_graphs_are_freed_with_their_functions(mode):
    registry = __import__("tensorflow.python.ops.script_ops", fromlist=["_py_funcs"])._py_funcs

    def build():
        with tf.Graph().as_default() as graph:
            x = tf.constant(2.)
            gradients_of(py_func(np.square, [x], tf.float32, grad_py=lambda i, o, d: d[0]), [x])
        return weakref.ref(graph)

    gc.collect()
    before = registry.size()
    graphs = [build() for _ in range(5)]
    gc.collect()
    assert [graph() for graph in graphs] == [None] * 5
    assert registry.size() <= before


@pytest.mark.clause("10.23")
def test_calls_do_not_disturb_each_other(mode):
    def program(x):
        made = [py_func(lambda a, k=k: a * k, [x], tf.float32, grad=lambda op, dy, k=k: dy * k * 10., shape=[]) for k in (2., 3.)]
        return made[0] + made[1] + tf.cast(triple(tf.cast(x, tf.float64)), tf.float32)

    check(mode, program, [1.], [57.], value=8.)
