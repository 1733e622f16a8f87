"""Looks for uses of `tf.custom_gradient` that work on some releases or in some modes only."""
from __future__ import absolute_import, division, print_function

import ast
import collections

from .. import compat
from . import scan_facts
from .scan_names import constant, last_name, number, parameters, takes

# A function that was given to custom_gradient: its node, the scope around it, its own scope, and the node to point at.
_Decorated = collections.namedtuple("_Decorated", "function, around, own, where")


def check(module, report):
    """Adds findings to the report and returns all gradient functions, those of this package's decorator included."""
    decorated, gradient_functions = _decorated_functions(module, report)
    variables = _Variables(module)
    for one in decorated:
        in_grads = _gradient_functions(one, module)
        gradient_functions.update(in_grads)
        _check_variables(one, in_grads, variables, report)
        for in_grad in in_grads:
            _check_results(in_grad, one, module, report)
    _check_uses(module, set(one.function for one in decorated), report)
    if decorated:
        _check_forward(module, report)
    return gradient_functions


def _decorated_functions(module, report):
    """The functions given to `tf.custom_gradient`, and the gradient functions of those given to `custom_grad`."""
    scopes = dict((function, (around, own)) for function, around, own in module.functions)
    found, other_gradients = [], set()
    for function, around, own in module.functions:
        for decorator in getattr(function, "decorator_list", []):
            made = decorator.func if isinstance(decorator, ast.Call) else decorator
            names = module.resolve(made, around)
            one = _Decorated(function, around, own, decorator)
            if any(name.endswith(".custom_grad") for name in names):
                other_gradients.update(_gradient_functions(one, module))
            if names & scan_facts.CUSTOM_GRADIENT:
                found.append(one)
                _check_form(one, module, report)
    for call, scope in module.calls:
        if call.args and module.called(call, scope) & scan_facts.CUSTOM_GRADIENT:
            if isinstance(call.args[0], ast.Call) and last_name(call.args[0].func) == "partial":
                report.add(call, "custom-gradient-form", "`custom_gradient` of a functools.partial")
            for function in module.functions_of(call.args[0], scope):
                found.append(_Decorated(function, *scopes[function], where=call))
    return found, other_gradients


def _check_form(one, module, report):
    if isinstance(one.where, ast.Call) and not one.where.args:
        report.add(one.where, "custom-gradient-form", "`@custom_gradient()` with parentheses")
    if one.around.is_class() and "staticmethod" not in [last_name(d) for d in one.function.decorator_list]:
        report.add(one.where, "custom-gradient-form", "the method `%s`" % one.function.name)


def _gradient_functions(one, module):
    """What a decorated function returns as the second of two."""
    if isinstance(one.function, ast.Lambda):
        returned = [one.function.body]
    else:
        returned = [node.value for node in _own_nodes(one.function) if isinstance(node, ast.Return)]
    found = set()
    for value in returned:
        if isinstance(value, ast.Tuple) and len(value.elts) == 2:
            found.update(module.functions_of(value.elts[1], one.own))
    return found


def _own_nodes(function):
    """The nodes of a function without those of the functions within it."""
    stack = list(function.body) if isinstance(function.body, list) else [function.body]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(node))


# -------------------------------------------------------------------------------------------------------------- results
def _check_results(in_grad, one, module, report):
    if isinstance(in_grad, ast.Lambda):
        returned = [(in_grad.body, in_grad.body)]
    else:
        returned = [(node, node.value) for node in _own_nodes(in_grad) if isinstance(node, ast.Return) and node.value]
    for where, value in returned:
        parts = [value]
        while parts:
            part = parts.pop(0)
            if isinstance(part, (ast.Tuple, ast.List)):
                parts += part.elts
            elif number(part) is not None or (isinstance(part, ast.Call) and any(
                    name.startswith("numpy.") for name in module.resolve(part.func, one.own))):
                report.add(where, "custom-gradient-result", "a gradient that is a number or a numpy array")
                break


# ------------------------------------------------------------------------------------------------------------ variables
def _check_variables(one, in_grads, variables, report):
    names = variables.read_by(one, in_grads)
    if names:
        taken = bool(in_grads) and all(takes(in_grad, "variables") for in_grad in in_grads)
        report.add(one.where, "custom-gradient-variable", "reads %s; its gradient function %s `variables`" % (
            ", ".join("`%s`" % name for name in sorted(names)), "takes" if taken else "does not take"))


class _Variables(object):
    """Knows which names and attributes of a module are variables."""

    def __init__(self, module):
        self.module = module
        self.known = {}  # by the id of a list of bindings

    def read_by(self, one, in_grads):
        """The names by which a decorated function, its gradient function aside, reads or makes variables."""
        nodes = list(_nodes_of(one.function, in_grads))
        names = [node for node in nodes if isinstance(node, ast.Name)]
        bound = set(node.id for node in names if not isinstance(node.ctx, ast.Load)) | set(parameters(one.function))
        found = set(last_name(n.func) for n in nodes if isinstance(n, ast.Call) and self.makes(n, one.own))
        for name in set(node.id for node in names) - bound:
            if self.are(one.around.lookup(name)):
                found.add(name)
        attributes = [n for n in nodes if isinstance(n, ast.Attribute) and getattr(n.value, "id", None) == "self"]
        for name in set(node.attr for node in attributes):
            if self.are(self.module.own_attributes.get(name, [])):
                found.add("self." + name)
        return found

    def are(self, values):
        """Whether one of the bindings of a name makes a variable."""
        if id(values) not in self.known and values:
            self.known[id(values)] = any(isinstance(value, tuple) and self.makes(*value) for value in values)
        return self.known.get(id(values), False)

    def makes(self, node, scope):
        """Whether an expression makes a trainable variable."""
        if not isinstance(node, ast.Call):
            return False
        if any(k.arg == "trainable" and constant(k.value) is False for k in node.keywords):
            return False
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("add_weight", "add_variable"):
            return True
        return any(name in scan_facts.MAKES_VARIABLE or scan_facts.LAYER_WITH_VARIABLES.match(name)
                   for name in self.module.called(node, scope))


def _nodes_of(function, without):
    """The nodes within a function, but not those of its decorators and of the functions `without`."""
    stack = [function]
    while stack:
        node = stack.pop()
        yield node
        decorators = getattr(node, "decorator_list", [])
        stack.extend(child for child in ast.iter_child_nodes(node) if child not in without and child not in decorators)


# ----------------------------------------------------------------------------------------------------------------- uses
def _check_uses(module, functions, report):
    """Keywords and arguments that are no tensors, where functions of this file are called."""
    for call, scope in module.calls:
        if not _is_decorated(call.func, scope, functions, module):
            continue
        name = last_name(call.func) or "custom_gradient"
        if call.keywords or getattr(call, "kwargs", None):  # Python 2 keeps `**kwargs` apart
            report.add(call, "custom-gradient-keywords", "`%s` called with keywords" % name)
        for argument in call.args:
            value = constant(argument)
            if value is None or isinstance(value, compat.string_types):
                kind = "None" if value is None else "a string"
                report.add(call, "custom-gradient-argument", "`%s` called with %s" % (name, kind))
                break
            if isinstance(argument, (ast.Dict, ast.List, ast.Tuple)) and not _is_array(argument):
                kind = type(argument).__name__.lower()
                report.add(call, "custom-gradient-argument", "`%s` called with a %s" % (name, kind))
                break


def _is_array(node):
    """Whether nested lists hold numbers only: those become one tensor, as meant."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(_is_array(element) for element in node.elts)
    return number(node) is not None


def _is_decorated(node, scope, functions, module, seen=()):
    """Whether an expression is a function that went through custom_gradient."""
    if isinstance(node, ast.Call):
        return bool(node.args) and bool(module.called(node, scope) & scan_facts.CUSTOM_GRADIENT)
    if isinstance(node, ast.Name):
        values = scope.lookup(node.id)
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
        around = scope.enclosing_class()
        values = (around.names.get(node.attr, []) if around else []) or module.own_attributes.get(node.attr, [])
    else:
        return False
    for value in values:
        if isinstance(value, tuple):
            name = last_name(node)
            if name not in seen and _is_decorated(value[0], value[1], functions, module, seen + (name,)):
                return True
        elif value in functions and getattr(value, "decorator_list", []):
            return True
    return False


def _check_forward(module, report):
    for call, scope in module.calls:
        if "tensorflow.autodiff.ForwardAccumulator" in module.called(call, scope):
            report.add(call, "custom-gradient-forward", "`ForwardAccumulator`")
