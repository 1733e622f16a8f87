# -*- coding: utf-8 -*-
"""Section 7 of docs/contract.md: errors."""
from __future__ import absolute_import, division, print_function

import os
import re
import traceback

import numpy as np
import pytest
import tensorflow as tf

import tfgradcompat
from harness import VERSION, do_not_convert, new_session, v1
from mistakes import (
    MISTAKES, a_variable_that_is_not_taken, an_argument_is_missing, an_unknown_keyword,
    another_shape_for_a_variable, nothing_returned, only_a_result)
from tfgradcompat import custom_grad


def known_when_traced(mode, make):
    """Functions before 1.7 do not know the static shapes of the variables they capture: there the error comes when it runs."""
    return make is not another_shape_for_a_variable or not mode.in_function or VERSION >= (1, 7)


@custom_grad
def right(x):
    return x * 2., lambda dy: 3. * dy


@pytest.mark.clause("7.1")
@pytest.mark.clause("7.2")
@pytest.mark.parametrize("make, exception, facts", MISTAKES)
def test_mistake(mode, make, exception, facts):
    if not known_when_traced(mode, make):
        return
    made = make()
    f, arrays = made[:2]
    program = made[2] if len(made) > 2 else f
    with pytest.raises(exception) as error:
        mode.gradients(program, *arrays)
    assert error.type is exception
    text = str(error.value)
    code = f.__wrapped__.__code__
    where = re.search(r"mistakes\.(\S*\.)?f \((.*)\.pyc?:(\d+)\)", text)
    assert where, text
    assert os.path.basename(where.group(2)) == "mistakes" and 0 <= int(where.group(3)) - code.co_firstlineno <= 1, text
    for fact in facts:
        assert re.search(fact, text), "%r is not in: %s" % (fact, text)
    assert re.search(r"\. [A-Z].*\.$", text.strip()), "no remedy at the end of: %s" % text


@pytest.mark.clause("7.1")
@pytest.mark.parametrize("make, exception, facts", MISTAKES)
def test_the_next_right_call_is_right(mode, make, exception, facts):
    if not known_when_traced(mode, make):
        return
    made = make()
    wrong = mode.wrap(made[2] if len(made) > 2 else made[0])
    good = mode.wrap(right)

    @do_not_convert
    def program(*args):
        with pytest.raises(exception):
            mode.symbolic_gradients(wrong, args, args)
        return mode.symbolic_gradients(good, args[:1], args[:1])

    value, [gradient] = mode.execute(program, *made[1])
    np.testing.assert_array_equal(value, 2. * np.asarray(made[1][0]))
    np.testing.assert_array_equal(gradient, 3. * np.ones_like(np.asarray(made[1][0])))


def test_there_are_enough_mistakes():
    assert len(MISTAKES) >= 40


# ------------------------------------------------------------------------------------------------------- errors of others
@pytest.mark.clause("7.2")
@pytest.mark.parametrize("thing", [3, "f", [1.], {}], ids=repr)
def test_what_cannot_be_decorated(thing):
    with pytest.raises(TypeError) as error:
        custom_grad(thing)
    assert "custom_grad" in str(error.value) and type(thing).__name__ in str(error.value)


@pytest.mark.clause("7.2")
@pytest.mark.needs("in_graph")
def test_tensors_of_two_graphs(mode):
    @custom_grad
    def f(x, y):
        return x * y, lambda dy: (dy, dy)

    with tf.Graph().as_default():
        other = tf.constant(1.)
    with tf.Graph().as_default():
        with pytest.raises(ValueError) as error:
            f(tf.constant(1.), other)
    assert "graph" in str(error.value) and "test_7_errors" in str(error.value)


@pytest.mark.clause("7.2")
def test_errors_of_the_user_pass_unchanged(mode):
    def fail():
        raise RuntimeError("the user's own words")

    @custom_grad
    def in_f(x):
        return x * fail(), lambda dy: dy

    @custom_grad
    def in_in_grad(x):
        return x * 1., lambda dy: dy * fail()

    for f in (in_f, in_in_grad):
        with pytest.raises(RuntimeError) as error:
            mode.gradients(f, 1.)
        assert "the user's own words" in str(error.value)


@pytest.mark.clause("7.3")
@pytest.mark.needs("calls_directly")
@pytest.mark.parametrize("make", [only_a_result, nothing_returned, an_argument_is_missing, an_unknown_keyword,
                                  a_variable_that_is_not_taken], ids=lambda make: make.__name__)
def test_the_traceback_leads_to_the_call(mode, make):
    made = make()
    program = made[2] if len(made) > 2 else (lambda x: made[0](x))
    with pytest.raises(TypeError) as error:
        mode.gradients(program, *made[1])
    package = os.path.dirname(os.path.abspath(tfgradcompat.__file__))
    files = [os.path.abspath(frame[0]) for frame in traceback.extract_tb(error.tb)]
    ours = [i for i, file in enumerate(files) if os.path.dirname(file).startswith(package)]
    assert len(ours) <= 3, "%d frames of the package" % len(ours)
    last_user = max(i for i, file in enumerate(files) if os.path.basename(file).startswith(("mistakes.py", "test_7_errors.py")))
    assert not ours or last_user == ours[0] - 1 or last_user > ours[0]


@pytest.mark.clause("7.1")
@pytest.mark.needs("in_graph")
def test_a_failed_call_leaves_no_entry_in_the_registry(mode):
    from tensorflow.python.framework import ops

    @custom_grad
    def f(x):
        return x, lambda dy: 3. * dy

    with tf.Graph().as_default() as graph:
        x = tf.constant(1.)
        f(x)
        before = set(ops._gradient_registry._registry)
        graph.finalize()
        with pytest.raises(RuntimeError):
            f(x)
        assert set(ops._gradient_registry._registry) <= before  # those of other tests may go meanwhile


@pytest.mark.clause("7.2")
@pytest.mark.needs("in_graph")
def test_the_gradient_of_an_imported_graph_is_an_error(mode):
    @custom_grad
    def ninefold(x):
        return x * 2., lambda dy: 9. * dy

    with tf.Graph().as_default() as graph:
        ninefold(v1.placeholder(tf.float32, [], name="x")) * tf.constant(1., name="one")
        last = graph.get_operations()[-1].name
    definition = graph.as_graph_def()
    with tf.Graph().as_default() as graph:
        try:
            x, y = tf.import_graph_def(definition, return_elements=["x:0", last + ":0"])
            gradients = v1.gradients(y, x)
            with new_session(graph) as session:
                session.run(gradients, {x: 1.})
        except LookupError as error:
            if VERSION >= (1, 4):
                assert "ninefold" in str(error)
        except (ValueError, tf.errors.OpError):
            # 0.12-1.3: the import or the run fails, since the function that carries the gradient has no gradient itself
            assert VERSION < (1, 4)
        else:
            raise AssertionError("a gradient came back: %s" % (gradients,))


@pytest.mark.clause("7.1")
@pytest.mark.needs("autograph")
@pytest.mark.parametrize("form", ["function", "lambda"])
def test_a_function_that_autograph_has_converted_is_called_what_it_was(mode, form):
    def with_function(x):
        @custom_grad
        def inner(x):
            return x * 1., lambda dy: [dy, dy]
        return inner(x)

    def with_lambda(x):
        two = lambda dy: [dy, dy]
        f = custom_grad(lambda x: (x * 1., two))
        return f(x)

    with pytest.raises(ValueError) as error:
        mode.gradients(with_function if form == "function" else with_lambda, 1.)
    name = str(error.value).strip().splitlines()[-1].partition(" (")[0]
    assert name.endswith("inner" if form == "function" else "<lambda>"), error.value
    assert "tf__" not in name and "outer_factory" not in name, error.value
