# -*- coding: utf-8 -*-
"""One small set of verbs that means the same on every TensorFlow and in every mode.

A test says *what* is computed and a mode says *where*:

    mode.run(f, 1., 2.)            the values of f, as numpy
    mode.gradients(f, 1., 2.)      one numpy array, or None, per argument
    mode.higher(f, 2, 1.)          first and second gradients
    mode.execute(program, 1.)      any program that makes tensors of tensors

Arguments are numbers, lists and numpy arrays, which reach the function as tensors, and `variable(...)`, which reaches it as a
fresh, initialised variable; gradients are taken with respect to both.

The modes, of which one process has the ones its set-up (see `SETUP`) and its TensorFlow allow:

    graph             a `tf.Graph` of its own and a session; with eager enabled the graph is entered under it (1.9 and newer)
    eager             operations run at once, gradients by tape
    function          inside `tf.function` (before 1.14 `contrib.eager.defun`), the tape around the function
    function_inside   the same with the tape inside the function
"""
from __future__ import absolute_import, division, print_function

import contextlib
import copy

import numpy as np
import tensorflow as tf

# Also for tests, which take everything from here.
from releases import (
    EAGER, GRAPH_UNDER_EAGER_FROM, GradientTape, HAS_FUNCTION, HAS_H5, HAS_RESOURCE,
    HIGHER_ORDER_AROUND_FUNCTION_FROM, IndexedSlices, KERAS_3, PY2, SETUP, TAPE_INSIDE_FROM, VERSION,
    WITHOUT_AUTOGRAPH, compiled_function, do_not_convert, v1)
from values import (
    add_up, as_array, constant, dense, flatten, get_variable, is_float, is_tensor, split_tensors, variable)


# --------------------------------------------------------------------------------------------------------------- modes
class Mode(object):
    """Where a test runs. `in_graph`: operations go to a plain graph; `in_function`: `f` is traced by a TensorFlow function."""

    def __init__(self, name):
        self.name = name
        self.in_graph = name == "graph"
        self.in_function = name.startswith("function")
        self.builds = name != "eager"  # a graph or the body of a function
        self.tape_inside = name == "function_inside"
        self.uses_tape = not self.in_graph
        self.tape_around = self.uses_tape and not self.tape_inside
        self.calls_directly = not self.in_function
        self.autograph = self.in_function and HAS_FUNCTION  # whether its functions are converted by AutoGraph: see for_test
        self.higher_order = self.tape_inside or not self.in_function or VERSION >= HIGHER_ORDER_AROUND_FUNCTION_FROM
        # Gradients of plain tf.cond and tf.while_loop fail inside functions before: a tape inside before 1.14, one around before 1.11.
        self.control_flow = not self.in_function or VERSION >= ((1, 14) if self.tape_inside else (1, 11))
        # A backward function of 1.5 to 2.0 cannot read variables that the forward function did not read.
        self.in_grad_reads_variables = not self.in_function or self.tape_inside or VERSION >= (2, 1)
        # A cond in a cond (tf.case) in a function before 1.14, and a gather from a variable that gets no gradient with the tape inside.
        self.nested_cond = self.unconnected_gathers = not self.in_function or VERSION >= (1, 14)
        # Before 1.15 a backward function cannot read all variables; then see also higher_order.
        self.second_order_of_reads = self.higher_order
        # Functions before 1.11 with the tape inside fail on any variable that gets no gradient.
        self.unconnected_variables = not self.tape_inside or VERSION >= (1, 11)
        # Functions before 1.13 fail where they give back a boolean and a gradient is asked for.
        self.boolean_outputs = not self.in_function or self.tape_inside or VERSION >= (1, 13)
        # The functions of 1.5 and 1.6 cannot give back the IndexedSlices that a gradient inside them may be.
        self.sparse_gradients = not self.in_function or VERSION >= (1, 7)
        # A step of an optimizer is taken where the tape is; one around a function sees only the loss that it gives back.
        self.takes_steps = not self.tape_around or self.calls_directly
        self.last_sparse = None
        if self.in_graph:
            self.variable_kinds = ["ref"] + (["resource"] if HAS_RESOURCE else [])
        else:
            self.variable_kinds = ["resource"] + (["keras"] if VERSION >= (1, 14) else [])

    def __repr__(self):
        return "<mode %s, TensorFlow %s, set-up %s>" % (self.name, tf.__version__, SETUP)

    def for_test(self, section, needs):
        """The mode that a test of this section gets, or None where it is not what the test needs.

        To convert the functions of a test takes several times as long as the test itself. AutoGraph matters to how a function is
        decorated, called and named (sections 1, 2, 6 and 7), little to what comes after the call (3, 4, 5, 9 and 10), not to the
        route, and to where the tape stands only in section 6. So it is off elsewhere, except for tests that need it. Section 10,
        whose functions are made of decorated ones, leaves out the other route with the tape inside.
        """
        if not all(getattr(self, name) for name in needs) or section == "10" and SETUP == "override" and self.tape_inside:
            return None
        off = SETUP == "override" or section in WITHOUT_AUTOGRAPH or self.tape_inside and section != "6"
        mode = copy.copy(self)
        mode.autograph = self.autograph and (not off or "autograph" in needs or "python_control_flow" in needs)
        return mode

    @property
    def python_control_flow(self):
        return self.autograph or self.name == "eager"

    # ---------------------------------------------------------------------------------------------- the four verbs
    def run(self, f, *arrays, **options):
        """The values of `f(*arrays)`: tensors become numpy, everything else in the nest stays."""
        if self.tape_inside:
            return self.execute(f, *arrays, **options)
        return self.execute(self.wrap(f, options.get("shapes")), *arrays, **options)

    def gradients(self, f, *arrays, **options):
        """The gradients of all float outputs of `f` together with respect to its arguments, as numpy or None.

        `upstream`: one array per float output, by default ones. `wrt`: positions of the arguments, by default all.
        `shapes`: static shapes the tensors shall have where a mode can know less than the array tells.
        Afterwards `mode.last_sparse` tells which gradients came as IndexedSlices.
        """
        return self.value_and_gradients(f, *arrays, **options)[1]

    def value_and_gradients(self, f, *arrays, **options):
        upstream, wrt = options.pop("upstream", None), options.pop("wrt", None)
        f = self.wrap(f, options.get("shapes"))

        def program(*args):
            sources = args if wrt is None else [args[i] for i in wrt]
            return self.symbolic_gradients(f, args, sources, upstream)

        return self.execute(program, *arrays, **options)

    def higher(self, f, order, *arrays):
        """`[first, second, ...]`: each the gradients of the sum of the ones before with respect to all arguments."""
        f = self.wrap(f)

        def program(*args):
            found = []

            def derivative(n):
                if n == 0:
                    return f
                before = derivative(n - 1)

                def summed(*args):
                    gradients = self.symbolic_gradients(before, args, args)[1]
                    if n == len(found) + 1:
                        found.append(gradients)
                    return add_up(gradients)

                return summed

            derivative(order)(*args)
            return found

        return self.execute(program, *arrays)

    def execute(self, program, *arrays, **options):
        """Run a program of tensors here; its tensors come back as numpy."""
        shapes = options.pop("shapes", None)
        assert not options, options
        run = self._execute_in_graph if self.in_graph else self._execute_eagerly
        return run(program, arrays, shapes)

    # ------------------------------------------------------------------------------------- for programs of the tests
    def wrap(self, f, shapes=None):
        """`f` as the mode calls it: traced, where the function is inside the tape."""
        return self.compiled(f, shapes) if self.in_function and not self.tape_inside else f

    def compiled(self, f, shapes=None):
        """`f` as a TensorFlow function that may return any nest, whichever side of it the tape stands on."""
        return compiled(f, shapes, self.autograph)

    def symbolic_gradients(self, f, args, sources, upstream=None):
        """`(outputs, gradients)` of a call, as tensors."""
        if self.in_graph:
            outputs = f(*args)
            gradients = gradients_of(outputs, sources, upstream)
        else:
            outputs, gradients = _tape_gradients(f, args, sources, upstream)
        self.last_sparse = [isinstance(gradient, IndexedSlices) for gradient in gradients]
        return outputs, [dense(gradient, source) for gradient, source in zip(gradients, sources)]

    @contextlib.contextmanager
    def repeated(self, f, array, *variables):
        """Build once, run often: gives `(step, read, assign)`.

        `step()` runs the gradient of `f(x, *variables)` with respect to x, built or traced once; `read(i)` and `assign(i, value)`
        look at a variable.
        """
        if self.in_graph:
            with tf.Graph().as_default() as graph:
                made = [v.make(self) for v in variables]
                x = tf.constant(as_array(array))
                [gradient] = gradients_of(f(x, *made), [x])
                new = [v1.placeholder(v.value.dtype, v.value.shape) for v in variables]
                assigned = [v1.assign(v, value) for v, value in zip(made, new)]
                values = [tf.convert_to_tensor(v) for v in made]
                with new_session(graph) as session:
                    session.run(v1.global_variables_initializer())
                    yield (lambda: session.run(gradient), lambda i: session.run(values[i]),
                           lambda i, value: session.run(assigned[i].op, {new[i]: value}))
            return
        made = [v.make(self) for v in variables]
        g = self.wrap(lambda x: f(x, *made))

        def program(x):
            with GradientTape() as tape:
                tape.watch(x)
                y = g(x)
            return tape.gradient(y, [x])

        if self.tape_inside:
            program = self.compiled(program)
        x = tf.constant(as_array(array))
        yield (lambda: as_numpy(program(x)[0]), lambda i: as_numpy(tf.convert_to_tensor(made[i])),
               lambda i, value: made[i].assign(value))

    # ------------------------------------------------------------------------------------------------------- inside
    def _execute_in_graph(self, program, arrays, shapes):
        with tf.Graph().as_default() as graph:
            args, feed = [], {}
            for i, value in enumerate(arrays):
                if isinstance(value, variable):
                    args.append(value.make(self))
                    continue
                value = as_array(value)
                shape = value.shape if shapes is None or shapes[i] is None else shapes[i]
                placeholder = v1.placeholder(tf.as_dtype(value.dtype), None if shape == "unknown" else shape)
                args.append(placeholder)
                feed[placeholder] = value
            result = program(*args)
            tensors, merge = split_tensors(result)
            with new_session(graph) as session:
                session.run(v1.global_variables_initializer())
                return merge(session.run(tensors, feed) if tensors else [])

    def _execute_eagerly(self, program, arrays, shapes):
        made = [value.make(self) if isinstance(value, variable) else None for value in arrays]
        tensors = [tf.constant(as_array(value)) for value in arrays if not isinstance(value, variable)]

        def call(*tensors):
            return program(*fill(made, tensors))

        if self.tape_inside:
            call = self.compiled(call, None if shapes is None else [s for s, m in zip(shapes, made) if m is None])
        results, merge = split_tensors(call(*tensors))
        return merge([as_numpy(result) for result in results])


@do_not_convert
def fill(made, tensors):
    tensors = iter(tensors)
    return [next(tensors) if value is None else value for value in made]


def compiled(f, shapes, autograph):
    """`f` as a TensorFlow function that may return any nest. It takes the tensors; variables reach `f` from a closure."""
    box, functions = {}, []

    def traced(*tensors):
        tensors, box["merge"] = split_tensors(f(*fill(box["others"], tensors)))
        return tensors

    @do_not_convert
    def call(*args):
        box["others"] = [None if isinstance(arg, tf.Tensor) else arg for arg in args]
        tensors = [arg for arg in args if isinstance(arg, tf.Tensor)]
        if not functions:
            options = {}
            if shapes is not None and HAS_FUNCTION:
                options["input_signature"] = [
                    tf.TensorSpec(None if shape == "unknown" else arg.shape if shape is None else shape, arg.dtype)
                    for arg, shape in zip(args, shapes) if isinstance(arg, tf.Tensor)]
            functions.append(compiled_function(traced, autograph, **options))
        found = functions[0](*tensors)
        if not isinstance(found, (list, tuple)):
            found = [] if found is None else [found]
        return box["merge"](list(found))

    return call


def gradients_of(outputs, sources, upstream=None):
    """`tf.gradients` of all float tensors in a nest of outputs; only in a graph."""
    targets = [tensor for tensor in split_tensors(outputs)[0] if is_float(tensor)]
    if not targets:
        return [None] * len(sources)
    if upstream is not None:
        upstream = [constant(up, target.dtype) for up, target in zip(upstream, targets)]
    return v1.gradients(targets, list(sources), upstream)


def _tape_gradients(f, args, sources, upstream):
    with GradientTape() as tape:
        for arg in args:
            if isinstance(arg, tf.Tensor) and is_float(arg):
                tape.watch(arg)
        outputs = f(*args)
        target = _weighted_sum(outputs, upstream)
    if target is None:
        return outputs, [None] * len(sources)
    return outputs, tape.gradient(target, [tape_source(source) for source in sources])


@do_not_convert
def _weighted_sum(outputs, upstream):
    """What a tape differentiates: the one output, or the sum of all outputs times their upstream gradients."""
    targets = [tensor for tensor in split_tensors(outputs)[0] if is_float(tensor)]
    if len(targets) == 1 and upstream is None:
        return targets[0]
    if upstream is not None:
        targets = [target * constant(np.conj(up), target.dtype) for target, up in zip(targets, upstream)]
    return add_up(targets)


def tape_source(source):
    """What a tape knows an argument as: a Keras 3 variable wraps the variable that is watched."""
    return source.value if KERAS_3 and isinstance(source, tf.keras.Variable) else source


def as_numpy(tensor):
    if isinstance(tensor, IndexedSlices):
        tensor = tf.convert_to_tensor(tensor)
    if hasattr(tensor, "numpy"):
        return tensor.numpy()
    return np.asarray(tensor)


def new_session(graph):
    """A session that leaves the other processes their share of the machine."""
    return v1.Session(graph=graph, config=v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1))


def modes():
    """The modes of this process."""
    if SETUP == "graph" or (SETUP == "override" and VERSION < (2, 0)):
        names = ["graph"]
    elif SETUP == "override":
        names = ["graph", "function", "function_inside"]
    else:
        names = ["eager", "function"]
        if VERSION >= TAPE_INSIDE_FROM:
            names.append("function_inside")
        if VERSION >= GRAPH_UNDER_EAGER_FROM:
            names.append("graph")
    return [Mode(name) for name in names]


MODES = modes()


# -------------------------------------------------------------------------------------------------------------- checks
def check(mode, f, arrays, gradients=None, value=None, rtol=1e-6, **options):
    """Values and gradients of `f(*arrays)` are these; None means None, not zeros. `value`: one array, or one per output."""
    got_value, got = mode.value_and_gradients(f, *arrays, **options)
    if value is not None:
        leaves = flatten(got_value)[0]
        expected = [value] if len(leaves) == 1 else value
        assert len(leaves) == len(expected), (got_value, value)
        for one, other in zip(leaves, expected):
            np.testing.assert_allclose(one, other, rtol=rtol)
    if gradients is not None:
        same(got, gradients, rtol)


def same(got, expected, rtol=1e-6):
    """Two lists of gradients are alike, None and shapes included."""
    assert len(got) == len(expected), (got, expected)
    for i, (one, other) in enumerate(zip(got, expected)):
        if one is None or other is None:
            assert one is None and other is None, "gradient %d is %r, expected %r" % (i, one, other)
        else:
            assert np.shape(one) == np.shape(other), "gradient %d is %r, expected %r" % (i, one, other)
            np.testing.assert_allclose(one, other, rtol=rtol, err_msg="gradient %d" % i)


def right_or_error(can, call):
    """Run the checks in `call`. Where this mode cannot do it, an error is as good as the right number; a wrong number never is."""
    try:
        call()
    except AssertionError:
        raise
    except Exception:
        if can:
            raise
