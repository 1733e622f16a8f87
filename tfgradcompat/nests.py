"""Flatten and pack: the leaves of nested lists, tuples, namedtuples, dicts and attrs objects.

`tf.nest` is public from TensorFlow 1.14 on only, and its older forms do not know dicts or attrs; so this is our own.
Dicts are taken in sorted key order, as everywhere in TensorFlow.
"""

from __future__ import absolute_import, division, print_function

import collections

from . import compat

_is_nest = {}  # by type
_COPIED = (list, dict, collections.OrderedDict, collections.defaultdict)


def is_nest(value):
  """Whether `value` is a container that is looked into; everything else is a leaf."""
  cls = type(value)
  found = _is_nest.get(cls)
  if found is None:  # asking an abstract base class takes its time, and every leaf of every call is asked
    found = _is_nest[cls] = (issubclass(cls, (list, tuple, compat.Mapping)) or
                             getattr(cls, "__attrs_attrs__", None) is not None)
  return found


def items(nest):
  """The `(key, child)` pairs of a nest, in the order in which its leaves count."""
  if isinstance(nest, compat.Mapping):
    return [(key, nest[key]) for key in sorted_keys(nest)]
  if isinstance(nest, (list, tuple)):
    return list(enumerate(nest))
  return [(a.name, getattr(nest, a.name)) for a in type(nest).__attrs_attrs__]


def sorted_keys(mapping):
  try:
    return sorted(mapping)
  except TypeError:  # keys that do not compare: any fixed order will do
    return sorted(mapping, key=lambda key: (type(key).__name__, repr(key)))


def rebuild(value, visit):
  """Puts `visit(leaf)` in the place of each leaf, in order.

  Plain lists and dicts are copied, so that nobody changes the caller's. Any other container comes back as the very same
  object where no leaf changes: it may be the `self` of a method.
  """
  if not is_nest(value):
    return visit(value)
  old = items(value)
  new = [(key, rebuild(child, visit)) for key, child in old]
  if type(value) not in _COPIED and all(a is b for (_, a), (_, b) in zip(old, new)):
    return value
  return _like(value, new)


class Node(object):
  """A nest in outline: its type and keys, and for children numbers, None, or nodes."""

  __slots__ = ("kind", "keys", "children")

  def __init__(self, kind, keys, children):
    self.kind, self.keys, self.children = kind, keys, children

  def __str__(self):
    parts = [str(child) if isinstance(child, Node) else "*" for child in self.children]
    if self.kind == "list":
      return "[%s]" % ", ".join(parts)
    return "{%s}" % ", ".join("%r: %s" % pair for pair in zip(self.keys, parts))


def outline(value, numbers):
  """`value` as nodes, with the next of `numbers` in the place of each leaf."""
  if not is_nest(value):
    return next(numbers)
  pairs = items(value)
  return Node(_kind(value), [key for key, _ in pairs], [outline(child, numbers) for _, child in pairs])


def holds_numbers(node):
  """Whether there is a number anywhere in an outline."""
  return any(map(holds_numbers, node.children)) if isinstance(node, Node) else node is not None


def match(node, value, found):
  """Puts the leaves of `value` into `found` at the numbers in `node`; whether the two have the same structure.

  None in the place of a nest stands for None in each of its leaves.
  """
  if not isinstance(node, Node):
    if is_nest(value):
      return False
    if node is not None:
      found[node] = value
    return True
  if value is None:
    return True
  if not is_nest(value) or _kind(value) != node.kind:
    return False
  pairs = items(value)
  return [key for key, _ in pairs] == node.keys and all(
      [match(child, v, found) for child, (_, v) in zip(node.children, pairs)])


def paths(node, prefix=""):
  """The place of each leaf, as it would be written in Python: `['weights'][0]`."""
  if not isinstance(node, Node):
    return [prefix]
  form = "%s.%s" if node.kind == "attrs" else "%s[%r]"
  return [path for key, child in zip(node.keys, node.children) for path in paths(child, form % (prefix, key))]


def _kind(nest):
  return "dict" if isinstance(nest, compat.Mapping) else "list" if isinstance(nest, (list, tuple)) else "attrs"


def _like(nest, new):
  """A nest of the type of `nest` with the children of `new`."""
  kind = type(nest)
  if isinstance(nest, compat.Mapping):
    children = dict(new)
    ordered = [(key, children[key]) for key in nest]  # the user's own order
    if hasattr(nest, "default_factory"):
      return kind(nest.default_factory, ordered)
    try:
      return kind(ordered)
    except TypeError:  # a mapping that is not made from pairs, such as TensorFlow's own wrapper of a tracked dict
      return dict(ordered)
  children = [child for _, child in new]
  if hasattr(nest, "_fields"):
    return kind(*children)
  if isinstance(nest, (list, tuple)):
    return kind(children)
  names = [a.name for a in kind.__attrs_attrs__]
  return kind(**dict(zip([name.lstrip("_") for name in names], children)))
