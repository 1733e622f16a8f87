# -*- coding: utf-8 -*-
"""Section 5 of docs/contract.md: variables."""
from __future__ import absolute_import, division, print_function

import gc
import logging
import re
import sys
import warnings

import numpy as np
import pytest
import tensorflow as tf

import harness
from harness import HAS_FUNCTION, HAS_RESOURCE, IndexedSlices, PY2, VERSION, check, get_variable, gradients_of, \
    right_or_error, same, v1, variable
from tfgradcompat import custom_grad


def times(w, seen=None, form="keyword"):
    """x -> x * w with w from the closure; gradients 10 w dy for x and 20 x dy for w, so that no true derivative passes for them."""
    def gradients(x, dy, variables):
        if seen is not None:
            seen.append([v.name for v in variables])
        return 10. * dy * w, [20. * dy * x for _ in variables]

    @custom_grad
    def f(x):
        if form == "keyword":
            return x * w, lambda dy, variables=None: gradients(x, dy, variables)
        return x * w, lambda dy, **kwargs: gradients(x, dy, kwargs["variables"])

    return f


# ----------------------------------------------------------------------------------------------- 5.1 handed to in_grad
@pytest.mark.clause("5.1")
@pytest.mark.clause("5.3")
@pytest.mark.parametrize("form", ["keyword", "kwargs"])
def test_captured_variable(mode, kind, form):
    seen = []
    right_or_error(mode.in_grad_reads_variables, lambda: check(
        mode, lambda x, w: times(w, seen, form)(x), [2., variable(3., kind)], [30., 40.], value=6.))
    assert [len(names) for names in seen] == [1] * len(seen) and "v" in seen[0][0]


@pytest.mark.clause("5.1")
@pytest.mark.skipif(PY2, reason="keyword-only arguments are no syntax of Python 2, on TensorFlow 0.12-2.1 (5.1)")
def test_keyword_only_variables(mode):
    scope = {}
    exec("def make(w):\n"
         "    def f(x):\n"
         "        def grad(dy, *, variables):\n"
         "            return 30. * dy, [20. * dy * x for _ in variables]\n"
         "        return x * w, grad\n"
         "    return f\n", scope)
    check(mode, lambda x, w: custom_grad(scope["make"](w))(x), [2., variable(3.)], [30., 40.])


@pytest.mark.clause("5.1")
def test_sorted_by_name_and_trainable_only(mode, kind):
    seen = []

    def program(x, b, fixed, a, c):
        @custom_grad
        def f(x):
            def grad(dy, variables):
                seen.append([re.sub(r"[^a-z].*$", "", v.name.split("/")[-1]) for v in variables])
                return 7. * dy, [2. * dy, 3. * dy, 5. * dy]
            return x * b * fixed * a * c, grad
        return f(x)

    arrays = [1., variable(1., kind, "b"), variable(1., kind, "fixed", trainable=False), variable(1., kind, "a"),
              variable(1., kind, "c")]
    check(mode, program, arrays, [7., 3., 2., 5.], wrt=[0, 1, 3, 4])
    assert set(map(tuple, seen)) == {("a", "b", "c")}


@pytest.mark.clause("5.1")
@pytest.mark.needs("uses_tape")
def test_two_variables_of_one_name(mode):
    def program(x, v, w):
        @custom_grad
        def f(x):
            def grad(dy, variables):
                # which is which does not depend on the name
                return dy, [dy * (20. if u is harness.tape_source(v) or u is v else 30.) for u in variables]
            return x * v * w, grad
        return f(x)

    check(mode, program, [1., variable(1., name="same"), variable(1., name="same")], [1., 20., 30.])


@pytest.mark.clause("5.1")
def test_no_input_at_all(mode, kind):
    def program(w):
        @custom_grad
        def f():
            return w * 2., lambda dy, variables: ([], [9. * dy])
        return f()

    check(mode, program, [variable([1., 2.], kind)], [[9., 9.]], value=[2., 4.])


@pytest.mark.clause("5.1")
def test_several_outputs_and_inputs(mode, kind):
    def program(x, y, w):
        @custom_grad
        def f(pair, k=3):
            def grad(da, db, variables=None):
                return [2. * da, 3. * db], [5. * da + 7. * db]
            return {"a": pair[0] * w * k, "b": pair[1] * w}, grad
        return f([x, y])

    check(mode, program, [1., 1., variable(2., kind)], [2., 30., 75.], value=[6., 2.], upstream=[1., 10.])


@pytest.mark.clause("5.1")
@pytest.mark.parametrize("make, expected", [
    (lambda w, dy: np.full((2,), 5.), [5., 5.]),
    (lambda w, dy: tf.cast(5. * dy, tf.float64), [5., 5.]),
    (lambda w, dy: tf.constant([[1., 2.], [3., 4.]]), [4., 6.]),
    (lambda w, dy: None, None),
], ids=["array", "cast", "broadcast summed", "None"])
def test_gradients_of_variables_are_gradients(mode, kind, make, expected):
    def program(x, w):
        @custom_grad
        def f(x):
            return x * w, lambda dy, variables: (dy, [make(w, dy)])
        return f(x)

    right_or_error(mode.unconnected_variables or expected is not None, lambda: check(
        mode, program, [[1., 1.], variable([1., 2.], kind)], [[1., 1.], expected]))


@pytest.mark.clause("5.1")
@pytest.mark.needs("sparse_gradients")
def test_sparse_gradient_of_a_variable(mode, kind):
    def program(x, w):
        @custom_grad
        def f(x):
            def grad(dy, variables):
                slices = IndexedSlices(values=7. * tf.reshape(dy, [1]), indices=tf.constant([1]), dense_shape=tf.constant([3]))
                return 5. * dy, [slices]
            return x * tf.gather(w, 1), grad
        return f(x)

    right_or_error(mode.unconnected_gathers, lambda: check(
        mode, program, [2., variable([1., 2., 3.], kind)], [5., [0., 7., 0.]], value=4.))


@pytest.mark.clause("5.1")
@pytest.mark.needs("higher_order")
def test_second_order_through_a_variable(mode, kind):
    # in_grad gives 10 w for x and 20 x for w: the gradients of their sum are 20 for x and 10 for w
    def checks():
        first, second = mode.higher(lambda x, w: times(w)(x), 2, 2., variable(3., kind))
        same(first, [30., 40.])
        same(second, [20., 10.])

    right_or_error(mode.second_order_of_reads, checks)


@pytest.mark.clause("5.1")
def test_read_by_a_decorated_function_inside(mode, kind):
    # the inner function's custom gradient is hidden by the outer one's, which is handed the variable as well
    def program(x, w):
        inner = times(w)

        @custom_grad
        def outer(x):
            return inner(x) + 1., lambda dy, variables: (3. * dy, [5. * dy])
        return outer(x)

    check(mode, program, [2., variable(3., kind)], [3., 5.], value=7.)


@pytest.mark.clause("5.1")
@pytest.mark.skipif(not HAS_FUNCTION, reason="tf.function came with TensorFlow 1.14 (5.1)")
def test_read_by_a_function_inside(mode):
    if mode.in_graph and VERSION < (2, 0):
        kind = "resource"
    else:
        kind = None

    def program(x, w):
        product = tf.function(lambda x: x * w)

        @custom_grad
        def f(x):
            return product(x), lambda dy, variables: (10. * dy, [20. * dy])
        return f(x)

    check(mode, program, [2., variable(3., kind)], [10., 20.], value=6.)


@pytest.mark.clause("5.1")
@pytest.mark.needs("in_graph")
@pytest.mark.parametrize("use_resource", [False] + [True] * HAS_RESOURCE, ids=["ref", "resource"][:1 + HAS_RESOURCE])
def test_made_between_two_calls(mode, use_resource):
    def program(x):
        a = get_variable("a", 3., use_resource)
        y = times(a)(x)
        b = get_variable("b", 5., use_resource)
        z = times(b)(y)
        return gradients_of(z, [x, a, b])

    assert mode.execute(program, 2.) == [1500., 2000., 120.]  # 10 b 10 a; 10 b 20 x; 20 y


@pytest.mark.clause("5.1")
@pytest.mark.needs("in_graph")
@pytest.mark.parametrize("use_resource", [False] + [True] * HAS_RESOURCE, ids=["ref", "resource"][:1 + HAS_RESOURCE])
def test_made_inside_by_get_variable(mode, use_resource):
    def program(x):
        @custom_grad
        def f(x):
            w = get_variable("w", 3., use_resource)
            return x * w, lambda dy, variables: (10. * dy * w, [20. * dy * x])

        with v1.variable_scope("layer"):
            y = f(x)
        with v1.variable_scope("layer", reuse=True):
            z = f(x)
        [w] = v1.trainable_variables()
        return gradients_of(y, [x, w]) + gradients_of(z, [x, w])

    assert mode.execute(program, 2.) == [30., 40., 30., 40.]


@pytest.mark.clause("5.1")
@pytest.mark.needs("uses_tape")
@pytest.mark.skipif(not HAS_FUNCTION, reason="before TensorFlow 1.14 a function cannot make variables (5.1)")
def test_made_inside_by_the_first_call(mode):
    made = []

    @custom_grad
    def f(x):
        if not made:
            made.append(variable(3., "resource", "inside").make(mode))
        w = made[0]
        return x * w, lambda dy, variables: (10. * dy * w, [20. * dy * x])

    g = mode.wrap(f)

    def program(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = g(x)
        return tape.gradient(y, [x, made[0]])

    assert mode.execute(program, 2.) == [30., 40.]


# ------------------------------------------------------------------------------------------------------- 5.2 never forgotten
@pytest.mark.clause("5.2")
def test_variables_that_are_not_taken(mode, kind):
    def program(x, w, b):
        @custom_grad
        def forgetful(x):
            return x * w + b, lambda dy: 10. * dy
        return forgetful(x)

    with pytest.raises(TypeError) as error:
        mode.gradients(program, 2., variable(3., kind, "weight"), variable(3., kind, "bias"))
    text = str(error.value)
    for fact in ("forgetful", "weight", "bias", "variables", "argument"):
        assert fact in text, text


@pytest.mark.clause("5.2")
@pytest.mark.parametrize("tape", [True, False], ids=["tape", "no tape"])
@pytest.mark.parametrize("pack", [lambda y: y, lambda y: [y]], ids=["alone", "in a list"])
def test_the_error_comes_at_the_call(mode, kind, tape, pack):
    with_tape = tape

    def forgetting(x, w):
        @custom_grad
        def forgetful(x):
            return pack(x * w), lambda dy: 10. * dy
        return forgetful(x)

    f = mode.wrap(forgetting)

    def program(x, w):
        if mode.in_graph or not with_tape:
            f(x, w)
        else:
            with harness.GradientTape() as tape:
                tape.watch(x)
                f(x, w)

    with pytest.raises(TypeError):
        mode.execute(program, 2., variable(3., kind))


@pytest.mark.clause("5.2")
def test_variables_that_are_not_trained_need_not_be_taken(mode, kind):
    def program(x, w):
        @custom_grad
        def f(x):
            return x * w, lambda dy: 10. * dy
        return f(x)

    check(mode, program, [2., variable(3., kind, trainable=False)], [10.], value=6., wrt=[0])


@pytest.mark.clause("5.2")
def test_taken_but_none_read(mode):
    seen, logged = [], []

    class Log(logging.Handler):
        def emit(self, record):
            logged.append(record.getMessage())

    @custom_grad
    def f(x, y):
        def grad(dy, variables=None):
            seen.append(variables)
            return 4. * dy, 5. * dy
        return x * y, grad

    @custom_grad
    def g(x):
        def grad(dy, **kwargs):
            seen.append(kwargs or None)
            return 6. * dy
        return x * 1., grad

    handler, logger = Log(logging.WARNING), logging.getLogger("tensorflow")
    logger.addHandler(handler)
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            check(mode, lambda x, y: f(x, g(y)), [1., 1.], [4., 30.])
    finally:
        logger.removeHandler(handler)
    assert set(seen) == {None}
    assert [text for text in logged + [str(w.message) for w in warned] if "variables" in text or "custom_grad" in text] == []


@pytest.mark.clause("5.2")
def test_other_variables_are_not_its_own(mode, kind):
    def program(x, w):
        @custom_grad
        def f(x):
            return x * 2., lambda dy: 10. * dy
        return f(x * w) + w

    check(mode, program, [2., variable(3., kind)], [30., 21.], value=15.)  # 10 w, and 10 x + 1


@pytest.mark.clause("5.2")
def test_a_variable_that_is_an_argument_is_not_one_of_them(mode, kind):
    @custom_grad
    def f(x, w):
        return x * w, lambda dy: (10. * dy, 20. * dy)

    check(mode, f, [2., variable(3., kind)], [10., 20.])


@pytest.mark.clause("5.2")
@pytest.mark.needs("control_flow")
def test_read_in_a_branch_or_a_loop(mode, kind):
    def in_cond(x, w):
        return tf.cond(tf.reduce_sum(x) > 0., lambda: x * w, lambda: x)

    def in_loop(x, w):
        return tf.while_loop(lambda i, y: i < 2, lambda i, y: [i + 1, y * w], [tf.constant(0), x])[1]

    def taking(body):
        def program(x, w):
            @custom_grad
            def f(x):
                return body(x, w), lambda dy, variables: (10. * dy, [20. * dy])
            return f(x)
        return program

    def forgetting(body):
        def program(x, w):
            @custom_grad
            def f(x):
                return body(x, w), lambda dy: 10. * dy
            return f(x)
        return program

    for body, value in ((in_cond, 6.), (in_loop, 18.)):
        check(mode, taking(body), [2., variable(3., kind)], [10., 20.], value=value)
        with pytest.raises(TypeError):
            mode.gradients(forgetting(body), 2., variable(3., kind))


# ------------------------------------------------------------------------------------------------------------ 5.3 anywhere
@pytest.mark.clause("5.3")
@pytest.mark.needs("in_graph")
def test_a_thousand_variables_cost_nothing(mode):
    @custom_grad
    def f(x):
        return x * 2., lambda dy, variables=None: 3. * dy

    def cost(variables):
        with tf.Graph().as_default() as graph:
            for i in range(variables):
                get_variable("v%d" % i, 1., False)
            x = tf.constant(1.)
            f(x)
            before = len(graph.get_operations())
            return lines_run(f, x), len(graph.get_operations()) - before

    one, thousand = cost(1), cost(1000)
    assert one == thousand, "(lines, operations): %s beside one variable, %s beside a thousand" % (one, thousand)
    assert one > (0, 0)


def lines_run(f, *args):
    """How many lines of Python a call runs, once more for each time round a loop: its cost as a number that never varies."""
    lines = [0]

    def trace(frame, event, argument):
        lines[0] += event == "line"
        return trace

    before = sys.gettrace()
    gc.collect()
    gc.disable()  # what it calls is not of this call
    sys.settrace(trace)
    try:
        f(*args)
    finally:
        sys.settrace(before)
        gc.enable()
    return lines[0]


@pytest.mark.clause("5.3")
@pytest.mark.needs("in_graph")
def test_any_scope(mode, kind):
    def program(x):
        with v1.variable_scope("deep", use_resource=None if VERSION < (1, 2) else kind == "resource") if VERSION >= (1, 2) \
                else v1.variable_scope("deep"):
            w = get_variable("w", 3., kind == "resource")
            with tf.name_scope("other"):
                y = times(w)(x)
        return gradients_of(y, [x, w])

    assert mode.execute(program, 2.) == [30., 40.]


# ----------------------------------------------------------------------------------------------------- 5.4 captured tensors
@pytest.mark.clause("5.4")
def test_captured_tensors_get_none(mode):
    def program(x, z):
        c = z * 3.

        @custom_grad
        def f(x):
            return x * c, lambda dy: 10. * dy
        return f(x)

    check(mode, program, [2., 5.], [10., None], value=30.)


@pytest.mark.clause("5.4")
@pytest.mark.parametrize("argument", [None, 7.], ids=["no argument", "a constant"])
def test_captured_tensors_get_none_when_nothing_else_is_watched(mode, argument):
    def program(z):
        c = z * 3.

        @custom_grad
        def f(x=1.):
            return x * c, lambda dy: None if argument is None else 10. * dy
        return f() if argument is None else f(tf.constant(argument))

    check(mode, program, [5.], [None], value=15. * (argument or 1.))


@pytest.mark.clause("5.4")
def test_a_captured_tensor_that_is_the_result(mode):
    def program(x, z):
        c = z * 3.

        @custom_grad
        def f(x):
            return (c, x * 1.), lambda dc, dx: 10. * dx + 100. * dc
        return f(x)

    check(mode, program, [2., 5.], [110., None], value=(15., 2.))


@pytest.mark.clause("5.4")
def test_captured_tensors_have_their_other_paths(mode):
    def program(x, z):
        @custom_grad
        def f(x):
            return x * z, lambda dy: 10. * dy
        return f(x) + z * 2.

    check(mode, program, [2., 5.], [10., 2.], value=20.)


@pytest.mark.clause("5.4")
def test_captured_tensors_get_none_where_no_argument_gets_one(mode):
    def program(z):
        @custom_grad
        def f(x):
            return x * z, lambda dy: 10. * dy
        return f(tf.constant(2.))

    right_or_error(mode.unconnected_variables, lambda: check(mode, program, [5.], [None], value=10.))


@pytest.mark.clause("5.4")
def test_variables_upstream_of_a_captured_tensor_are_not_its_own(mode, kind):
    def program(x, w):
        c = w * 2.

        @custom_grad
        def f(x):
            return x * c, lambda dy: 10. * dy
        return f(x)

    right_or_error(mode.unconnected_variables, lambda: check(
        mode, program, [2., variable(3., kind)], [10., None], value=12.))


@pytest.mark.clause("5.4")
def test_variables_upstream_of_an_input_are_not_its_own(mode, kind):
    def program(x, w):
        @custom_grad
        def f(x, c):
            return x * c, lambda dy: (10. * dy, 5. * dy)
        return f(x, w * 2.)

    check(mode, program, [2., variable(3., kind)], [10., 10.], value=12.)


# ----------------------------------------------------------------------------------------------------------- 5.5 in in_grad
@pytest.mark.clause("5.5")
@pytest.mark.parametrize("where", ["plain", "cond", "while_loop", "function"])
@pytest.mark.parametrize("forward", ["read in f too", "only in in_grad"])
def test_in_grad_may_read_variables(mode, kind, where, forward):
    if where == "function" and (not HAS_FUNCTION or kind == "ref" and VERSION < (2, 0)):
        pytest.skip("tf.function came with TensorFlow 1.14 and takes resource variables (5.5)")

    def read(dy, w):
        if where == "plain":
            return dy * w
        if where == "cond":
            return tf.cond(tf.reduce_sum(dy) > 0., lambda: dy * w, lambda: dy)
        if where == "while_loop":  # dy * w * w
            return tf.while_loop(lambda i, d: i < 2, lambda i, d: [i + 1, d * w], [tf.constant(0), dy])[1]
        return tf.function(lambda d: d * w)(dy)

    def program(x, w):
        @custom_grad
        def f(x):
            if forward == "read in f too":
                return x * w, lambda dy, variables: (read(dy, w), [5. * dy])
            return x * 1., lambda dy: read(dy, w)
        return f(x)

    dx = 9. if where == "while_loop" else 3.
    right_or_error(mode.in_grad_reads_variables and (mode.control_flow or where == "plain"), lambda: check(
        mode, program, [2., variable(3., kind)], [dx, 5. if forward == "read in f too" else None]))


@pytest.mark.clause("5.5")
@pytest.mark.needs("uses_tape", "higher_order")
def test_second_order_through_a_read_again_and_again(mode):
    # TensorFlow 1.15 to 2.22 lose the variable from the second time on that a function is differentiated twice
    w = variable(3.).make(mode)
    g = mode.wrap(custom_grad(lambda x: (x * 1., lambda dy: dy * w * x)))

    def program(x):
        with harness.GradientTape() as outer:
            outer.watch(x)
            with harness.GradientTape() as inner:
                inner.watch(x)
                y = g(x)
            [first] = inner.gradient(y, [x])
        return outer.gradient(first, [x, w])

    program = mode.compiled(program) if mode.tape_inside else program

    def checks():
        for _ in range(3):
            same([None if dx is None else dx.numpy() for dx in program(tf.constant(2.))], [3., 2.])

    right_or_error(mode.second_order_of_reads, checks)


@pytest.mark.clause("5.5")
def test_in_grad_reads_the_value_of_the_moment(mode, kind):
    # the factor is read when the gradient runs, not when it is built
    def f(x, w):
        return custom_grad(lambda x: (x * 2., lambda dy: -w * dy))(x)

    def checks():
        with mode.repeated(f, 1., variable(1., kind)) as (step, read, assign):
            assert step() == -1.
            assign(0, 5.)
            assert step() == -5.

    right_or_error(mode.in_grad_reads_variables, checks)
