"""What the names in a source file stand for: scopes and aliases of a module that is parsed and never run.

`Module` walks the tree once, keeps the nodes that the checks ask for, each with its scope, and `resolve` says by which
dotted names an expression may go: `tf.compat.v1.Print`, `v1.Print` and `Print`, imported, are all `tensorflow.Print`.
"""
from __future__ import absolute_import, division, print_function

import ast

from .. import compat
from .scan_names import MISSING, Scope, canonical, constant, last_name

#: A name that may come from anywhere is TensorFlow's when it is called so: `from .compat import tf`.
_CALLED_TENSORFLOW = {"tf": "tensorflow", "tf1": "tensorflow", "tensorflow": "tensorflow"}

# Fields that hold no node worth a visit.
_DULL = frozenset([
    "ctx", "op", "ops", "id", "attr", "arg", "n", "s", "kind", "type_ignores", "names", "level", "module"])
_LONGEST = 12  # chain of assigned names that is followed to a literal


class Module(object):
    """A parsed file: the nodes that the checks look at, each with the scope it stands in.

    Args:
      tree: what `ast.parse` gives.
      attributes: the names of attributes for which `references` are kept, besides those that end in "_grad".
    """

    def __init__(self, tree, attributes=()):
        self.tree = tree
        self.scope = Scope(None, tree)
        self.calls = []  # (ast.Call, scope)
        self.functions = []  # (ast.FunctionDef, ast.AsyncFunctionDef or ast.Lambda, scope around it, scope of its own)
        self.blocks = {}  # the context of a `with`: its statements
        self.sums = []  # (the outermost ast.BinOp of + and -, or ast.AugAssign, scope)
        self.references = []  # (ast.Attribute whose name is asked for, scope)
        self.imports = []  # (node, [dotted name, ...])
        self.stars = []  # modules of `from module import *`
        self.own_attributes = {}  # name: [(value assigned to self.name or the like, scope), ...]
        self._attributes = frozenset(attributes)
        self._called = {}
        self._names = {}  # by the id of a list of bindings, which its scope keeps: what the name stands for
        self._inner = set()  # nodes that are terms of a sum
        self._walk()
        parts = set(part for _, dotted_names in self.imports for name in dotted_names for part in name.split("."))
        #: Whether the file imports TensorFlow, or something that is called so.
        self.has_tensorflow = any(
            part.startswith("tensorflow") or part.endswith("keras") or part in _CALLED_TENSORFLOW for part in parts)

    # ------------------------------------------------------------------------------------------------- walking
    def _walk(self):
        visitors = dict((kind, getattr(self, "_" + kind.__name__)) for kind in _VISITED)
        for kind, name in (("AnnAssign", "_Assign"), ("NamedExpr", "_Assign"), ("AsyncFunctionDef", "_FunctionDef"),
                           ("AsyncWith", "_With")):
            if hasattr(ast, kind):
                visitors[getattr(ast, kind)] = getattr(self, name)
        fields = {}  # of a type of node: the fields to visit
        stack = [(self.tree, self.scope)]
        while stack:
            node, scope = stack.pop()
            kind = node.__class__
            visit = visitors.get(kind)
            if visit:
                handled = visit(node, scope)
                if handled is not None:
                    stack.extend(handled)
                    continue
            names = fields.get(kind)
            if names is None:
                names = fields[kind] = [name for name in node._fields if name not in _DULL]
            for name in names:
                value = getattr(node, name, None)
                if value.__class__ is list:
                    for item in value:
                        if isinstance(item, ast.AST):
                            stack.append((item, scope))
                elif isinstance(value, ast.AST):
                    stack.append((value, scope))

    # Each visitor returns what is to be visited in its place, or None: all of the node's children, in the same scope.
    def _Name(self, node, scope):
        if not isinstance(node.ctx, ast.Load):
            scope.bind(node.id, None)
        return ()

    def _Attribute(self, node, scope):
        if node.attr in self._attributes or node.attr.endswith("_grad"):
            self.references.append((node, scope))

    def _Call(self, node, scope):
        self.calls.append((node, scope))

    def _With(self, node, scope):
        for item in getattr(node, "items", [node]):  # Python 2 has a node for each
            self.blocks[item.context_expr] = node.body

    def _BinOp(self, node, scope):
        if isinstance(node.op, (ast.Add, ast.Sub)):
            if node not in self._inner:
                self.sums.append((node, scope))
            self._inner.update((node.left, node.right))

    def _AugAssign(self, node, scope):
        if isinstance(node.op, (ast.Add, ast.Sub)):
            self.sums.append((node, scope))
            self._inner.add(node.value)

    def _Assign(self, node, scope):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        more = [(getattr(node, "annotation", None), scope), (node.value, scope)]
        for target in targets:
            more += self._bind(target, node.value, scope)
        return [(child, where) for child, where in more if child is not None]

    def _bind(self, target, value, scope):
        """Binds and returns what of the target is still to be visited."""
        if isinstance(target, ast.Name):
            scope.bind(target.id, None if value is None else (value, scope))
            return []
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)) and (
                len(target.elts) == len(value.elts)):
            return [rest for pair in zip(target.elts, value.elts) for rest in self._bind(pair[0], pair[1], scope)]
        if isinstance(target, ast.Attribute) and value is not None:
            self.own_attributes.setdefault(target.attr, []).append((value, scope))
        return [(target, scope)]

    def _FunctionDef(self, node, scope):
        scope.bind(node.name, node)
        return self._enter(node, scope, node.body) + [(d, scope) for d in node.decorator_list]

    def _Lambda(self, node, scope):
        return self._enter(node, scope, [node.body])

    def _enter(self, node, scope, body):
        own = Scope(scope, node)
        for statement in body:
            if isinstance(statement, ast.Global):
                own.elsewhere.update((name, self.scope) for name in statement.names)
            elif type(statement).__name__ == "Nonlocal":
                own.elsewhere.update((name, scope) for name in statement.names)
        self.functions.append((node, scope, own))
        arguments = node.args
        found = list(arguments.args) + [arguments.vararg, arguments.kwarg]
        found += getattr(arguments, "posonlyargs", []) + getattr(arguments, "kwonlyargs", [])
        for argument in found:
            name = argument if isinstance(argument, str) else getattr(argument, "arg", getattr(argument, "id", None))
            if name:
                own.bind(name, None)
            elif argument is not None:  # a tuple of Python 2
                for part in ast.walk(argument):
                    if isinstance(part, ast.Name):
                        own.bind(part.id, None)
        defaults = [d for d in list(arguments.defaults) + list(getattr(arguments, "kw_defaults", [])) if d is not None]
        return [(child, own) for child in body] + [(default, scope) for default in defaults]

    def _ClassDef(self, node, scope):
        scope.bind(node.name, node)
        own = Scope(scope, node)
        around = list(node.bases) + list(node.decorator_list) + [k.value for k in getattr(node, "keywords", [])]
        return [(child, own) for child in node.body] + [(child, scope) for child in around]

    def _comprehension(self, node, scope):
        own = Scope(scope, node)
        parts = [getattr(node, name) for name in ("elt", "key", "value") if hasattr(node, name)]
        for generator in node.generators:
            parts += [generator.target, generator.iter] + list(generator.ifs)
        return [(part, own) for part in parts]

    _ListComp = _SetComp = _DictComp = _GeneratorExp = _comprehension

    def _ExceptHandler(self, node, scope):
        if isinstance(node.name, str):  # Python 2 has a Name there
            scope.bind(node.name, None)

    def _Import(self, node, scope):
        self.imports.append((node, [alias.name for alias in node.names]))
        for alias in node.names:
            if alias.asname:
                scope.bind(alias.asname, alias.name)
            else:
                scope.bind(alias.name.split(".")[0], alias.name.split(".")[0])
        return ()

    def _ImportFrom(self, node, scope):
        module = "." * (node.level or 0) + (node.module or "")
        self.imports.append((node, ["%s.%s" % (module, alias.name) for alias in node.names]))
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(module)
            else:
                scope.bind(alias.asname or alias.name, "%s.%s" % (module, alias.name))
        return ()

    # ----------------------------------------------------------------------------------------------- resolving
    def resolve(self, node, scope):
        """The dotted names that an expression may stand for, in their canonical form."""
        return set(canonical(name) for name in self._resolve(node, scope))

    def called(self, call, scope):
        """The dotted names of the function in a call of this module."""
        names = self._called.get(call)
        if names is None:
            names = self._called[call] = self.resolve(call.func, scope)
        return names

    def _resolve(self, node, scope):
        if isinstance(node, ast.Name):
            return self._resolve_name(node.id, scope)
        if isinstance(node, ast.Attribute):
            return set("%s.%s" % (name, node.attr) for name in self._resolve(node.value, scope))
        if isinstance(node, ast.IfExp):
            return self._resolve(node.body, scope) | self._resolve(node.orelse, scope)
        if isinstance(node, ast.BoolOp):
            return set().union(*[self._resolve(value, scope) for value in node.values])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._resolve_lookup(node, scope)
        return set()

    def _resolve_name(self, name, scope):
        values = scope.lookup(name)
        if not values:
            found = set("%s.%s" % (module, name) for module in self.stars if not module.startswith("."))
            return found or set([_CALLED_TENSORFLOW[name]] if name in _CALLED_TENSORFLOW else [])
        found = self._names.get(id(values))
        if found is None:
            found = set(value for value in values if isinstance(value, str))
            self._names[id(values)] = found  # for `tf = tf.compat.v1`, which asks for itself
            for value in values:
                if isinstance(value, tuple):
                    found = found | self._resolve(value[0], value[1])
            if name in _CALLED_TENSORFLOW and not any(f.startswith("tensorflow") for f in found):
                foreign = [f for f in found if not f.startswith(".") and f.split(".")[-1] != name]
                if not foreign and not any(isinstance(value, ast.AST) for value in values):
                    found = found | set([_CALLED_TENSORFLOW[name]])
            self._names[id(values)] = found
        return found

    def _resolve_lookup(self, call, scope):
        """`getattr(tf, "Print", other)` and `importlib.import_module("tensorflow")`."""
        if call.func.id == "getattr" and len(call.args) > 1:
            name = constant(call.args[1])
            found = self._resolve(call.args[2], scope) if len(call.args) > 2 else set()
            if isinstance(name, compat.string_types):
                found = found | set("%s.%s" % (f, name) for f in self._resolve(call.args[0], scope))
            return found
        name = constant(call.args[0]) if call.func.id in ("import_module", "__import__") and call.args else None
        return set([name]) if isinstance(name, compat.string_types) else set()

    def single_constant(self, node, scope):
        """The value of a literal, or of a name that is assigned one literal and nothing else; else MISSING."""
        for _ in range(_LONGEST):
            value = constant(node)
            if value is not MISSING or not isinstance(node, ast.Name):
                return value
            values = scope.lookup(node.id)
            if len(values) != 1 or not isinstance(values[0], tuple):
                return MISSING
            node, scope = values[0]
        return MISSING

    def assigned(self, node, scope):
        """The expressions that a name or an attribute may have been assigned, each with its scope."""
        if isinstance(node, ast.Name):
            return [value for value in scope.lookup(node.id) if isinstance(value, tuple)]
        if isinstance(node, ast.Attribute):
            return self.own_attributes.get(node.attr, [])
        return []

    def functions_of(self, node, scope, seen=()):
        """The functions of this file that an expression may stand for, as nodes."""
        if isinstance(node, (ast.Lambda, ast.FunctionDef)) or type(node).__name__ == "AsyncFunctionDef":
            return [node]
        if isinstance(node, ast.Name) and node.id not in seen:
            found = []
            for value in scope.lookup(node.id):
                if isinstance(value, tuple):
                    found += self.functions_of(value[0], value[1], seen + (node.id,))
                elif isinstance(value, ast.AST) and not isinstance(value, ast.ClassDef):
                    found.append(value)
            return found
        if isinstance(node, ast.Call) and node.args and last_name(node.func) == "partial":
            return self.functions_of(node.args[0], scope, seen)
        return []


_VISITED = [
    ast.Name, ast.Attribute, ast.Call, ast.With, ast.BinOp, ast.AugAssign, ast.Assign, ast.FunctionDef, ast.Lambda,
    ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.ExceptHandler, ast.Import,
    ast.ImportFrom]
