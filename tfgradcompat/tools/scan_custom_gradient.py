"""Looks for uses of `tf.custom_gradient` that work on some releases or in some modes only."""
from __future__ import absolute_import, division, print_function

import ast
import collections

from .. import compat
from . import scan_rules
from .scan_names import constant, last_name, parameters, takes

# A function that was given to custom_gradient: its node, the scope around it, its own scope, and the node to point at.
_Decorated = collections.namedtuple("_Decorated", "function, around, own, where")


def check(module, report):
    """Adds findings to the report and returns all gradient functions, those of this package's decorator included."""
    decorated, gradient_functions = _decorated_functions(module, report)
    for one in decorated:
        in_grads = _gradient_functions(one, module)
        gradient_functions.update(in_grads)
        _check_variables(one, in_grads, module, report)
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
            if names & scan_rules.CUSTOM_GRADIENT:
                found.append(one)
                _check_form(one, module, report)
    for call, scope in module.calls:
        if call.args and module.called(call, scope) & scan_rules.CUSTOM_GRADIENT:
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


# ---------------------------------------------------------------------------------------------------------------- results
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
            elif _is_number(part) or (isinstance(part, ast.Call) and any(
                    name.startswith("numpy.") for name in module.resolve(part.func, one.own))):
                report.add(where, "custom-gradient-result", "a gradient that is a number or a numpy array")
                break


def _is_number(node):
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    value = constant(node)
    return isinstance(value, (int, float, complex)) and not isinstance(value, bool)


# -------------------------------------------------------------------------------------------------------------- variables
def _check_variables(one, in_grads, module, report):
    names = _variables_read(one, in_grads, module)
    if names:
        taken = all(takes(in_grad, "variables") for in_grad in in_grads) and bool(in_grads)
        report.add(one.where, "custom-gradient-variable", "reads %s; its gradient function %s `variables`" % (
            ", ".join("`%s`" % name for name in sorted(names)), "takes" if taken else "does not take"))


def _variables_read(one, in_grads, module):
    found = set()
    bound = set()
    stack, nodes = [one.function], []
    while stack:
        node = stack.pop()
        nodes.append(node)
        for name, value in ast.iter_fields(node):
            if name == "decorator_list":
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and child not in in_grads:
                    stack.append(child)
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.Call) and _makes_variable(node, one.own, module):
            found.add(last_name(node.func))
    bound.update(parameters(one.function))
    for node in nodes:
        if isinstance(node, ast.Name) and node.id not in bound:
            values = [value for value in one.around.lookup(node.id) if isinstance(value, tuple)]
            if any(_makes_variable(value, scope, module) for value, scope in values):
                found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            if any(_makes_variable(value, scope, module) for value, scope in module.own_attributes.get(node.attr, [])):
                found.add("self." + node.attr)
    return found


def _makes_variable(node, scope, module):
    if not isinstance(node, ast.Call):
        return False
    if any(k.arg == "trainable" and constant(k.value) is False for k in node.keywords):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("add_weight", "add_variable"):
        return True
    return any(name in scan_rules.MAKES_VARIABLE or scan_rules.LAYER_WITH_VARIABLES.match(name)
               for name in module.resolve(node.func, scope))


# ------------------------------------------------------------------------------------------------------------------- uses
def _check_uses(module, functions, report):
    """Keywords and arguments that are no tensors, where functions of this file are called."""
    for call, scope in module.calls:
        if not (call.keywords or call.args) or not _is_decorated(call.func, scope, functions, module):
            continue
        name = last_name(call.func) or "custom_gradient"
        if call.keywords or getattr(call, "kwargs", None):
            report.add(call, "custom-gradient-keywords", "`%s` called with keywords" % name)
        for argument in call.args:
            value = constant(argument)
            if value is None or isinstance(value, compat.string_types):
                report.add(call, "custom-gradient-argument", "`%s` called with %r" % (name, value))
                break
            if isinstance(argument, ast.Dict) or (isinstance(argument, (ast.List, ast.Tuple)) and not _is_array(argument)):
                report.add(call, "custom-gradient-argument", "`%s` called with a %s" % (name, type(argument).__name__.lower()))
                break


def _is_array(node):
    """Whether nested lists hold numbers only: those become one tensor, as meant."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(_is_array(element) for element in node.elts)
    return _is_number(node)


def _is_decorated(node, scope, functions, module, depth=3):
    """Whether an expression is a function that went through custom_gradient."""
    if isinstance(node, ast.Name):
        values = scope.lookup(node.id)
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
        around = scope.enclosing_class()
        values = (around.names.get(node.attr, []) if around else []) or module.own_attributes.get(node.attr, [])
    elif isinstance(node, ast.Call):
        return bool(node.args) and bool(module.resolve(node.func, scope) & scan_rules.CUSTOM_GRADIENT)
    else:
        return False
    for value in values:
        if isinstance(value, tuple):
            if depth and _is_decorated(value[0], value[1], functions, module, depth - 1):
                return True
        elif value in functions and getattr(value, "decorator_list", []):
            return True
    return False


def _check_forward(module, report):
    for call, scope in module.calls:
        if "tensorflow.autodiff.ForwardAccumulator" in module.called(call, scope):
            report.add(call, "custom-gradient-forward", "`ForwardAccumulator`")
