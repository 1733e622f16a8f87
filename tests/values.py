# -*- coding: utf-8 -*-
"""The arguments and results of tests: variables to be made, arrays, and the tensors in nests."""
from __future__ import absolute_import, division, print_function

import numpy as np
import tensorflow as tf

from releases import IndexedSlices, KERAS_3, VERSION, do_not_convert, import_private, v1


class variable(object):
    """A variable to be made afresh where the test runs.

    `kind` is "ref" (graph mode only), "resource", "keras" (a Keras 3 variable, or what a Keras layer makes) or None, the mode's own default.
    """

    def __init__(self, value, kind=None, name="v", trainable=True):
        self.value, self.kind, self.name, self.trainable = as_array(value), kind, name, trainable

    def make(self, mode):
        kind = self.kind or mode.variable_kinds[0]
        assert kind in mode.variable_kinds, "no %s variables in %s" % (kind, mode)
        if kind == "keras" and KERAS_3:
            return tf.keras.Variable(self.value, name=self.name, trainable=self.trainable, dtype=self.value.dtype.name)
        if kind == "keras":
            initial = self.value
            layer = tf.keras.layers.Layer(dtype=initial.dtype.name)
            initializer = lambda shape, dtype=None, **_: tf.constant(initial)
            return layer.add_weight(name=self.name, shape=initial.shape, dtype=initial.dtype.name, trainable=self.trainable,
                                    initializer=initializer)
        if mode.in_graph:
            return get_variable(self.name, self.value, kind == "resource", self.trainable)
        if VERSION >= (2, 0):
            return tf.Variable(self.value, name=self.name, trainable=self.trainable)
        ResourceVariable = import_private("tensorflow.python.ops.resource_variable_ops", "ResourceVariable")
        return ResourceVariable(self.value, name=self.name, trainable=self.trainable)


def get_variable(name, value, use_resource, trainable=True):
    """`tf.get_variable` in the current graph, with an explicit kind."""
    value = as_array(value)
    options = {}
    if VERSION >= (1, 2):
        options["use_resource"] = use_resource
    else:
        assert not use_resource
    return v1.get_variable(name, shape=value.shape, dtype=tf.as_dtype(value.dtype), trainable=trainable,
                           initializer=v1.constant_initializer(value, dtype=tf.as_dtype(value.dtype)), **options)


def as_array(value):
    """A number, list or array as an array: floats become float32 unless they are numpy already."""
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    array = np.asarray(value)
    if array.dtype == np.float64:
        return array.astype(np.float32)
    if array.dtype in (np.int64, np.int32):
        return array.astype(np.int32)
    if array.dtype == np.complex128:
        return array.astype(np.complex64)
    return array


def constant(value, dtype):
    """A constant of this very dtype: in eager 1.8 a numpy scalar becomes a tensor that says float64 and is float32."""
    return tf.constant(np.asarray(value, dtype=dtype.as_numpy_dtype), dtype=dtype)


# --------------------------------------------------------------------------------------------------------------- nests
def is_tensor(value):
    return isinstance(value, (tf.Tensor, IndexedSlices)) or (
        hasattr(value, "dtype") and hasattr(value, "shape") and not isinstance(value, (np.ndarray, np.generic)))


@do_not_convert
def flatten(nest):
    """`(leaves, rebuild)` of lists, tuples, namedtuples and dicts; `rebuild(leaves)` gives the same nest of others."""
    if isinstance(nest, dict):
        keys = sorted(nest)
        children, make = [nest[key] for key in keys], lambda values: type(nest)(zip(keys, values))
    elif isinstance(nest, tuple) and hasattr(nest, "_fields"):
        children, make = list(nest), lambda values: type(nest)(*values)
    elif isinstance(nest, (list, tuple)) and not hasattr(nest, "dense_shape"):
        children, make = list(nest), type(nest)
    else:
        return [nest], lambda leaves: leaves[0]
    parts = [flatten(child) for child in children]
    sizes = [len(leaves) for leaves, _ in parts]

    def rebuild(leaves):
        values, start = [], 0
        for (_, child), size in zip(parts, sizes):
            values.append(child(leaves[start:start + size]))
            start += size
        return make(values)

    return [leaf for leaves, _ in parts for leaf in leaves], rebuild


@do_not_convert
def split_tensors(nest):
    """`(tensors, merge)`: the tensors of a nest, and a way to put others in their place."""
    leaves, rebuild = flatten(nest)
    places = [i for i, leaf in enumerate(leaves) if is_tensor(leaf)]

    def merge(tensors):
        filled = list(leaves)
        for place, tensor in zip(places, tensors):
            filled[place] = tensor
        return rebuild(filled)

    return [leaves[place] for place in places], merge


def is_float(tensor):
    return tensor.dtype.is_floating or tensor.dtype.is_complex


@do_not_convert
def dense(gradient, like):
    """A gradient as one tensor, and None as None."""
    if not isinstance(gradient, IndexedSlices):
        return gradient
    if gradient.dense_shape is not None:
        return tf.convert_to_tensor(gradient)
    segment_sum = tf.math.unsorted_segment_sum if VERSION >= (1, 13) else tf.unsorted_segment_sum
    return segment_sum(gradient.values, gradient.indices, tf.shape(like)[0])


@do_not_convert
def add_up(tensors):
    """The sum of all elements of all tensors that are not None; None when there are none."""
    sums = [tf.reduce_sum(tensor) for tensor in tensors if tensor is not None]
    total = sums[0] if sums else None
    for other in sums[1:]:
        total = total + tf.cast(other, total.dtype)
    return total
