# -*- coding: utf-8 -*-
"""Section 8 of docs/contract.md: graphs that are exported, imported and saved keep the custom gradient, or fail."""
from __future__ import absolute_import, division, print_function

import numpy as np
import pytest
import tensorflow as tf

from harness import HAS_RESOURCE, VERSION, get_variable, gradients_of, new_session, v1
from programs import in_order
from tfgradcompat import custom_grad, recompute

# Before 1.4 the carrier is a function, and what TensorFlow imports of it has lost its gradient.
IMPORTS = VERSION >= (1, 4)
imports = pytest.mark.skipif(not IMPORTS, reason="TensorFlow 0.12-1.3 cannot import the carrier: see the test of its errors (8.4)")


@custom_grad
def ten(x):
    """2 x, with a gradient of ten."""
    return x * 2., lambda dy: 10. * dy


@custom_grad
def square(x):
    """x^2, with a gradient of 5 x^2, of which the second one is 10 x."""
    return x * x, lambda dy: 5. * dy * x * x


@custom_grad
def mixed(x, scale, options=None, *more):
    """Two outputs; gradients of 7 and 11 times what the options say."""
    k = np.float32(1.) if options is None else options["k"][0]
    assert options is None or options["name"] == "text" and options["dtype"] == tf.float32 and options["none"] is None
    return {"a": x * scale, "b": [m * 3. for m in more]}, lambda a, *bs: [7. * k * a] + [11. * k * b for b in bs]


@custom_grad
def noisy(x):
    factor = (tf.random.uniform if VERSION >= (1, 13) else tf.random_uniform)([])
    return x * factor, lambda dy: 10. * dy * factor


@custom_grad
def with_variable(x):
    w = v1.get_variable("w", [], v1.float32)
    return x * w, lambda dy, variables: (10. * dy, [20. * dy])


@custom_grad
def with_state(x):
    w = v1.get_variable("state", [], v1.float32, trainable=False)
    return x * w, lambda dy: 10. * dy


@custom_grad
def with_keywords(x, **options):
    return x * options["scale"], lambda dy: options["factor"] * dy


RESULTS = {"count": 1}


@custom_grad
def changing(x):
    return [x * 2.] * RESULTS["count"], lambda *dys: 10. * sum(dys)


class Layer(object):
    @custom_grad
    def method(self, x):
        return x * 2., lambda dy: 10. * dy


def inside(factor):
    @custom_grad
    def scaled(x):
        return x * 1., lambda dy: factor * dy
    return scaled


def exported(build):
    """The meta graph of `y = build(x)`."""
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [], name="x")
        tf.identity(build(x), name="y")
        return v1.train.export_meta_graph(graph=graph) if VERSION >= (1, 1) else tf.train.export_meta_graph()


def imported(meta_graph, scope=None):
    """`(x, y)` in the current graph."""
    v1.train.import_meta_graph(meta_graph, import_scope=scope)
    prefix = scope + "/" if scope else ""
    graph = v1.get_default_graph()
    return graph.get_tensor_by_name(prefix + "x:0"), graph.get_tensor_by_name(prefix + "y:0")


def run(tensors, x, value=3.):
    with new_session(v1.get_default_graph()) as session:
        return [float(v) for v in session.run(tensors, {x: value})]


# --------------------------------------------------------------------------------------------------------- 8.4 meta graphs
CALLS = [
    (ten, 10.),
    (lambda x: ten(x=x), 10.),
    (lambda x: ten(ten(x)), 100.),
    (lambda x: mixed(x, 2.)["a"], 7.),
    (lambda x: mixed(x, scale=2., options={"k": (2., 3), "name": "text", "dtype": tf.float32, "none": None})["a"], 14.),
    (lambda x: (lambda o: o["a"] + o["b"][1])(mixed(
        x, 2, {"k": [np.float32(3.)], "name": "text", "dtype": tf.float32, "none": None}, x, x)), 21. + 33.),
    (lambda x: with_keywords(x, scale=2., factor=9.), 9.),
    (lambda x: tf.cond(x > 0., lambda: ten(x), lambda: x), 10.),
]


@imports
@pytest.mark.clause("8.4")
@pytest.mark.needs("in_graph")
@pytest.mark.parametrize("call, gradient", CALLS, ids=["plain", "keyword", "twice", "default", "options", "more", "keywords", "branch"])
@pytest.mark.parametrize("scope", [None, "scope"], ids=["plain", "scope"])
def test_an_imported_meta_graph_has_the_gradient(mode, call, gradient, scope):
    meta_graph = exported(call)
    with tf.Graph().as_default():
        x, y = imported(meta_graph, scope)
        assert run(gradients_of(y, [x]), x) == [gradient]


@imports
@pytest.mark.clause("8.4")
@pytest.mark.needs("in_graph")
def test_two_imported_into_one_graph_beside_calls_of_its_own(mode):
    one, other = exported(ten), exported(lambda x: square(square(x)))
    with tf.Graph().as_default():
        x1, y1 = imported(one, "first")
        x2, y2 = imported(other, "second")
        x3, y3 = imported(one, "third")
        own = square(x1)
        gradients = [gradients_of(y, [x])[0] for y, x in ((y1, x1), (y2, x2), (y3, x3), (own, x1))]
        with new_session(v1.get_default_graph()) as session:
            got = session.run(gradients, {x1: 1., x2: 2., x3: 3.})
    assert [float(g) for g in got] == [10., 5. * 16. * 5. * 4., 10., 5.]


@imports
@pytest.mark.clause("8.4")
@pytest.mark.needs("in_graph")
def test_a_graph_def_and_the_second_order(mode):
    graph_def = exported(square).graph_def
    with tf.Graph().as_default():
        x, y = tf.import_graph_def(graph_def, return_elements=["x:0", "y:0"], name="")
        first = gradients_of(y, [x])[0]
        assert run([first, gradients_of(first, [x])[0]], x) == [45., 30.]


@imports
@pytest.mark.clause("8.4")
@pytest.mark.needs("in_graph")
def test_training_goes_on_with_what_was_saved(mode, tmpdir):
    """Step by step w -= 0.1 * 10 * (w - 1)', of which the loss (2 w) knows nothing: 3, 2, 1 and, loaded, 0."""
    path = str(tmpdir.join("model"))
    with tf.Graph().as_default() as graph:
        w = get_variable("w", np.float32(3.), HAS_RESOURCE)
        loss = tf.identity(ten(tf.identity(w)), name="loss")
        train = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
        with new_session(graph) as session:
            session.run(v1.global_variables_initializer())
            session.run(train)
            session.run(train)
            v1.train.Saver().save(session, path)
    with tf.Graph().as_default() as graph:
        saver = v1.train.import_meta_graph(path + ".meta")
        w = v1.trainable_variables()[0]
        train = v1.train.GradientDescentOptimizer(0.1).minimize(graph.get_tensor_by_name("loss:0"), var_list=[w], name="again")
        with new_session(graph) as session:
            saver.restore(session, path)
            session.run(train)
            assert abs(float(session.run(w)) - 0.) < 1e-6


@imports
@pytest.mark.clause("8.4")
@pytest.mark.needs("in_graph")
@pytest.mark.parametrize("call, error, words", [
    (inside(3.), LookupError, ["scaled", "not known in this process"]),
    (custom_grad(lambda x: (x * 2., lambda dy: dy)), LookupError, ["lambda", "not known in this process"]),
    (Layer().method, LookupError, ["method", "Layer", "graph cannot keep"]),
    (with_variable, LookupError, ["with_variable", "'w:0'", "as arguments"]),
    (with_state, LookupError, ["with_state", "'state", "as arguments"]),
    (noisy, RuntimeError, ["noisy", "random"]),
    (recompute(ten), LookupError, ["ten", "not known in this process"]),
], ids=["nested", "lambda", "object", "variable", "state", "random", "recompute"])
def test_what_cannot_be_made_again_is_an_error(mode, call, error, words):
    meta_graph = exported(call)
    with tf.Graph().as_default():
        x, y = imported(meta_graph)
        with pytest.raises(error) as caught:
            gradients_of(y, [x])
    assert all(word in str(caught.value) for word in words), str(caught.value)


@imports
@pytest.mark.clause("8.4")
@pytest.mark.needs("in_graph")
def test_a_function_that_has_changed_since_is_an_error(mode, monkeypatch):
    meta_graph = exported(lambda x: changing(x)[0])
    monkeypatch.setitem(RESULTS, "count", 2)
    with tf.Graph().as_default():
        x, y = imported(meta_graph)
        with pytest.raises(LookupError, match="other results"):
            gradients_of(y, [x])


@imports
@pytest.mark.clause("8.4")
@pytest.mark.needs("in_graph")
def test_another_function_of_the_same_name_is_not_taken_for_it(mode):
    scope = {"__name__": "of_one_name", "custom_grad": custom_grad}
    source = "@custom_grad\ndef f(x):\n    return x * 1., lambda dy: %d. * dy\n"
    exec(source % 3, scope)
    first = scope["f"]
    exec(source % 4, scope)
    one, other = exported(first), exported(scope["f"])
    with tf.Graph().as_default():
        (x, y), (x2, y2) = imported(one, "one"), imported(other, "other")
        assert run(gradients_of(y, [x]), x) == [3.]
        assert run(gradients_of(y2, [x2]), x2) == [4.]


@pytest.mark.clause("8.4")
@pytest.mark.needs("in_graph")
@pytest.mark.skipif(IMPORTS, reason="from TensorFlow 1.4 on the gradient is there (8.4)")
def test_an_old_release_fails_rather_than_take_the_true_gradient(mode):
    meta_graph = exported(ten)
    with tf.Graph().as_default():
        with pytest.raises(Exception) as caught:  # KeyError or ValueError at the import, NotFoundError when it runs
            x, y = imported(meta_graph)
            run(gradients_of(y, [x]), x)
    assert not isinstance(caught.value, AssertionError)


# ------------------------------------------------------------------------------------------------ 8.4 in another process
MODULE = """
import tensorflow as tf
from tfgradcompat import custom_grad

@custom_grad
def ten(x):
    return x * 2., lambda dy: 10. * dy

@custom_grad
def hidden(x):
    sine = tf.sin(x)  # which only the gradient reads
    return x * 2., lambda dy: dy * sine * x

def inside(factor):
    @custom_grad
    def inside(x):
        return x * 1., lambda dy: factor * dy
    return inside
"""

SAVE = """
import model, tensorflow as tf
v1 = getattr(getattr(tf, "compat", None), "v1", None) or tf
with tf.Graph().as_default():
    x = v1.placeholder(tf.float32, [], name="x")
    tf.identity(model.ten(x), name="y")
    v1.train.export_meta_graph("graph.meta")
"""

SAVE_MODEL = """
import model, tensorflow as tf

class Net(tf.Module):
    def __init__(self):
        self.w = tf.Variable(3.)
        self.nested = model.inside(17.), model.inside(100.)

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def ten(self, x):
        return model.ten(x) * self.w + model.ten(2. * x)

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def closures(self, x):
        return tf.cond(x > 0., lambda: self.nested[0](x), lambda: self.nested[1](x))

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def hidden(self, x):
        return model.hidden(x)

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def mapped(self, x):
        return tf.vectorized_map(lambda x: model.ten(x) + model.hidden(x), tf.stack([x, 3. * x]))

net = Net()
tf.saved_model.save(net, "saved")
options = getattr(tf.saved_model, "SaveOptions", dict)()
if hasattr(options, "experimental_custom_gradients"):  # the other choice, from 2.6 on
    written = options.experimental_custom_gradients
    options.experimental_custom_gradients = not written
    try:
        tf.saved_model.save(net, "other", options=options)
        assert written
    except ValueError as error:
        assert not written and "tracing gradients" in str(error)
assert net.ten(1.) == 10.
"""

LOAD = """
import tensorflow as tf
import tfgradcompat
v1 = getattr(getattr(tf, "compat", None), "v1", None) or tf

def gradient():
    with tf.Graph().as_default() as graph:
        v1.train.import_meta_graph("graph.meta")
        x, y = graph.get_tensor_by_name("x:0"), graph.get_tensor_by_name("y:0")
        dx = v1.gradients(y, x)[0]
        with v1.Session() as session:
            return session.run(dx, {x: 1.})

try:
    gradient()
except LookupError as error:
    assert "model.ten" in str(error), error
else:
    raise AssertionError("no error")
"""

LOAD_MODEL = """
written = getattr(getattr(tf.saved_model, "SaveOptions", dict)(), "experimental_custom_gradients", False)
net = tf.saved_model.load("saved")

def gradients(f, value=1.):
    x = tf.constant(value)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return [None if g is None else float(g) for g in tape.gradient(y, [x, net.w])]

def fails(f, name):
    try:
        gradients(f)
    except LookupError as error:
        assert name in str(error) or "StatelessIf" in str(error), error  # up to 2.5 branches have no gradient once loaded
        return True

def has_hidden():
    # sin(x) x
    assert abs(gradients(net.hidden, 2.)[0] - 1.8185949) < 1e-5

if written:
    assert gradients(net.ten) == [50., 2.] and gradients(net.closures) == [17., None] and gradients(net.closures, -1.) == [100., None]
    has_hidden()
    # 10 + sin(1) 1, and three times 10 + sin(3) 3
    assert abs(gradients(net.mapped)[0] - (10.841471 + 3. * 10.42336)) < 1e-4
    net = tf.saved_model.load("other")
assert fails(net.ten, "model.ten") and fails(net.closures, "inside") and fails(net.hidden, "model.hidden")
assert fails(net.mapped, "model.")
"""

IMPORT = """
import model
assert gradient() == 10.
"""

IMPORT_MODEL = """
if written:
    assert fails(net.ten, "model.ten")
else:
    assert gradients(net.ten) == [50., 2.], gradients(net.ten)
    has_hidden()
    assert fails(net.mapped, "vectorized_map")
assert fails(net.closures, "inside")
"""


@imports
@pytest.mark.clause("8.4")
@pytest.mark.once
def test_in_another_process(tmpdir):
    if VERSION >= (2, 0):  # tf.saved_model.save
        in_order(tmpdir, MODULE, SAVE + SAVE_MODEL, LOAD + LOAD_MODEL + IMPORT + IMPORT_MODEL)
    else:
        in_order(tmpdir, MODULE, SAVE, LOAD + IMPORT)
