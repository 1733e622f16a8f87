"""Names and literals of a source file that is parsed and never run, on every Python."""
from __future__ import absolute_import, division, print_function

import ast
import re

#: Instead of a value: what `constant` gives for anything else.
MISSING = object()

#: The field in which a node of this type holds its value; other Pythons call them otherwise.
_CONSTANTS = {"Constant": "value", "NameConstant": "value", "Str": "s", "Num": "n", "Bytes": "s"}
_PY2_CONSTANTS = {"None": None, "True": True, "False": False}  # names there

#: Prefixes of one and the same thing, most special first.
_SAME = [(re.compile(pattern), name) for pattern, name in [
    (r"^tensorflow_core\.", "tensorflow."),
    (r"^(tensorflow\.)+compat\.v[12]\.(compat\.v[12]\.)*", "tensorflow."),
    (r"^(tensorflow\.(python\.|_api\.v\d\.)?|tf_)?keras\.", "tensorflow.keras."),
    (r"^tensorflow\.keras\.(backend|ops)\.stop_gradient$", "tensorflow.stop_gradient"),
    (r"^tensorflow\.contrib\.eager\.python\.tfe\b", "tensorflow.contrib.eager"),
    (r"^tensorflow\.math\.", "tensorflow."),
    (r"^tensorflow\.python\.framework\.ops\.RegisterGradient$", "tensorflow.RegisterGradient"),
    (r"^tensorflow\.python\.(ops|eager)\.custom_gradient\.", "tensorflow."),
    (r"^tensorflow\.python\.ops\.((array|math|logging|script)_ops|variable_scope|variables)\.", "tensorflow."),
    (r"^tensorflow\.python\.training\.\w+\.", "tensorflow.train."),
]]

_canonical_names = {}


def constant(node):
    """The value of a literal number, string, bool or None; else MISSING."""
    field = _CONSTANTS.get(type(node).__name__)
    if field:
        return getattr(node, field)
    if isinstance(node, ast.Name):
        return _PY2_CONSTANTS.get(node.id, MISSING)
    return MISSING


def number(node):
    """The value of a number, or of a sum or difference of numbers; else None."""
    value = constant(node)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = number(node.operand)
        return None if value is None else -value
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        left, right = number(node.left), number(node.right)
        if left is not None and right is not None:
            return left + right if isinstance(node.op, ast.Add) else left - right
    return None


def canonical(dotted):
    """The one name by which the tables know what has several."""
    if not dotted.startswith(("tensorflow", "keras.", "tf_keras.")):
        return dotted
    if dotted not in _canonical_names:
        name = dotted
        for pattern, replacement in _SAME:
            name = pattern.sub(replacement, name)
        _canonical_names[dotted] = name
    return _canonical_names[dotted]


def parameters(function):
    """The names of a function's positional parameters; None for the tuple in `def f(a, (b, c))` of Python 2."""
    arguments = list(getattr(function.args, "posonlyargs", [])) + function.args.args
    return [getattr(a, "arg", None) or getattr(a, "id", None) for a in arguments]


def takes(function, name):
    """Whether a function can be called with this keyword."""
    keyword_only = [a.arg for a in getattr(function.args, "kwonlyargs", [])]
    return name in parameters(function) or name in keyword_only or function.args.kwarg is not None


class Scope(object):
    """A module, class, function or comprehension, and what its names were bound to."""

    __slots__ = ("parent", "node", "names", "elsewhere")

    def __init__(self, parent, node):
        self.parent = parent
        self.node = node
        # {name: [value, ...]}; a value is a dotted name, (expression, scope), a function, a class, or None: anything.
        self.names = {}
        self.elsewhere = {}  # name: the scope that a `global` or `nonlocal` statement means

    def is_class(self):
        return isinstance(self.node, ast.ClassDef)

    def bind(self, name, value):
        self.elsewhere.get(name, self).names.setdefault(name, []).append(value)

    def lookup(self, name):
        """The values of a name that is read here; an empty list when nothing binds it."""
        scope = self
        while scope:
            if name in scope.names and (scope is self or not scope.is_class()):
                return scope.names[name]
            scope = scope.parent
        return []

    def chain(self):
        """This scope and those around it."""
        scope = self
        while scope:
            yield scope
            scope = scope.parent

    def enclosing_class(self):
        """The innermost class around this scope, or None."""
        return next((scope for scope in self.chain() if scope.is_class()), None)


def text_of(value):
    """Text on every Python: paths and strings of the source are bytes on Python 2."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def last_name(node):
    """`c` of `a.b.c` and of `c`; "" of anything else."""
    return getattr(node, "attr", None) or getattr(node, "id", None) or ""
