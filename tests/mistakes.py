# -*- coding: utf-8 -*-
"""The table of mistakes for test_7_errors.py: each a function, its exception and the facts in the text."""
from __future__ import absolute_import, division, print_function

import numpy as np
import pytest
import tensorflow as tf

from harness import IndexedSlices, variable
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
