# -*- coding: utf-8 -*-
"""Section 2 of docs/contract.md: arguments. Nests are in test_2_nests.py."""
from __future__ import absolute_import, division, print_function

import functools

import numpy as np
import pytest
import tensorflow as tf

from harness import PY2, VERSION, check, gradients_of, new_session
from hasty_threads import built, in_threads
from tfgradcompat import custom_grad

@custom_grad
def f(a, b, k=10.):
    """a * b, with gradients that tell which argument they belong to: 100 * k for a and -k for b."""
    def grad(dy):
        return 100. * k * dy, -k * dy
    return a * b, grad


# ----------------------------------------------------------------------------------------------------------- 2.1 binding
@pytest.mark.clause("2.1")
@pytest.mark.parametrize("call, k", [
    (lambda x, y: f(x, y), 10.),
    (lambda x, y: f(a=x, b=y), 10.),
    (lambda x, y: f(b=y, a=x), 10.),
    (lambda x, y: f(x, b=y), 10.),
    (lambda x, y: f(x, y, 2.), 2.),
    (lambda x, y: f(x, y, k=2.), 2.),
    (lambda x, y: f(k=2., b=y, a=x), 2.),
    (lambda x, y: f(*[x, y]), 10.),
    (lambda x, y: f(x, **{"b": y, "k": 2.}), 2.),
], ids=["positional", "all by keyword", "keywords in another order", "mixed", "positional option", "option by keyword",
        "everything by keyword", "unpacked list", "unpacked dictionary"])
def test_every_way_to_pass_an_argument(mode, call, k):
    check(mode, call, [3., 2.], [100. * k, -k], value=6.)


@pytest.mark.clause("2.1")
def test_a_default_is_seen_by_f(mode):
    seen = []

    @custom_grad
    def g(x, how="half", mask=None):
        seen.append((how, mask))
        return x * 1., lambda dy: .5 * dy

    check(mode, g, [2.], [.5])
    check(mode, lambda x: g(x, mask=3), [2.], [.5])
    assert set(seen) == {("half", None), ("half", 3)}


@pytest.mark.clause("2.1")
@pytest.mark.parametrize("count", [1, 2, 5])
def test_star_args(mode, count):
    @custom_grad
    def g(*xs):
        total = xs[0]
        for x in xs[1:]:
            total = total + x
        return total * 1., lambda dy: [(i + 1.) * dy for i in range(len(xs))]

    check(mode, g, [float(i) for i in range(count)], [i + 1. for i in range(count)], value=float(sum(range(count))))


@pytest.mark.clause("2.1")
def test_star_args_behind_named_ones(mode):
    @custom_grad
    def g(a, *rest, **options):
        def grad(dy):
            return [options["k"] * dy] + [-dy] * len(rest)
        return a * rest[0] * rest[1], grad

    check(mode, lambda x, y, z: g(x, y, z, k=4.), [2., 3., 5.], [4., -1., -1.], value=30.)


@pytest.mark.clause("2.1")
def test_tensors_in_star_star_kwargs_come_by_name(mode):
    # a dictionary is flattened by sorted key: x, then alpha, then beta, however they were passed
    @custom_grad
    def g(x, **tensors):
        def grad(dy):
            return 2. * dy, 3. * dy, 5. * dy
        return x * tensors["alpha"] / tensors["beta"], grad

    check(mode, lambda x, a, b: g(x, beta=b, alpha=a), [6., 2., 3.], [2., 3., 5.], value=4.)
    check(mode, lambda x, a, b: g(alpha=a, x=x, beta=b), [6., 2., 3.], [2., 3., 5.], value=4.)


@pytest.mark.clause("2.1")
@pytest.mark.skipif(PY2, reason="keyword-only arguments are no syntax of Python 2, on TensorFlow 0.12-2.1 (2.1)")
def test_keyword_only_arguments_keep_the_order_of_the_signature(mode):
    scope = {"custom_grad": custom_grad}
    exec("@custom_grad\n"
         "def g(x, *, zeta, alpha=2.):\n"
         "    return x * zeta * alpha, lambda dy: (3. * dy, 5. * dy) if isinstance(alpha, float) else (3. * dy, 5. * dy, 7. * dy)\n",
         scope)
    g = scope["g"]
    check(mode, lambda x, z: g(x, zeta=z), [3., 4.], [3., 5.], value=24.)
    check(mode, lambda x, z, a: g(x, alpha=a, zeta=z), [3., 4., 5.], [3., 5., 7.], value=60.)


@pytest.mark.clause("2.1")
def test_an_argument_may_be_called_like_our_own_words(mode):
    @custom_grad
    def g(self, f, name, args, kwargs, variables, dy=None):
        return self * f * name * args * kwargs * variables, lambda d: [2. * d] * 6

    check(mode, lambda *xs: g(xs[0], kwargs=xs[4], f=xs[1], name=xs[2], args=xs[3], variables=xs[5]), [1.] * 6, [2.] * 6)


# ------------------------------------------------------------------------------------------------- 2.3 one gradient per input
FORMS = [
    ("flat list", lambda x, y, z: [x, y, z]),
    ("flat tuple", lambda x, y, z: (x, y, z)),
    ("structured", lambda x, y, z: (x, [y, z])),
    ("structured as a list", lambda x, y, z: [x, (y, z)]),
    ("one entry per argument", lambda x, y, z: (x, [y, z], None)),
    ("one entry per leaf", lambda x, y, z: (x, y, z, None)),
    ("one entry per leaf, a number", lambda x, y, z: [x, y, z, 0.]),
]


@pytest.mark.clause("2.3")
@pytest.mark.parametrize("form", [form[1] for form in FORMS], ids=[form[0] for form in FORMS])
def test_forms_of_several_gradients(mode, form):
    @custom_grad
    def g(x, pair, k=1.):
        return x * pair[0] * pair[1] * k, lambda dy: form(2. * dy, 3. * dy, 5. * dy)

    check(mode, lambda x, y, z: g(x, [y, z]), [1., 1., 1.], [2., 3., 5.])


@pytest.mark.clause("2.3")
@pytest.mark.parametrize("form, expected", [
    (lambda x, y, z: (x, None, z), [2., None, 5.]),
    (lambda x, y, z: (None, [y, None]), [None, 3., None]),
    (lambda x, y, z: (x, None), [2., None, None]),
    (lambda x, y, z: (None, None, None), [None, None, None]),
], ids=["flat", "in the structure", "for a whole nest", "for each"])
def test_none_adds_nothing(mode, form, expected):
    @custom_grad
    def g(x, pair):
        return x * pair[0] * pair[1], lambda dy: form(2. * dy, 3. * dy, 5. * dy)

    check(mode, lambda x, y, z: g(x, [y, z]), [1., 1., 1.], expected)


@pytest.mark.clause("2.3")
def test_none_leaves_other_paths_alone(mode):
    @custom_grad
    def g(x, y):
        return x * y, lambda dy: (dy, None)

    check(mode, lambda x, y: g(x, y) + y, [2., 3.], [1., 1.])


@pytest.mark.clause("2.3")
@pytest.mark.parametrize("form", [lambda d: d, lambda d: [d], lambda d: (d,)], ids=["bare", "list", "tuple"])
def test_forms_of_one_gradient(mode, form):
    @custom_grad
    def g(x):
        return x * 1., lambda dy: form(5. * dy)

    check(mode, g, [[1., 2.]], [[5., 5.]])


@pytest.mark.clause("2.3")
@pytest.mark.parametrize("form", [lambda a, b: [a, b], lambda a, b: (a, b), lambda a, b: [[a, b]], lambda a, b: ((a, b),)],
                         ids=["flat list", "flat tuple", "list in a list", "tuple in a tuple"])
def test_forms_for_one_list_argument(mode, form):
    @custom_grad
    def g(pair):
        return pair[0] * pair[1], lambda dy: form(3. * dy, 4. * dy)

    check(mode, lambda x, y: g([x, y]), [1., 1.], [3., 4.])


@pytest.mark.clause("2.3")
@pytest.mark.parametrize("form", [lambda d: d, lambda d: [d], lambda d: (d,), lambda d: [d["a"], d["b"]]],
                         ids=["dictionary", "in a list", "in a tuple", "flat"])
def test_forms_for_one_dictionary_argument(mode, form):
    @custom_grad
    def g(d):
        return d["a"] * d["b"], lambda dy: form({"b": 4. * dy, "a": 3. * dy})

    check(mode, lambda x, y: g({"b": y, "a": x}), [1., 1.], [3., 4.])


@pytest.mark.clause("2.3")
def test_entries_for_what_is_no_tensor_between_inputs(mode):
    # native's habit: one entry per leaf, in place of what is no tensor stands None
    @custom_grad
    def g(x, mask, how, y):
        return x * y, lambda dy: (2. * dy, None, None, 3. * dy)

    check(mode, lambda x, y: g(x, None, "half", y), [1., 1.], [2., 3.])


# --------------------------------------------------------------------------------------------------------- 2.4 calls
@pytest.mark.clause("2.4")
def test_arguments_are_left_as_they_were(mode):
    kept = []

    @custom_grad
    def g(pair, options):
        return pair[0] * pair[1] * options["a"][0], lambda dy: (3. * dy, 4. * dy, None)

    def program(x, y):
        pair, array = [x, y], np.array([1.], np.float32)
        options = {"a": array}
        result = g(pair, options)
        kept.append(len(pair) == 2 and pair[0] is x and pair[1] is y and list(options) == ["a"] and options["a"] is array)
        return tf.reduce_sum(result)

    check(mode, program, [1., 1.], [3., 4.])
    assert all(kept)


@pytest.mark.clause("2.4")
def test_f_may_change_the_lists_that_it_gets(mode):
    kept = []

    @custom_grad
    def g(pair, options):
        options["sum"] = pair.pop() + pair.pop()
        return options["sum"] * 1., lambda dy: (3. * dy, 4. * dy)

    def program(x, y):
        pair, options = [x, y], {}
        result = g(pair, options)
        kept.append(len(pair) == 2 and pair[0] is x and pair[1] is y and options == {})
        return result

    check(mode, program, [1., 2.], [3., 4.], value=3.)
    assert all(kept)


@pytest.mark.clause("2.4")
def test_calls_add_one_entry_to_the_registry_at_most(mode):
    from tensorflow.python.framework import ops

    @custom_grad
    def g(x):
        return x * 2., lambda dy: 3. * dy

    def names():
        return set(name for name in ops._gradient_registry._registry if "custom" in name.lower())

    def program(x):
        for _ in range(10):
            x = g(x)
        return x

    before = names()
    mode.execute(program, 1.)
    assert len(names() - before) <= 1
    after = names()
    mode.execute(program, 1.)
    assert names() <= after  # those of other tests may go meanwhile


@pytest.mark.clause("2.4")
def test_a_changed_array_does_not_change_an_earlier_call(mode):
    @custom_grad
    def g(x, array):
        return x * array, lambda dy: (array * dy, None)

    def program(x):
        # eager tensors of many releases (1.5 to 2.6 at least) share the memory of an array that begins at a multiple of 64 bytes
        memory = np.zeros(128, np.uint8)
        start = -memory.ctypes.data % 64
        array = memory[start:start + 4].view(np.float32)
        array[0] = 2.
        result = g(x, array)
        array[0] = 100.
        return result

    check(mode, program, [[3.]], [[2.]], value=[6.])


@pytest.mark.clause("2.4")
def test_twice_in_one_graph(mode):
    check(mode, lambda x, y: f(x, y) + f(y, x, k=2.), [3., 2.], [1000. - 2., -10. + 200.])


@pytest.mark.clause("2.4")
def test_chained(mode):
    @custom_grad
    def g(x):
        return x * 1., lambda dy: 2. * dy

    check(mode, lambda x: g(g(g(x))), [3.], [8.], value=3.)


@pytest.mark.clause("2.4")
def test_two_dtypes_in_one_graph(mode):
    @custom_grad
    def g(x):
        return x * 2, lambda dy: 5 * dy

    check(mode, lambda x, y: (g(x), g(y)), [np.float32([1, 2]), np.float64([3])], [[5, 5], [5]], value=([2, 4], [6]))


@pytest.mark.clause("2.4")
def test_nested_in_another_decorated_function(mode):
    @custom_grad
    def inner(x):
        return x * 2., lambda dy: 7. * dy

    @custom_grad
    def outer(x):
        return inner(x) + 1., lambda dy: 5. * dy

    check(mode, outer, [3.], [5.], value=7.)
    check(mode, lambda x: outer(inner(x)), [3.], [35.], value=13.)


THREADS, CALLS = 8, 20


@custom_grad
def by(x, factor):
    return x * 1., lambda dy: factor * dy


def factor_of(thread, call):
    return 1. + thread + 100. * call


EXPECTED = {(thread, call): factor_of(thread, call) for thread in range(THREADS) for call in range(CALLS)}


@pytest.mark.clause("2.4")
def test_threads_each_with_its_own_graph(mode):
    def work(thread, call):
        return float(mode.gradients(lambda x: by(x, factor_of(thread, call)), 1.)[0])

    calls = CALLS if mode.calls_directly else 4  # tracing a function takes its time
    assert in_threads(work, THREADS, calls) == {key: factor for key, factor in EXPECTED.items() if key[1] < calls}


@pytest.mark.clause("2.4")
@pytest.mark.needs("in_graph")
def test_threads_that_build_one_graph(mode):
    with tf.Graph().as_default() as graph:
        x = tf.constant(1.)

        def work(thread, call):
            def make():
                with tf.name_scope("thread%d_call%d/" % (thread, call)):
                    return by(x, factor_of(thread, call))
            return built(graph, make)

        outputs = in_threads(work, THREADS, CALLS)
        gradients = [gradients_of(outputs[key], [x])[0] for key in sorted(outputs)]
        with new_session(graph) as session:
            assert dict(zip(sorted(outputs), session.run(gradients))) == EXPECTED


@pytest.mark.clause("2.2")
def test_a_tensor_frozen_in_a_partial_is_an_input(mode):
    def product(x, w):
        return x * w, lambda dy: (10. * dy, 20. * dy)

    check(mode, lambda x, w: custom_grad(functools.partial(product, w=w))(x), [2., 3.], [10., 20.], value=6.)


@pytest.mark.clause("2.2")
@pytest.mark.skipif(VERSION < (1, 14), reason="TensorFlow 0.12-1.13 has no tf.nest that looks into composite tensors (2.2)")
def test_a_dataset_is_no_tensor(mode):
    seen = []

    @custom_grad
    def g(x, dataset):
        seen.append(dataset)
        return x * 2., lambda dy: 3. * dy

    def program(x):
        dataset = tf.data.Dataset.range(3)
        result = g(x, dataset)
        assert seen[-1] is dataset
        return result

    check(mode, program, [1.], [3.], value=2.)
