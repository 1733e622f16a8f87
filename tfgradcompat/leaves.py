"""What a leaf is to a decorated function: a tensor, a variable, an array, something composite, or none of its business."""

from __future__ import absolute_import, division, print_function

# Kinds of leaves.
TENSOR, VARIABLE, ARRAY, SPARSE, RAGGED, SLICES, COMPOSITE, KERAS, OTHER = (
    "tensor", "variable", "array", "sparse", "ragged", "slices", "composite", "keras", "other")


class Leaves(object):
  """The part of `tensorflow_api.Api` that knows the types of TensorFlow."""

  def _probe_leaves(self, private):
    variable_types = [self.tf.Variable]
    resource = private("ops.resource_variable_ops")  # 1.0; a subclass of tf.Variable from 1.11 on
    for module, name in ((resource, "ResourceVariable"), (resource, "BaseResourceVariable"),
                         (private("ops.variables"), "PartitionedVariable"),
                         (private("distribute.values"), "DistributedVariable"),
                         (private("keras.mixed_precision.autocast_variable"), "AutoCastVariable")):
      variable_types.append(getattr(module, name, None))
    self._variable_types = tuple(t for t in variable_types if isinstance(t, type))
    # Composite tensors from 1.13 on.
    self._composite_type = getattr(private("framework.composite_tensor"), "CompositeTensor", ())
    self._opaque = frozenset(getattr(self.tf, name) for name in ("resource", "variant") if hasattr(self.tf, name))
    self._opaque_numbers = frozenset(dtype.as_datatype_enum for dtype in self._opaque)
    self._kinds = {}  # by type
    self._differentiable = {}  # by dtype

  def kind(self, leaf):
    """Which of the kinds above `leaf` is; it depends on the type only."""
    cls = type(leaf)
    kind = self._kinds.get(cls)
    if kind is None:
      kind = self._kinds[cls] = self._kind_of(cls)
    if kind is ARRAY and leaf.dtype.kind == "O":
      return OTHER  # an array of Python objects is no tensor
    if kind is TENSOR and leaf.dtype in self._opaque:
      return OTHER  # handles and variants: nothing to differentiate
    if kind is COMPOSITE and not any(self.is_differentiable(part.dtype) for part in self.tf.nest.flatten(
        leaf, expand_composites=True)):
      return OTHER  # such as a tf.data.Dataset
    return kind

  def _kind_of(self, cls):
    tf = self.tf
    # tf.keras has its symbolic tensors in TensorFlow up to 2.5; Keras 3 has variables of its own.
    # EagerTensor of 1.5 and 1.6 has no __module__ on Python 3.
    keras = set(c.__name__ for c in cls.__mro__ if getattr(c, "__module__", "").split(".")[0] in ("keras", "tf_keras"))
    if "KerasTensor" in keras or cls.__name__ == "KerasTensor":
      return KERAS
    if "KerasVariable" in keras or "Variable" in keras or issubclass(cls, self._variable_types):
      return VARIABLE
    if issubclass(cls, self.Tensor):
      return TENSOR
    if issubclass(cls, self.np.ndarray):
      return ARRAY
    for kind, name in ((SPARSE, "SparseTensor"), (RAGGED, "RaggedTensor"), (SLICES, "IndexedSlices")):
      if hasattr(tf, name) and issubclass(cls, getattr(tf, name)):
        return kind
    return COMPOSITE if issubclass(cls, self._composite_type) else OTHER

  def is_plain(self, value, graph):
    """Whether `value` is a tensor that needs no thought: of `graph`, or, where that is None, an eager one."""
    if graph is None:
      # Much faster than to ask for the dtype; in all releases with eager mode.
      return type(value) is self.EagerTensor and value._datatype_enum() not in self._opaque_numbers
    return type(value) is self.SymbolicTensor and value.graph is graph and value.dtype not in self._opaque

  def values_of(self, leaf, kind):
    """The tensor through which a composite tensor is differentiated."""
    return leaf.flat_values if kind is RAGGED else leaf.values

  def with_values(self, leaf, kind, values):
    """The composite tensor `leaf` with other values."""
    if kind is RAGGED:
      return leaf.with_flat_values(values)
    if kind is SLICES:
      return self.tf.IndexedSlices(values, leaf.indices, leaf.dense_shape)
    # `dense_shape` was called `shape` in 0.12.
    return self.tf.SparseTensor(leaf.indices, values, leaf.dense_shape if hasattr(leaf, "dense_shape") else leaf.shape)

  def read(self, variable):
    """The value of a variable, read now: gradients flow through the read to ref, resource and Keras variables."""
    return self.convert_to_tensor(variable)

  def tensors_of(self, leaf):
    """The tensors of whose gradients that of `leaf` is made; none where it is no tensor or variable."""
    kind = self.kind(leaf)
    if kind is TENSOR:
      return [leaf]
    if kind in (SPARSE, RAGGED, SLICES):
      return [self.values_of(leaf, kind)]
    if kind is not VARIABLE:
      return []
    if hasattr(leaf, "_get_variable_list"):  # tf.get_variable with a partitioner
      return [tensor for part in leaf for tensor in self.tensors_of(part)]
    leaf = self.watched(leaf)
    handle = getattr(leaf, "handle", None)
    return [leaf._variable if handle is None else handle]  # of a reference or of a resource variable

  def from_array(self, array):
    """A tensor with the present values of a numpy array, whose memory an eager tensor would share where it can (to 2.6)."""
    return self.convert_to_tensor(self.np.array(array))

  def shape(self, tensor):
    """The static shape: a list with None for unknown dimensions, or None for an unknown rank."""
    if type(tensor) is self.EagerTensor:
      return list(tensor._shape_tuple())  # much faster than a TensorShape; in all releases with eager mode
    shape = tensor.get_shape()
    return shape.as_list() if shape.ndims is not None else None

  def is_differentiable(self, dtype):
    found = self._differentiable.get(dtype)
    if found is None:  # old releases ask numpy, and each output of each call is asked
      found = self._differentiable[dtype] = dtype.is_floating or dtype.is_complex
    return found
