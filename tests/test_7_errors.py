# -*- coding: utf-8 -*-
"""Section 7 of docs/contract.md: errors. One table of mistakes: each its function, its exception and the facts in the text."""
from __future__ import absolute_import, division, print_function

import os
import re
import traceback

import numpy as np
import pytest
import tensorflow as tf

import tfgradcompat
from harness import IndexedSlices, VERSION, do_not_convert, new_session, v1, variable
from tfgradcompat import custom_grad

MISTAKES = []
HELD = []  # the variable that a function of the table reads without taking it


def holding(f):
    """A program in which `f` reads a variable that is no argument of it."""
    def program(x, w):
        HELD[:] = [w]
        return f(x)

    return program


def mistake(exception, *facts):
    """Registers a mistake: a function that gives `(f, arrays)` or `(f, arrays, program)`, where calling or differentiating `f` is wrong.

    `facts`: regular expressions, each of which must be found in the text of the error.
    """
    def register(make):
        MISTAKES.append(pytest.param(make, exception, facts, id=make.__name__))
        return make
    return register


# ---------------------------------------------------------------------------------------- ValueError: number of gradients
@mistake(ValueError, r"\b1\b", r"\b2\b", "'x'", "'y'")
def too_few_gradients():
    @custom_grad
    def f(x, y):
        return x * y, lambda dy: [dy]
    return f, [1., 1.]


@mistake(ValueError, r"\b3\b", r"\b2\b", "'x'", "'y'")
def too_many_gradients():
    @custom_grad
    def f(x, y):
        return x * y, lambda dy: (dy, dy, dy)
    return f, [1., 1.]


@mistake(ValueError, r"\b0\b", r"\b1\b", "'x'")
def no_gradient():
    @custom_grad
    def f(x):
        return x * 1., lambda dy: []
    return f, [1.]


@mistake(ValueError, "'x'", r"\?, 4", r"3, 2")
def slices_with_rows_of_another_shape():
    @custom_grad
    def f(x):
        return x[0], lambda dy: IndexedSlices(tf.reshape(tf.tile(dy, [2]), [1, 4]), tf.constant([0]))
    return f, [[[1., 2.], [3., 4.], [5., 6.]]]


@mistake(ValueError, r"\b1\b", r"\b2\b", "'x'", "'y'")
def one_bare_gradient_for_two_inputs():
    @custom_grad
    def f(x, y):
        return x * y, lambda dy: dy
    return f, [1., 1.]


@mistake(ValueError, "None", r"\b2\b", "'x'", "'y'")
def a_forgotten_return():
    @custom_grad
    def f(x, y):
        def grad(dy):
            dy, dy
        return x * y, grad
    return f, [1., 1.]


@mistake(ValueError, r"\b2\b", r"\b1\b", "'x'")
def a_list_of_numbers_for_a_vector():
    @custom_grad
    def f(x):
        return x * 1., lambda dy: [1., 2.]
    return f, [[1., 1.]]


@mistake(ValueError, r"\b2\b", r"\b1\b", "'x'")
def two_gradients_for_one_input():
    @custom_grad
    def f(x):
        return x * 1., lambda dy: (dy, dy)
    return f, [1.]


@mistake(ValueError, r"\b3\b", r"\b2\b", r"xs'\[0\]", r"xs'\[1\]")
def too_many_for_star_args():
    @custom_grad
    def f(*xs):
        return xs[0] * xs[1], lambda dy: [dy, dy, dy]
    return f, [1., 1.]


@mistake(ValueError, r"\b2\b", r"\b3\b", r"'xs'\[2\]")
def too_few_for_a_list():
    @custom_grad
    def f(xs):
        return xs[0] * xs[1] * xs[2], lambda dy: [dy, dy]
    return f, [1., 1., 1.], lambda x, y, z: f([x, y, z])


@mistake(ValueError, r"\b4\b", r"\b2\b", "'x'", "'y'")
def one_more_than_there_are_leaves():
    @custom_grad
    def f(x, k, y):
        return x * y, lambda dy: (dy, None, dy, None)
    return f, [1., 1.], lambda x, y: f(x, "option", y)


@mistake(ValueError, r"\b3\b", r"\b2\b", "'x'", r"'options'\['k'\]|'k'")
def too_many_for_keywords():
    @custom_grad
    def f(x, **options):
        return x * options["k"], lambda dy: (dy, dy, dy)
    return f, [1., 1.], lambda x, y: f(x, k=y)


# ------------------------------------------------------------------------------------- ValueError: structure of gradients
@mistake(ValueError, "'?a'?", "'?b'?", "'?c'?")
def another_key():
    @custom_grad
    def f(d):
        return d["a"] * d["b"], lambda dy: {"a": dy, "c": dy}
    return f, [1., 1.], lambda x, y: f({"a": x, "b": y})


@mistake(ValueError, "'d'", "'?b'?")
def a_missing_key():
    @custom_grad
    def f(d):
        return d["a"] * d["b"], lambda dy: {"a": dy}
    return f, [1., 1.], lambda x, y: f({"a": x, "b": y})


@mistake(ValueError, r"\b3\b", "'pair'", "'z'")
def nested_at_the_wrong_place():
    @custom_grad
    def f(pair, z):
        return pair[0] * pair[1] * z, lambda dy: [[dy], [dy, dy]]
    return f, [1., 1., 1.], lambda x, y, z: f([x, y], z)


@mistake(ValueError, "'pair'")
def a_dictionary_for_a_list():
    @custom_grad
    def f(pair):
        return pair[0] * pair[1], lambda dy: {"a": dy, "b": dy}
    return f, [1., 1.], lambda x, y: f([x, y])


# ------------------------------------------------------------------------------------ ValueError: gradients and variables
@mistake(ValueError, "variables", "weight")
def no_pair_for_a_function_with_variables():
    @custom_grad
    def f(x):
        return x * HELD[0], lambda dy, variables: dy
    return f, [1., variable(1., name="weight")], holding(f)


@mistake(ValueError, "variables", r"\b2\b", r"\b1\b", "weight")
def too_many_variable_gradients():
    @custom_grad
    def f(x):
        return x * HELD[0], lambda dy, variables: (dy, [dy, dy])
    return f, [1., variable(1., name="weight")], holding(f)


@mistake(ValueError, "variables", r"\b0\b", r"\b1\b", "weight")
def no_variable_gradients():
    @custom_grad
    def f(x):
        return x * HELD[0], lambda dy, variables: (dy, [])
    return f, [1., variable(1., name="weight")], holding(f)


@mistake(ValueError, r"\b2\b", r"\b1\b", "'x'")
def too_many_input_gradients_beside_variables():
    @custom_grad
    def f(x):
        return x * HELD[0], lambda dy, variables: ([dy, dy], [dy])
    return f, [1., variable(1., name="weight")], holding(f)


@mistake(ValueError, "variables", r"\b3\b")
def a_triple_beside_variables():
    @custom_grad
    def f(x):
        return x * HELD[0], lambda dy, variables: (dy, dy, [dy])
    return f, [1., variable(1., name="weight")], holding(f)


@mistake(ValueError, "weight", r"\(2,\)|\[2\]", r"\(3,\)|\[3\]")
def another_shape_for_a_variable():
    @custom_grad
    def f(x):
        return x * tf.reduce_sum(HELD[0]), lambda dy, variables: (dy, [tf.ones([3]) * dy])
    return f, [1., variable([1., 2.], name="weight")], holding(f)


@mistake(TypeError, "weight", "complex64", "float32")
def a_complex_gradient_for_a_variable():
    @custom_grad
    def f(x):
        return x * HELD[0], lambda dy, variables: (dy, [tf.complex(dy, dy)])
    return f, [1., variable(1., name="weight")], holding(f)


# ----------------------------------------------------------------------------------------- ValueError: shape of gradients
@mistake(ValueError, "'x'", r"\(3,\)|\[3\]", r"\(\)|\[\]")
def a_scalar_for_a_vector():
    @custom_grad
    def f(x):
        return x * 1., lambda dy: tf.reduce_sum(dy)
    return f, [[1., 2., 3.]]


@mistake(ValueError, "'x'", r"[(\[]2, 3[)\]]", r"[(\[]3, 2[)\]]")
def a_transposed_gradient():
    @custom_grad
    def f(x):
        return tf.transpose(x), lambda dy: dy
    return f, [np.ones((2, 3), np.float32)]


@mistake(ValueError, "'x'", r"\(3,\)|\[3\]", r"\(1,\)|\[1\]")
def one_element_for_a_vector():
    @custom_grad
    def f(x):
        return x * 1., lambda dy: dy[:1]
    return f, [[1., 2., 3.]]


@mistake(ValueError, "'x'", r"\(3,\)|\[3\]", r"\(4,\)|\[4\]")
def another_length():
    @custom_grad
    def f(x):
        return x * 1., lambda dy: tf.zeros([4])
    return f, [[1., 2., 3.]]


@mistake(ValueError, "'x'", r"[(\[]2, 3[)\]]", r"\(3,\)|\[3\]")
def a_lower_rank():
    @custom_grad
    def f(x):
        return x * 1., lambda dy: dy[0]
    return f, [np.ones((2, 3), np.float32)]


@mistake(ValueError, "'x'", r"\(3,\)|\[3\]", r"\(\)|\[\]")
def a_number_for_a_vector():
    @custom_grad
    def f(x):
        return x * 1., lambda dy: 5.
    return f, [[1., 2., 3.]]


@mistake(ValueError, "'x'", r"\(3,\)|\[3\]", r"\(2,\)|\[2\]")
def an_array_of_another_shape():
    @custom_grad
    def f(x):
        return x * 1., lambda dy: np.ones(2, np.float32)
    return f, [[1., 2., 3.]]


@mistake(ValueError, "'x'", r"\(3,\)|\[3\]", r"\(5,\)|\[5\]")
def slices_of_another_shape():
    @custom_grad
    def f(x):
        return x[0], lambda dy: IndexedSlices(tf.reshape(dy, [1]), tf.constant([0]), tf.constant([5]))
    return f, [[1., 2., 3.]]


@mistake(ValueError, r"'pair'\[1\]", r"\(2,\)|\[2\]", r"\(\)|\[\]")
def another_shape_in_a_list():
    @custom_grad
    def f(pair):
        return pair[0] * pair[1], lambda dy: [dy, tf.reduce_sum(dy)]
    return f, [[1., 2.], [1., 2.]], lambda x, y: f([x, y])


@mistake(ValueError, r"'nest'\['k'\]\[1\]", r"\(2,\)|\[2\]", r"\(\)|\[\]")
def another_shape_deep_in_a_nest():
    @custom_grad
    def f(nest):
        return nest["a"] * nest["k"][1], lambda dy: [dy, tf.reduce_sum(dy)]
    return f, [[1., 2.], [1., 2.]], lambda x, y: f({"a": x, "k": (None, y)})


@mistake(ValueError, r"xs'\[1\]", r"\(2,\)|\[2\]", r"\(\)|\[\]")
def another_shape_in_star_args():
    @custom_grad
    def f(*xs):
        return xs[0] * xs[1], lambda dy: [dy, tf.reduce_sum(dy)]
    return f, [[1., 2.], [1., 2.]]


@mistake(ValueError, r"'k'", r"\(2,\)|\[2\]", r"\(\)|\[\]")
def another_shape_for_a_keyword():
    @custom_grad
    def f(x, **options):
        return x * options["k"], lambda dy: [dy, tf.reduce_sum(dy)]
    return f, [[1., 2.], [1., 2.]], lambda x, y: f(x, k=y)


# ------------------------------------------------------------------------------------------- TypeError: kind of gradients
@mistake(TypeError, "'x'", "str", "text")
def a_string():
    @custom_grad
    def f(x):
        return x * 1., lambda dy: "text"
    return f, [1.]


@mistake(TypeError, "'x'", "object")
def an_object():
    @custom_grad
    def f(x):
        return x * 1., lambda dy: object()
    return f, [1.]


@mistake(TypeError, "'y'", "function")
def a_function():
    @custom_grad
    def f(x, y):
        return x * y, lambda dy: (dy, lambda: dy)
    return f, [1., 1.]


@mistake(TypeError, "'x'", "complex64", "float32", "real")
def a_complex_tensor():
    @custom_grad
    def f(x):
        return x * 1., lambda dy: tf.complex(dy, dy)
    return f, [1.]


@mistake(TypeError, "'x'", "complex128", "float32")
def a_complex_array():
    @custom_grad
    def f(x):
        return x * 1., lambda dy: np.array(1. + 1j)
    return f, [1.]


@mistake(TypeError, "'x'", "int32", "float32", "cast")
def an_integer_tensor():
    @custom_grad
    def f(x):
        return x * 1., lambda dy: tf.constant(1)
    return f, [1.]


@mistake(TypeError, "'x'", "bool", "float32")
def a_boolean_tensor():
    @custom_grad
    def f(x):
        return x * 1., lambda dy: dy > 0.
    return f, [1.]


@mistake(TypeError, "'x'", "float32")
def an_array_of_strings():
    @custom_grad
    def f(x):
        return x * 1., lambda dy: np.array("text")
    return f, [1.]


@mistake(TypeError, "'x'", "int32", "float32")
def slices_of_integers():
    @custom_grad
    def f(x):
        return x[0], lambda dy: IndexedSlices(tf.constant([1]), tf.constant([0]), tf.constant([3]))
    return f, [[1., 2., 3.]]


# ------------------------------------------------------------------------------------- TypeError: what f returns and takes
@mistake(TypeError, "result", "Tensor")
def only_a_result():
    @custom_grad
    def f(x):
        return x * 1.
    return f, [1.]


@mistake(TypeError, "result", "None")
def nothing_returned():
    @custom_grad
    def f(x):
        x * 1.
    return f, [1.]


@mistake(TypeError, "result", r"\b3\b")
def a_triple():
    @custom_grad
    def f(x):
        return x * 1., x * 2., lambda dy: dy
    return f, [1.]


@mistake(TypeError, "result", "Tensor")
def a_gradient_and_no_function():
    @custom_grad
    def f(x):
        return x * 1., x * 2.
    return f, [1.]


@mistake(TypeError, "result", "Tensor")
def the_wrong_way_round():
    @custom_grad
    def f(x):
        return lambda dy: dy, x * 1.
    return f, [1.]


@mistake(TypeError, "result", "None")
def no_gradient_function():
    @custom_grad
    def f(x):
        return x * 1., None
    return f, [1.]


@mistake(TypeError, "weight", "variables", "argument")
def a_variable_that_is_not_taken():
    @custom_grad
    def f(x):
        return x * HELD[0], lambda dy: dy
    return f, [1., variable(1., name="weight")], holding(f)


@mistake(TypeError, r"\b2\b", r"\(dy\)")
def a_gradient_function_that_takes_too_few():
    @custom_grad
    def f(x):
        return (x * 1., x * 2.), lambda dy: dy
    return f, [1.]


@mistake(TypeError, r"\b1\b", r"\(dy, dz\)")
def a_gradient_function_that_takes_too_many():
    @custom_grad
    def f(x):
        return x * 1., lambda dy, dz: dy
    return f, [1.]


@mistake(TypeError, "y")
def an_argument_is_missing():
    @custom_grad
    def f(x, y):
        return x * y, lambda dy: (dy, dy)
    return f, [1.]


@mistake(TypeError, r"\b3\b|too many")
def one_argument_too_many():
    @custom_grad
    def f(x, y):
        return x * y, lambda dy: (dy, dy)
    return f, [1., 1., 1.]


@mistake(TypeError, "zeta")
def an_unknown_keyword():
    @custom_grad
    def f(x):
        return x * 1., lambda dy: dy
    return f, [1., 1.], lambda x, y: f(x, zeta=y)


@mistake(TypeError, "x")
def an_argument_given_twice():
    @custom_grad
    def f(x):
        return x * 1., lambda dy: dy
    return f, [1., 1.], lambda x, y: f(x, x=y)


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
    where = re.search(r"test_7_errors\.(\S*\.)?f \((.*)\.pyc?:(\d+)\)", text)
    assert where, text
    assert os.path.basename(where.group(2)) == "test_7_errors" and 0 <= int(where.group(3)) - code.co_firstlineno <= 1, text
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
    last_user = max(i for i, file in enumerate(files) if os.path.basename(file).startswith("test_7_errors.py"))
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
