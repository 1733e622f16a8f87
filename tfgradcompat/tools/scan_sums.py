"""Looks for sums with stop_gradient that have one value and the gradient of another: `b + stop_gradient(f - b)`.

A sum is taken apart into terms with a sign, and the terms within stop_gradient into others. It is a trick where a term is both
free and stopped, with opposite signs (its value cancels, its gradient does not), or where a free term and a stopped one are
parts of a whole (`s * x + stop_gradient((1 - s) * x)`). `x - stop_gradient(max(x))` and losses are neither.
"""
from __future__ import absolute_import, division, print_function

import ast
import re

from .scan_names import constant, last_name

_SUMS = {"tensorflow.add": 1, "tensorflow.subtract": -1, "tensorflow.sub": -1}
_PRODUCTS = ("multiply", "mul", "scalar_mul")
_NEGATION = frozenset(["tensorflow.negative", "tensorflow.neg"])
_STOP = "tensorflow.stop_gradient"
_CONTEXT = re.compile(r", ctx=\w+\(\)")  # of a name: whether it is read or written
_DEPTH = 4  # of assigned names that are looked through


def check(module, report):
    """Adds a finding for each sum that is a trick."""
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
    return any(_cancel(free, stopped) or _are_parts(free, stopped) for stopped in terms.stopped for free in terms.free)


class _Terms(object):
    """The terms of a sum, each a pair of its sign and its expression: those that are free and those within stop_gradient."""

    def __init__(self, module):
        self.module = module
        self.free = []
        self.stopped = []

    def add(self, node, sign, stopped, scope, depth=_DEPTH):
        while isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):  # no recursion: some sums are very long
            self.add(node.right, sign if isinstance(node.op, ast.Add) else -sign, stopped, scope, depth)
            node = node.left
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            self.add(node.operand, -sign, stopped, scope, depth)
        elif isinstance(node, ast.Call) and self._add_call(node, sign, stopped, scope, depth):
            pass
        else:
            (self.stopped if stopped else self.free).append((sign, node))
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
        if not depth or not isinstance(node, ast.Name):
            return
        values = scope.lookup(node.id)
        if len(values) == 1 and isinstance(values[0], tuple):
            value, where = values[0]
            if isinstance(value, (ast.BinOp, ast.UnaryOp)) and stopped or isinstance(value, ast.Call):
                inner = _Terms(self.module)
                inner.add(value, sign, stopped, where, depth - 1)
                self.stopped += inner.stopped
                if stopped:
                    self.stopped += inner.free


def _text(node):
    """By which two expressions are the same."""
    return _CONTEXT.sub("", ast.dump(node))


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


def _cancel(free, stopped):
    """Whether the values of two terms cancel."""
    (sign, factors), (other_sign, others) = _factors(free[1]), _factors(stopped[1])
    return free[0] * sign == -stopped[0] * other_sign and sorted(map(_text, factors)) == sorted(map(_text, others))


def _are_parts(free, stopped):
    """`s * x` and `(1 - s) * x`, or `-s * x` and `(1 + s) * x`, or the same with numbers that make one."""
    (sign, factors), (other_sign, others) = _factors(free[1]), _factors(stopped[1])
    sign, other_sign = free[0] * sign, stopped[0] * other_sign
    for one in factors:
        for other in others:
            rest = sorted(_text(n) for n in factors if n is not one)
            if rest and rest == sorted(_text(n) for n in others if n is not other) and _make_one(sign, one, other_sign, other):
                return True
    return False


def _make_one(sign, one, other_sign, other):
    if isinstance(other, ast.BinOp) and isinstance(other.op, (ast.Add, ast.Sub)) and constant(other.left) == 1:
        wanted = sign if isinstance(other.op, ast.Sub) else -sign
        return wanted == other_sign and _text(other.right) == _text(one)
    numbers = constant(one), constant(other)
    return all(isinstance(n, (int, float)) for n in numbers) and abs(sign * numbers[0] + other_sign * numbers[1] - 1) < 1e-9
