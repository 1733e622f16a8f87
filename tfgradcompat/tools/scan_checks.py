"""Looks for what the rules name in one parsed file: names of TensorFlow, overrides, registrations, optimizers, prints.

Functions of `tf.custom_gradient` and sums with stop_gradient have modules of their own. Nothing is imported or run.
"""
from __future__ import absolute_import, division, print_function

import ast
import collections
import re

from .. import compat
from . import scan_custom_gradient, scan_facts, scan_sums
from .scan_module import Module
from .scan_names import MISSING, canonical, constant, last_name, text_of

#: What was found, where; `rule` is an id and `message` says what is special about this place.
Finding = collections.namedtuple("Finding", "path, line, column, rule, message")

_REGISTER = "tensorflow.RegisterGradient"
# By these keywords a function is handed over as a gradient function.
_GRADIENT_KEYWORDS = ("grad", "grad_func", "python_grad_func")
_OPTIMIZER_KEYWORDS = frozenset([
    "var_list", "gate_gradients", "aggregation_method", "colocate_gradients_with_ops", "grad_loss"])
_OPTIMIZER_NAME = re.compile(r"(?i)opt|sgd|adam|momentum|rmsprop|adagrad|trainer")


class Report(object):
    """What the checks of one file found.

    Fixed names of gradients wait: only overriding makes them a finding, and the override may be in another file.
    """

    def __init__(self, path):
        self.path = path
        self.findings = []
        self.fixed_names = []  # (name, finding)
        self.overriding_names = set()
        self.overrides_by_unknown_name = False

    def add(self, node, rule, message):
        self.findings.append(self.finding(node, rule, message))

    def finding(self, node, rule, message):
        return Finding(self.path, node.lineno, max(node.col_offset, 0) + 1, rule, text_of(message))


def check(tree, path):
    """Runs all checks on a parsed file and returns their `Report`."""
    module = Module(tree, scan_facts.ATTRIBUTES)
    report = Report(path)
    _check_imports(module, report)
    _check_references(module, report)
    gradient_functions = _check_calls(module, report)
    gradient_functions |= scan_custom_gradient.check(module, report)
    _check_prints(module, report, gradient_functions)
    scan_sums.check(module, report)
    return report


def settle(reports):
    """All findings of all files, sorted: a fixed name of a gradient counts where an override uses it, or may."""
    used = set().union(*[report.overriding_names for report in reports]) if reports else set()
    findings = []
    for report in reports:
        findings += report.findings
        findings += [finding for name, finding in report.fixed_names
                     if name in used or report.overrides_by_unknown_name]
    return sorted(set(findings))


# ------------------------------------------------------------------------------------------------- names of TensorFlow
def _check_imports(module, report):
    for node, dotted_names in module.imports:
        for dotted in dotted_names:
            if not _check_private(node, dotted, report):
                _check_reference(node, canonical(dotted), report)


def _check_references(module, report):
    for node, scope in module.references:
        for name in module.resolve(node, scope):
            if name.rpartition(".")[0] in scan_facts.PRIVATE_MODULES or not _check_private(node, name, report):
                _check_reference(node, name, report)


def _check_private(node, dotted, report):
    found = scan_facts.private_part(dotted)
    if found:
        report.add(node, "private-import", "`%s`: %s" % found)
    return found


def _check_reference(node, dotted, report):
    rule = scan_facts.REFERENCES.get(dotted)
    if rule:
        report.add(node, rule, "`%s`" % _shown(dotted))
    elif dotted in scan_facts.REGISTRY:
        report.add(node, "registry-patch", "`%s`" % dotted.rpartition(".")[2])


def _shown(dotted):
    """A name as people write it."""
    return dotted.replace("tensorflow.", "tf.", 1)


# ---------------------------------------------------------------------------------------------------------------- calls
def _check_calls(module, report):
    """Checks calls one by one, and returns the functions that some of them make gradient functions."""
    gradient_functions = set()
    for call, scope in module.calls:
        name = last_name(call.func)
        for keyword in call.keywords:
            if keyword.arg in _GRADIENT_KEYWORDS:
                gradient_functions.update(module.functions_of(keyword.value, scope))
        if name == "gradient_override_map" and call.args and not module.functions_of(call.func, scope):
            _check_override(call, scope, module, report)
        elif name == "compute_gradients" and isinstance(call.func, ast.Attribute) and module.has_tensorflow:
            _check_compute_gradients(call, scope, module, report)
        names = module.called(call, scope)
        if _REGISTER in names and call.args:
            _check_registration(call, scope, module, report)
        if "tensorflow.python.framework.function.Defun" in names:
            given = [k.arg for k in call.keywords if k.arg in ("grad_func", "python_grad_func")]
            if given:
                report.add(call, "defun", "`Defun` with `%s`" % given[0])
        for contrib in names & set(scan_facts.CONTRIB_KEYWORDS):
            given = [k.arg for k in call.keywords
                     if k.arg in scan_facts.CONTRIB_KEYWORDS[contrib] and constant(k.value) is not None]
            if given:
                report.add(call, "contrib-gradient", "`%s` with `%s`" % (_shown(contrib), given[0]))
        if isinstance(call.func, ast.Call) and _REGISTER in module.called(call.func, scope):
            for argument in call.args:
                gradient_functions.update(module.functions_of(argument, scope))
    for function, scope, _ in module.functions:
        for decorator in getattr(function, "decorator_list", []):
            if isinstance(decorator, ast.Call) and _REGISTER in module.called(decorator, scope):
                gradient_functions.add(function)
    return gradient_functions


def _check_override(call, scope, module, report):
    mapping, where = _dictionary(call.args[0], scope, module)
    types, values = [], []
    if mapping is None:
        report.overrides_by_unknown_name = True
    else:
        types = [module.single_constant(key, where) for key in mapping.keys]
        values = [module.single_constant(value, where) for value in mapping.values]
        report.overriding_names.update(v for v in values if isinstance(v, compat.string_types))
        report.overrides_by_unknown_name |= MISSING in values
    known = [t for t in types if isinstance(t, compat.string_types)]
    what = ", ".join(sorted(known)) or "types that are known at run time"
    if known and set(known) <= scan_facts.PY_FUNC_TYPES or not known and _calls_py_func(call, scope, module):
        report.add(call, "py-func-override", "gradient of a py_func by an override of %s" % what)
    else:
        report.add(call, "override-map", "override of %s" % what)
    for names, partners, how in scan_facts.RENAMED_TYPES:
        there = set(names) & set(known)
        if there and not set(names + partners) <= set(known):
            report.add(call, "override-op-type", "%s: %s" % (", ".join(sorted(there)), how))


def _dictionary(node, scope, module):
    """The dictionary literal that an expression stands for and its scope, or None and None."""
    if isinstance(node, ast.Dict):
        return node, scope
    assigned = module.assigned(node, scope) if isinstance(node, ast.Name) else []
    if len(assigned) == 1 and isinstance(assigned[0][0], ast.Dict):
        return assigned[0]
    return None, None


def _calls_py_func(call, scope, module):
    """Whether the block of a `with` whose context is this call makes a py_func."""
    return any(isinstance(node, ast.Call) and module.resolve(node.func, scope) & scan_facts.PY_FUNC
               for statement in module.blocks.get(call, []) for node in ast.walk(statement))


def _check_registration(call, scope, module, report):
    name = module.single_constant(call.args[0], scope)
    if not isinstance(name, compat.string_types):
        report.add(call, "register-random-name", "RegisterGradient with a name made at run time")
    elif name in scan_facts.OWN_GRADIENTS:
        report.add(call, "register-own-type", "TensorFlow %s and newer have a gradient for %s" % (
            scan_facts.OWN_GRADIENTS[name], name))
    else:
        finding = report.finding(call, "register-fixed-name", "RegisterGradient(\"%s\")" % name)
        report.fixed_names.append((name, finding))


# ----------------------------------------------------------------------------------------------------------- optimizers
def _check_compute_gradients(call, scope, module, report):
    receiver = call.func.value
    if _is_optimizer(receiver, scope, module, call):
        report.add(call, "compute-gradients", "compute_gradients of `%s`" % (last_name(receiver) or "an optimizer"))


def _is_optimizer(receiver, scope, module, call):
    if isinstance(receiver, ast.Name) and receiver.id in ("self", "cls"):
        return _extends_optimizer(scope, module)
    if isinstance(receiver, ast.Call) and last_name(receiver.func) == "super":
        return _extends_optimizer(scope, module)
    made = [(receiver, scope)] + module.assigned(receiver, scope)
    calls = [(node, where) for node, where in made if isinstance(node, ast.Call)]
    for node, where in calls:
        if any(name.startswith("tensorflow.") and "ptimizer" in name for name in module.resolve(node.func, where)):
            return True
        if isinstance(node.func, ast.Name) and any(isinstance(v, ast.ClassDef) for v in where.lookup(node.func.id)):
            return False  # a class of this file
    return bool(_OPTIMIZER_NAME.search(last_name(receiver))) or any(k.arg in _OPTIMIZER_KEYWORDS for k in call.keywords)


def _extends_optimizer(scope, module):
    around = scope.enclosing_class()
    bases = around.node.bases if around else []
    return any("ptimizer" in name for base in bases for name in module.resolve(base, around.parent) | {last_name(base)})


# --------------------------------------------------------------------------------------------------------------- prints
def _check_prints(module, report, gradient_functions):
    for call, scope in module.calls:
        if gradient_functions and any(around.node in gradient_functions for around in scope.chain()):
            for name in module.called(call, scope) & scan_facts.PRINT:
                report.add(call, "print-in-gradient", "`%s`" % _shown(name))
