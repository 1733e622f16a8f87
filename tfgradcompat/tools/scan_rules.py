"""The rules of the scan as a table.

docs/scan.md has the same table for readers; a test compares the two. "Silent" is a wrong or missing gradient without an
error, "error" an error that other releases do not have. Ranges of releases were measured, not read: 0.12 to 2.22.
"""
from __future__ import absolute_import, division, print_function

import collections

#: What a rule is about, where it lies, where it breaks, and what to write with this package in its place.
Rule = collections.namedtuple("Rule", "id, title, silent, error, instead")

RULES = [
    Rule("override-map", "gradient_override_map",
         "1.5-2.22 in eager mode: the map does nothing, the true gradient is used. All releases: so it is with a "
         "misspelt operation type, for operations that are not made in the block, and now and then when threads "
         "build one graph.",
         "All releases: a gradient name that is not registered is a LookupError only when the gradient is asked for.",
         "`@custom_grad` where Identity is overridden (or `scale_gradient`, `reverse_gradient`, "
         "`clip_gradient_by_value` and the like); `with override_gradient({\"Relu\": grad}):` or `guided_backprop` "
         "for an operation's own gradient"),
    Rule("override-op-type", "gradient_override_map of an operation that has another type on other releases",
         "On the releases that the message names: no operation of this type is made, so the true gradient is used.",
         "",
         "`@custom_grad` around the operation; or `override_gradient`, which is an error when no operation of the "
         "type was made"),
    Rule("py-func-override", "py_func with a gradient by gradient_override_map",
         "1.5-2.22 in eager mode: the gradient is None. All releases: a graph that is loaded in another process can "
         "run another function.",
         "2.0-2.22: there is no tf.py_func.",
         "`py_func(func, inputs, Tout, grad=grad)`, where `grad(op, *dys)` stays as it is"),
    Rule("register-fixed-name", "RegisterGradient with a fixed name, for overriding",
         "All releases: an imported graph uses whatever function has the name in this process.",
         "All releases: KeyError when the module is reloaded, a notebook cell is run again, or a second copy is "
         "imported.",
         "`@custom_grad` or `override_gradient`, which need no names"),
    Rule("register-random-name", "RegisterGradient with a name made at run time",
         "All releases: with numpy's or Python's random numbers the user's own stream changes; two processes can "
         "make one name, and an imported graph then has another function's gradient.",
         "All releases: the registry grows with each call and keeps graphs whose tensors the gradient function uses, "
         "names can collide (KeyError), and an exported graph has no gradient elsewhere (LookupError).",
         "`@custom_grad` or `override_gradient`; `py_func(..., grad=grad)` for Python code"),
    Rule("register-own-type", "RegisterGradient for an operation that has a gradient on newer releases",
         "",
         "On the releases that the message names, when the module is imported: KeyError, for the gradient is "
         "registered already.",
         "`override_gradient({op_type: grad})`, or nothing where TensorFlow's own gradient will do"),
    Rule("registry-patch", "TensorFlow's private registry of gradients",
         "All releases: the change is for the whole process, for each graph and thread.",
         "Private, with another layout or name on some releases (2.6 and newer have `gradient_registry` too).",
         "`override_gradient`, or `guided_backprop(model)` for a model that is built already"),
    Rule("defun", "Defun with a gradient function",
         "1.1-1.4: an imported graph has the true gradient.",
         "1.5-2.22 in eager mode: AttributeError. 0.12-1.0: such a graph cannot be imported. The module is private.",
         "`@custom_grad`"),
    Rule("contrib-eager", "gradients by tf.contrib.eager",
         "1.8-1.12: within `defun`, with the tape inside, `tf.custom_gradient` is ignored and the true gradient "
         "used; 1.9-1.13: there the gradients of map_fn and scan are None.",
         "0.12-1.4: there is no tf.contrib.eager. 2.0-2.22: there is no tf.contrib.",
         "`custom_grad` for its custom_gradient, `value_and_gradients` for the functions that make gradients, "
         "`py_func` for its py_func"),
    Rule("contrib-gradient", "gradients changed by tf.contrib",
         "",
         "2.0-2.22: there is no tf.contrib.",
         "`minimize(optimizer, loss, variables, transform)` with `transforms`"),
    Rule("custom-gradient-keywords", "a native custom_gradient function called with keywords",
         "1.7-2.22 in eager mode: when all arguments are keywords, the true gradient is used.",
         "1.7-2.22 in graphs and functions: ValueError.",
         "`@custom_grad`, which binds keywords first"),
    Rule("custom-gradient-variable", "a native custom_gradient function that reads a variable",
         "1.7-1.8: the variable's gradient is None; with a reference variable 1.7-1.14, where the gradient function "
         "does not take `variables`.",
         "1.9-2.22: TypeError where the gradient function does not take `variables`. 1.7-1.8: ValueError where it "
         "does; reference variables: TypeError, 1.9-1.14, and where `f` makes them on 1.15 and newer.",
         "`@custom_grad` with a gradient function that takes `variables`, for any kind of variable"),
    Rule("custom-gradient-form", "native custom_gradient on a method, with parentheses, or of a partial",
         "",
         "1.7-2.0: TypeError or ValueError for methods and parentheses. 1.7-2.22: AttributeError for "
         "functools.partial.",
         "`@custom_grad`, which takes anything that is callable"),
    Rule("custom-gradient-argument",
         "a native custom_gradient function called with a list, dictionary, None or string",
         "",
         "1.7-2.2: ValueError or TypeError, since a list or dictionary is packed into one tensor. 1.7-2.22: "
         "ValueError for None.",
         "`@custom_grad`: lists and dictionaries reach `f` as they are, and so do None and strings"),
    Rule("custom-gradient-result", "a native gradient function that returns numbers or numpy arrays",
         "",
         "1.7-2.22 in graphs and functions: AttributeError ('float' object has no attribute 'name'). It works in "
         "eager mode only.",
         "`@custom_grad`, whose gradient functions may return numbers, arrays and None"),
    Rule("custom-gradient-forward", "ForwardAccumulator in a module with native custom gradients",
         "2.1-2.22 in eager mode: forward mode takes the true derivative.",
         "",
         "`@custom_grad` (so far in eager mode and tf.function; see docs/limits.md for what is promised)"),
    Rule("recompute-grad", "native recompute_grad",
         "1.8: variables get None.",
         "0.12-1.4: does not exist. 1.5-1.14: in tf.contrib.layers only. 1.15-2.22: reference variables and keyword "
         "arguments are errors in graphs.",
         "`recompute`"),
    Rule("stop-gradient-trick", "another gradient by stop_gradient",
         "All releases: the value of `b + stop_gradient(f - b)` is not `f` but rounded (0. where `f` is 1. and `b` "
         "large), and NaN where `b` is infinite.",
         "",
         "`straight_through(f)`, `surrogate(f, b)`, `scale_gradient(x, scale)` or `reverse_gradient(x)`, all exact"),
    Rule("print-in-gradient", "tf.Print or tf.print in a gradient function",
         "1.12-2.22: tf.print in a gradient prints nothing in graphs, nor (1.13 and newer) in functions with the "
         "tape outside.",
         "0.12-1.11: there is no tf.print like today's. 2.0-2.22: there is no tf.Print.",
         "`print_gradient(x, message)`"),
    Rule("private-import", "a private part of TensorFlow that has to do with gradients",
         "",
         "On releases other than those that the message names: ImportError or AttributeError.",
         "`override_gradient` and `guided_backprop` for gradients of operations, `custom_grad` for custom_gradient, "
         "`value_and_gradients` for the rest"),
    Rule("compute-gradients", "compute_gradients of an optimizer",
         "",
         "1.5-2.22 in eager mode: RuntimeError where the loss is a tensor. 2.0-2.22: tf.train has no optimizers "
         "(tf.compat.v1.train has). Keras: no such method before 2.11 and from 2.16 on, another signature between.",
         "`minimize(optimizer, loss, variables, transform)` or `value_and_gradients`"),
    Rule("test-compute-gradient", "tf.test.compute_gradient",
         "",
         "2.0-2.22: takes a function and its inputs, and there is no compute_gradient_error. 0.12-1.15, and in "
         "tf.compat.v1.test: takes tensors of a graph and their shapes, which eager mode does not have.",
         "`testing.check_gradients(f, *args)`, in every mode"),
]

BY_ID = dict((rule.id, rule) for rule in RULES)
