# -*- coding: utf-8 -*-
"""Section 11 of docs/contract.md, clauses 11.10 to 11.14: explain.

What it says about whether a gradient arrives is compared with the gradients that TensorFlow gives.
"""
from __future__ import absolute_import, division, print_function

import numpy as np
import pytest
import tensorflow as tf

import harness
from harness import EAGER, GRAPH_UNDER_EAGER_FROM, HAS_FUNCTION, VERSION, v1, variable
from tfgradcompat import custom_grad, explain, override_gradient, route

building = pytest.mark.needs("builds")
graphs = pytest.mark.skipif(EAGER and VERSION < GRAPH_UNDER_EAGER_FROM,
                            reason="a graph stays eager before TensorFlow 1.9 (11.10 to 11.12 in plain graphs)")


@custom_grad
def scaled(x):
    return x * 2., lambda dy: dy * 7.


@custom_grad
def weighted(x, w):
    return x * w, lambda dy: (dy * w, dy * x)


def closing_over(w):
    @custom_grad
    def times_w(x):
        return x * w, lambda dy: dy * 7.
    return times_w


def explained(mode, f, *arrays):
    """The explanation of f for each argument, which must say of each whether TensorFlow gives a gradient."""
    seen = []

    def program(*args):
        y = f(*args)
        seen.append(explain(y, list(args)))
        return y

    gradients = mode.gradients(program, *arrays)
    assert [way.arrives for way in seen[0].ways] == [gradient is not None for gradient in gradients], str(seen[0])
    return seen[0].ways


# ------------------------------------------------------------------------------------------------------- 11.10 on the way
@pytest.mark.clause("11.10")
@building
def test_custom_gradients_on_the_way_the_nearest_to_the_ys_first(mode):
    [way] = explained(mode, lambda x: tf.tanh(scaled(tf.tanh(weighted(x, 3.)))), [1., 2.])
    assert ["scaled" in way.custom_gradients[0], "weighted" in way.custom_gradients[1]] == [True, True]
    assert "test_11_explain.scaled (" in way.text and "test_11_explain.py:" in way.text
    assert "(route %s)" % route() in way.text
    assert way.stops == []


@pytest.mark.clause("11.10")
@building
def test_what_is_not_on_the_way(mode):
    x, other = explained(mode, lambda x, other: scaled(x) + tf.tanh(other), [1.], [2.])
    assert len(x.custom_gradients) == 1 and other.custom_gradients == []
    assert "meets no custom gradient" in other.text
    assert "not on the way: test_11_explain.scaled (" in other.text


@pytest.mark.clause("11.10")
@building
def test_arguments_by_name_nests_and_a_function_in_a_function(mode):
    @custom_grad
    def outer(pair):
        return scaled(pair["a"]) * pair["b"], lambda dy: [dy, dy]

    a, b, unused = explained(mode, lambda a, b, unused: outer(pair={"b": b, "a": a}), [1.], [2.], [3.])
    for way in (a, b):
        assert len(way.custom_gradients) == 1 and "outer" in way.custom_gradients[0]
    assert "is not computed from it" in unused.text


@pytest.mark.clause("11.10")
@building
@pytest.mark.needs("unconnected_variables")
def test_variables(mode, kind):
    @custom_grad
    def f(x, w):
        return x * w, lambda dy: (dy * w, dy * x)

    w, u, v = explained(
        mode, lambda w, u, v: f(tf.convert_to_tensor(u), w) + tf.stop_gradient(tf.convert_to_tensor(v)),
        variable([1., 2.], kind, "w"), variable([1., 2.], kind, "u"), variable([1., 2.], kind, "v"))
    assert len(w.custom_gradients) == len(u.custom_gradients) == 1
    assert "stop_gradient" in v.stops[0]


@pytest.mark.clause("11.10")
@building
def test_variables_that_in_grad_takes(mode, kind):
    def f(w):
        @custom_grad
        def reads():
            return tf.convert_to_tensor(w) * 2., lambda dy, variables: ([], [dy * 7.])
        return reads()

    [w] = explained(mode, f, variable([1., 2.], kind, "w"))
    assert len(w.custom_gradients) == 1 and "reads" in w.custom_gradients[0]


@pytest.mark.clause("11.10")
@building
def test_overridden_gradients_and_those_of_tensorflow(mode):
    def f(x):
        with override_gradient({"Relu": lambda op, dy: dy}):
            return tf.nn.relu(x)

    [way] = explained(mode, f, [1.])
    assert way.custom_gradients[0].startswith("override_gradient by test_11_explain.")
    if hasattr(tf, "custom_gradient") and (mode.in_graph or HAS_FUNCTION):  # functions of 1.8 fail on it
        [way] = explained(mode, lambda x: tf.custom_gradient(lambda x: (x * 2., lambda dy: dy))(x), [1.])
        assert "tf.custom_gradient" in way.custom_gradients[0]


# --------------------------------------------------------------------------------------------------------- 11.11 stopped
@pytest.mark.clause("11.11")
@building
@pytest.mark.parametrize("f, words", [
    (lambda x: tf.stop_gradient(scaled(x)), "tf.stop_gradient, operation '"),
    (lambda x: tf.cast(tf.cast(scaled(x), tf.int32), tf.float32), "of int32, and only floating and complex numbers"),
    (lambda x: tf.cast(scaled(x) > 0., tf.float32), "of bool, and only floating and complex numbers"),
    (lambda x: tf.cast(tf.argmax(scaled(x), 0), tf.float32), "of int64, and only floating and complex numbers"),
    (lambda x: tf.floor(scaled(x)) * 2., "(Floor) has no gradient for '"),
    (lambda x: closing_over(scaled(x))(tf.constant([1., 2.])), "from its closure"),
], ids="stop_gradient cast compare argmax floor closure".split())
def test_where_the_way_is_stopped(mode, f, words):
    if VERSION < (1, 9) and not harness.PY2 and mode.tape_inside and "bool" in words:
        pytest.skip("a tape in a function of TensorFlow 1.8 fails on zeros of bool; Python 2 does not notice (11.11)")
    [way] = explained(mode, f, [1., 2.])
    assert not way.arrives and way.custom_gradients == []
    assert len(way.stops) == 1 and words in way.stops[0], way.stops
    assert "no gradient arrives from" in way.text


@pytest.mark.clause("11.11")
@graphs
def test_operations_without_a_gradient():
    with tf.Graph().as_default():
        x = tf.constant([[[0.1, 0.2, 0.3]]])
        y = tf.image.hsv_to_rgb(scaled(x))
        assert v1.gradients(y, x) == [None]
        [way] = explain(y, x).ways
        assert not way.arrives and "(HSVToRGB) has no gradient at all" in way.stops[0]
        if VERSION >= (1, 8):  # later than 1.3 it became an operation of its own
            y = tf.image.adjust_hue(scaled(x), 0.1)
            with pytest.raises(LookupError):
                v1.gradients(y, x)
            [way] = explain(y, x).ways
            assert not way.arrives and "(AdjustHue) has no gradient in TensorFlow" in way.stops[0]


@pytest.mark.clause("11.11")
@building
def test_closures_of_functions_with_tf_custom_gradient(mode):
    if not hasattr(tf, "custom_gradient") or not (mode.in_graph or HAS_FUNCTION):
        pytest.skip("tf.custom_gradient came with TensorFlow 1.7, and fails in functions of 1.8 (11.11)")

    def f(x, w):
        return tf.custom_gradient(lambda x: (x * tf.tanh(w), lambda dy: dy))(x)

    x, w = explained(mode, f, [1.], [2.])
    assert len(x.custom_gradients) == 1 and "from its closure" in w.stops[0]


@pytest.mark.clause("11.11")
@building
def test_an_argument_that_is_taken_from_the_closure_too(mode):
    [way] = explained(mode, lambda x: closing_over(tf.tanh(x))(x * 2.), [1.])
    assert len(way.custom_gradients) == 1 and "from its closure" in way.stops[0]
    assert "Other ways are stopped by" in way.text


@pytest.mark.clause("11.11")
@building
def test_each_way_has_its_stop_and_integers_are_no_news_where_a_gradient_arrives(mode):
    [way] = explained(mode, lambda x: scaled(x) + tf.stop_gradient(x) + tf.cast(tf.argmax(x, 0), tf.float32), [1.])
    assert len(way.stops) == 1 and "stop_gradient" in way.stops[0]


@pytest.mark.clause("11.11")
@building
def test_numbers_that_have_no_gradients(mode):
    n, = explained(mode, lambda n: tf.cast(n, tf.float32) * 2., np.array([1, 2]))
    assert "int64, and only floating and complex" in n.text or "int32, and only floating" in n.text
    x, = explained(mode, lambda x: tf.cast(scaled(x), tf.int32), [1.])
    assert not x.arrives


def random_program(seed):
    """A function of four tensors, made of up to 12 random steps; each result is made of some of those before."""
    draw = np.random.RandomState(seed)
    steps = [(draw.randint(8), draw.randint(0, 4 + i), draw.randint(0, 4 + i)) for i in range(draw.randint(3, 13))]

    def f(*tensors):
        values = list(tensors)
        for kind, i, j in steps:
            a, b = values[i], values[j]
            values.append([
                lambda: tf.tanh(a), lambda: a * b, lambda: a + b, lambda: scaled(a), lambda: closing_over(a)(b),
                lambda: weighted(a, b), lambda: tf.stop_gradient(a) + b, lambda: tf.cast(tf.cast(a, tf.int32), tf.float32),
            ][kind]())
        return values[-1]

    return f


@pytest.mark.clause("11.11")
@pytest.mark.needs("in_graph")
@pytest.mark.parametrize("seed", range(30))
def test_random_programs(mode, seed):
    ways = explained(mode, random_program(seed), *[[1., 2.]] * 4)
    assert all(way.arrives or way.stops or "is not computed from it" in way.text for way in ways)


# ------------------------------------------------------------------------------------------------- loops, branches, calls
@pytest.mark.clause("11.12")
@building
@pytest.mark.needs("control_flow")
def test_branches_and_loops(mode):
    def branches(x):
        return tf.cond(tf.reduce_sum(x) > 0., lambda: scaled(x), lambda: tf.stop_gradient(x))

    def loop(x):
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, scaled(a)), [0, x])[1]

    def stopped(x):
        return tf.cond(tf.reduce_sum(x) > 0., lambda: tf.stop_gradient(x), lambda: tf.zeros_like(x))

    def nested(x):
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.cond(i > 1, lambda: branches(a), lambda: a * 2.)),
                             [0, x])[1]

    [way] = explained(mode, branches, [1., 2.])
    assert len(way.custom_gradients) == 1 and "scaled" in way.custom_gradients[0]
    assert len(way.stops) == 1 and "stop_gradient" in way.stops[0]
    functionals = [lambda x: tf.map_fn(scaled, x), lambda x: tf.scan(lambda a, b: a + scaled(b), x)] if mode.in_graph or (
        HAS_FUNCTION) else []
    for f in [loop, nested] + functionals:
        [way] = explained(mode, f, [1., 2.])
        assert len(way.custom_gradients) == 1 and "scaled" in way.custom_gradients[0], str(way)
    seen = []
    mode.run(lambda x: seen.append(explain(stopped(x), x)) or x, [1., 2.])  # TensorFlow gives zeros here, or None
    [way] = seen[0].ways
    assert not way.arrives and any("stop_gradient" in stop for stop in way.stops), str(seen[0])


@pytest.mark.clause("11.12")
@pytest.mark.skipif(not (HAS_FUNCTION and EAGER), reason="tf.function came with TensorFlow 1.14, and is called from eager mode (11.12)")
def test_functions_that_are_called():
    k = tf.constant([3., 4.])
    inner = tf.function(lambda a: (scaled(a), tf.stop_gradient(a) * k), autograph=False)
    seen = []

    def outer(x):
        one, other = inner(x)
        seen.extend(explain(y, [x, k]).ways for y in (one, other))
        return one + other

    tf.function(outer, autograph=False)(tf.constant([1., 2.]))
    (one_x, one_k), (other_x, other_k) = seen
    assert one_x.arrives and "scaled" in one_x.custom_gradients[0] and "Call)" in one_x.custom_gradients[0]
    assert not one_k.arrives and "is not computed from it" in one_k.text
    assert not other_x.arrives and "stop_gradient" in other_x.stops[0]
    assert other_k.arrives and other_k.custom_gradients == []


@pytest.mark.clause("11.12")
@graphs
def test_graphs_that_were_imported():
    if VERSION < (1, 4):
        pytest.skip("the gradient of an imported graph is known from TensorFlow 1.4 on (8.4, 11.12)")

    def exported(f):
        with tf.Graph().as_default() as graph:
            tf.identity(f(tf.constant([1., 2.], name="x")), name="y")
            return graph.as_graph_def()

    def reimported(definition):
        with tf.Graph().as_default():
            x, y = tf.import_graph_def(definition, return_elements=["x:0", "y:0"], name="") if VERSION < (2, 0) else (
                v1.import_graph_def(definition, return_elements=["x:0", "y:0"], name=""))
            return explain(y, x).ways[0]

    way = reimported(exported(scaled))
    assert way.arrives and "test_11_explain.scaled" in way.custom_gradients[0]
    way = reimported(exported(closing_over(3.)))
    assert not way.arrives and "its graph was imported" in way.stops[0]


# ------------------------------------------------------------------------------------------------------- 11.13 elsewhere
@pytest.mark.clause("11.13")
@graphs
def test_other_graphs_what_is_no_tensor_and_mistakes():
    with tf.Graph().as_default():
        other = tf.constant(1., name="other")
    with tf.Graph().as_default() as graph:
        x = tf.constant([1., 2.], name="x")
        y = scaled(x)
        before = len(graph.get_operations())
        ways = explain({"y": y}, [other, 3., x]).ways
        assert "belongs to another graph" in ways[0].text and "no tensor and no variable" in ways[1].text
        assert [way.arrives for way in ways] == [False, False, True]
        assert len(graph.get_operations()) == before
        with pytest.raises(TypeError, match=r"explain: ys must be tensors; got float 2\.0"):
            explain([y, 2.], x)
        with pytest.raises(ValueError, match="tensors of one graph.*got tensors of 2 of them"):
            explain([y, other], x)
        with pytest.raises(ValueError, match="got none"):
            explain([], x)


# ------------------------------------------------------------------------------------------------------ 11.14 eager mode
@pytest.mark.clause("11.14")
@pytest.mark.skipif(not EAGER, reason="eager mode: TensorFlow 1.5 and newer, where it is on (11.14)")
def test_eager_mode_says_what_can_be_told():
    x, other, n = tf.constant([1., 2.]), tf.constant(3.), tf.constant(3)
    [way] = explain(scaled(x), x).ways
    assert way.arrives is None and "no tape is open" in way.text
    with harness.GradientTape() as tape:
        tape.watch(x)
        y = scaled(x)
        ways = explain(y, [x, other, n, 3.]).ways
        [constant] = explain(other, x).ways
        [stopped] = explain(tf.stop_gradient(y), x).ways
        [integers] = explain(tf.cast(y, tf.int32), x).ways
    assert [way.arrives for way in ways] == [None, False, False, False]
    assert "call explain in a tf.function" in ways[0].text
    assert "no open tape watches it" in ways[1].text
    assert "of int32, and only floating" in ways[2].text
    assert "no tensor" in ways[3].text
    assert constant.arrives is False and "depends on nothing that an open tape watches" in constant.text
    assert not stopped.arrives  # up to 2.1 or so tapes record it, so that it cannot be told
    assert integers.arrives is False and "ys is of int32" in integers.text


@pytest.mark.clause("11.14")
@pytest.mark.skipif(not EAGER, reason="eager mode: TensorFlow 1.5 and newer, where it is on (11.14)")
def test_variables_in_eager_mode():
    def make(value):
        if VERSION >= (2, 0):
            return tf.Variable(value)
        return v1.get_variable("v%d" % int(value), initializer=value, use_resource=True)
    v, unused = make(1.), make(2.)
    with harness.GradientTape():
        y = scaled(tf.convert_to_tensor(v))
        ways = explain(y, [v, unused]).ways
    assert [way.arrives for way in ways] == [None, False]
    assert "no open tape watches it" in ways[1].text
