"""Looks for sums with stop_gradient that have one value and the gradient of another: `b + stop_gradient(f - b)`.

A sum is taken apart into terms with a sign, those that are free and those within stop_gradient. It is a trick where the
values of a free and a stopped term cancel (the gradient of the free one stays), or where they are parts of a whole,
`s * x` and `stop_gradient((1 - s) * x)`. `x - stop_gradient(max(x))`, targets and losses are neither.
"""
from __future__ import absolute_import, division, print_function

import ast
import re

from .scan_names import constant, last_name, number

_SUMS = {"tensorflow.add": 1, "tensorflow.subtract": -1, "tensorflow.sub": -1}
_PRODUCTS = ("multiply", "mul", "scalar_mul")
_NEGATION = frozenset(["tensorflow.negative", "tensorflow.neg"])
_STOP = "tensorflow.stop_gradient"
_CONTEXT = re.compile(r", ctx=\w+\(\)")  # of a name: whether it is read or written
_DEPTH = 4  # of assigned names that are looked through
_MOST = 100  # terms: longer sums are not looked into further


def check(module, report):
    """Adds a finding for each sum that is a trick."""
    if not any(_STOP in module.called(call, scope) for call, scope in module.calls):
        return
    sums = list(module.sums)
    sums += [(call, scope) for call, scope in module.calls if module.called(call, scope) & set(_SUMS)]
    seen = set()  # what is part of a sum that was found already
    for node, scope in sums:
        if node not in seen and _is_trick(node, scope, module):
            report.add(node, "stop-gradient-trick", "a sum with the value of one function and the gradient of another")
            seen.update(ast.walk(node))


def _is_trick(node, scope, module):
    terms = _Terms(module)
    if isinstance(node, ast.AugAssign):
        terms.add(node.target, 1, False, scope)
        terms.add(node.value, 1 if isinstance(node.op, ast.Add) else -1, False, scope)
    else:
        terms.add(node, 1, False, scope)
    free, stopped = ([(sign * s, factors) for sign, term in found for s, factors in [_factors(term)]]
                     for found in (terms.free, terms.stopped))
    return any(_cancel(a, b) or _are_parts(a, b) or _is_pulled(a, b) for b in stopped for a in free)


class _Terms(object):
    """The terms of a sum, each a pair of its sign and its expression. A name stands beside what it was assigned."""

    def __init__(self, module):
        self.module = module
        self.free = []
        self.stopped = []

    def add(self, node, sign, stopped, scope, depth=_DEPTH):
        while isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):  # no recursion: sums can be long
            self.add(node.right, sign if isinstance(node.op, ast.Add) else -sign, stopped, scope, depth)
            node = node.left
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            self.add(node.operand, -sign, stopped, scope, depth)
        elif not (isinstance(node, ast.Call) and self._add_call(node, sign, stopped, scope, depth)):
            found = self.stopped if stopped else self.free
            if len(found) < _MOST:
                found.append((sign, node))
                self._look_through(node, sign, stopped, scope, depth)

    def _add_call(self, node, sign, stopped, scope, depth):
        names = self.module.called(node, scope)
        operands = list(node.args) or [k.value for k in node.keywords if k.arg in ("x", "y", "input")]
        if _STOP in names and operands:
            self.add(operands[0], sign, True, scope, depth)
            return True
        signs = [_SUMS[name] for name in names if name in _SUMS]
        if signs and len(operands) > 1:
            self.add(operands[0], sign, stopped, scope, depth)
            self.add(operands[1], sign * signs[0], stopped, scope, depth)
            return True
        if names & _NEGATION and operands:
            self.add(operands[0], -sign, stopped, scope, depth)
            return True
        return False

    def _look_through(self, node, sign, stopped, scope, depth):
        """`delta = f - b`, then `b + stop_gradient(delta)`; `stopped = stop_gradient(f - b)`, then `b + stopped`."""
        values = scope.lookup(node.id) if depth and isinstance(node, ast.Name) else []
        if len(values) == 1 and isinstance(values[0], tuple):
            value, where = values[0]
            if isinstance(value, (ast.BinOp, ast.UnaryOp, ast.Call)):
                self.add(value, sign, stopped, where, depth - 1)


def _text(node):
    """By which two expressions are the same."""
    return _CONTEXT.sub("", ast.dump(node))


def _texts(nodes):
    return sorted(_text(node) for node in nodes)


def _factors(node):
    """The sign and the factors of a product."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, factors = _factors(node.operand)
        return -sign, factors
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        parts = node.left, node.right
    elif isinstance(node, ast.Call) and len(node.args) == 2 and last_name(node.func) in _PRODUCTS:
        parts = node.args
    else:
        return 1, [node]
    left, right = _factors(parts[0]), _factors(parts[1])
    return left[0] * right[0], left[1] + right[1]


# Each term is now a pair of its sign and its factors.
def _cancel(free, stopped):
    return free[0] == -stopped[0] and _texts(free[1]) == _texts(stopped[1])


def _are_parts(free, stopped):
    """`s * x` and `(1 - s) * x`, or `-s * x` and `(1 + s) * x`, or the same with numbers: `-x` and `2 * x`."""
    (number_of_one, one), (number_of_other, other) = _split(free), _split(stopped)
    if _texts(one) == _texts(other) and abs(number_of_one + number_of_other - 1) < 1e-9:
        return True
    for factor in free[1]:
        for other in stopped[1]:
            rest = _texts(n for n in free[1] if n is not factor)
            other_rest = _texts(n for n in stopped[1] if n is not other)
            if rest and rest == other_rest and _complement(free[0], factor, stopped[0], other):
                return True
    return False


def _split(term):
    """The number that a term begins with, sign included, and its other factors."""
    value, rest = term[0], []
    for factor in term[1]:
        of_factor = number(factor)
        if of_factor is None:
            rest.append(factor)
        else:
            value *= of_factor
    return value, rest


def _complement(sign, factor, other_sign, other):
    if not (isinstance(other, ast.BinOp) and isinstance(other.op, (ast.Add, ast.Sub)) and constant(other.left) == 1):
        return False
    wanted = sign if isinstance(other.op, ast.Sub) else -sign
    return wanted == other_sign and _text(other.right) == _text(factor)


def _is_pulled(free, stopped):
    """`x + stop_gradient((f - x) * mask)`: a value that moves away from x with the gradient of x."""
    for factor in stopped[1] if len(stopped[1]) > 1 else []:
        if isinstance(factor, ast.BinOp) and isinstance(factor.op, (ast.Add, ast.Sub)):
            sign = 1 if isinstance(factor.op, ast.Add) else -1
            for outer, part in ((1, factor.left), (sign, factor.right)):
                inner, factors = _factors(part)
                if free[0] == -stopped[0] * outer * inner and _texts(free[1]) == _texts(factors):
                    return True
    return False
