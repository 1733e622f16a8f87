# The public names. Types of TensorFlow are those of the stubs that are installed for it, else Any.
from typing import Any, Callable, ContextManager, Mapping, Sequence, TypeVar, overload

import numpy as np  # type: ignore[import, unused-ignore]  # old ones have no types
import tensorflow as tf  # type: ignore[import, unused-ignore]  # it may be missing, or have none
from typing_extensions import Literal, ParamSpec, Protocol  # which type checkers know without it being installed

from . import transforms as transforms
from .explaining import explain as explain
from .transforms import _Number, _Real, _Transform

__all__ = [
    "check_gradient", "clip_gradient_by_norm", "clip_gradient_by_value", "clip_gradients_by_global_norm", "custom_grad",
    "custom_objects", "explain", "guided_backprop", "keras_layer", "minimize", "override_gradient", "print_gradient",
    "py_func", "recompute", "reverse_gradient", "route", "scale_gradient", "straight_through", "surrogate", "transforms",
    "value_and_gradients"]
__version__: str

_P = ParamSpec("_P")
_R = TypeVar("_R")
_T = TypeVar("_T")
_X = TypeVar("_X")
_Gradient = Callable[..., Any]

# ---- custom_grad: the parameters stay, the result is the first of the pair

@overload
def custom_grad(f: staticmethod[_P, tuple[_R, _Gradient]]) -> staticmethod[_P, _R]: ...
@overload
def custom_grad(f: classmethod[_T, _P, tuple[_R, _Gradient]]) -> classmethod[_T, _P, _R]: ...
@overload
def custom_grad(f: Callable[_P, tuple[_R, _Gradient]]) -> Callable[_P, _R]: ...
@overload
def custom_grad(f: None = None) -> Callable[[Callable[_P, tuple[_R, _Gradient]]], Callable[_P, _R]]: ...

# ---- functions that hand x through: it keeps its type, but for variables and arrays, which become tensors

_Read = tf.Variable | np.ndarray[Any, Any]
_Reads = _Read | Sequence[_Read] | Mapping[Any, _Read]

@overload
def scale_gradient(x: _Reads, scale: _Number) -> Any: ...
@overload
def scale_gradient(x: _X, scale: _Number) -> _X: ...

@overload
def reverse_gradient(x: _Reads, scale: _Number = 1.) -> Any: ...
@overload
def reverse_gradient(x: _X, scale: _Number = 1.) -> _X: ...

@overload
def clip_gradient_by_value(x: _Reads, lo: _Real, hi: _Real) -> Any: ...
@overload
def clip_gradient_by_value(x: _X, lo: _Real, hi: _Real) -> _X: ...

@overload
def clip_gradient_by_norm(x: _Reads, norm: _Real) -> Any: ...
@overload
def clip_gradient_by_norm(x: _X, norm: _Real) -> _X: ...

@overload
def clip_gradients_by_global_norm(xs: _Reads, norm: _Real) -> Any: ...
@overload
def clip_gradients_by_global_norm(xs: _X, norm: _Real) -> _X: ...

@overload
def print_gradient(x: _Reads, message: str = "", summarize: int = 3) -> Any: ...
@overload
def print_gradient(x: _X, message: str = "", summarize: int = 3) -> _X: ...

@overload
def check_gradient(x: _Reads, message: str = "check_gradient") -> Any: ...
@overload
def check_gradient(x: _X, message: str = "check_gradient") -> _X: ...

# ---- functions made of functions

def straight_through(f: Callable[_P, _R]) -> Callable[_P, _R]: ...
def surrogate(f: Callable[_P, _R], b: Callable[..., Any]) -> Callable[_P, _R]: ...

@overload
def recompute(f: Callable[_P, _R], seed: None = None) -> Callable[_P, _R]: ...
@overload
def recompute(f: Callable[..., _R], seed: int) -> Callable[..., _R]: ...  # without the keyword `seed`, which no type can say

# ---- steps

class _Optimizer(Protocol):
  @property
  def apply_gradients(self) -> Callable[..., Any]: ...

class _Variable(Protocol):  # of Keras 3
  @property
  def assign(self) -> Any: ...

# The gradients have the structure of xs, in which tensors, IndexedSlices or None stand.
@overload
def value_and_gradients(f: Callable[..., _R], xs: list[Any], allow_unconnected: bool = False) -> tuple[_R, list[Any]]: ...
@overload
def value_and_gradients(f: Callable[..., _R], xs: Any, allow_unconnected: bool = False) -> tuple[_R, Any]: ...

def minimize(
    optimizer: _Optimizer, loss: Callable[[], Any] | tf.Tensor, variables: tf.Variable | _Variable | list[Any] | tuple[Any, ...],
    transform: _Transform | Sequence[_Transform] | None = None, allow_unconnected: bool = False) -> Any: ...

# ---- Python code and other operations

class _DType(Protocol):
  @property
  def name(self) -> str: ...  # so of TensorFlow and of numpy

_Shape = tf.TensorShape | Sequence[int | None] | None

@overload
def py_func(
    func: Callable[..., Any], inputs: list[Any] | tuple[Any, ...], Tout: list[Any] | tuple[Any, ...],
    grad: Callable[..., Any] | None = None, grad_py: Callable[[Any, Any, Any], Any] | None = None,
    shape: Sequence[_Shape] | None = None, stateful: bool = True, name: str | None = None) -> list[tf.Tensor]: ...
@overload
def py_func(
    func: Callable[..., Any], inputs: list[Any] | tuple[Any, ...], Tout: _DType | type[Any] | str,
    grad: Callable[..., Any] | None = None, grad_py: Callable[[Any, Any, Any], Any] | None = None,
    shape: _Shape = None, stateful: bool = True, name: str | None = None) -> tf.Tensor: ...

class override_gradient:
  autograph_info__: None
  def __init__(self, gradients: dict[str, Callable[..., Any]]) -> None: ...
  def __enter__(self) -> override_gradient: ...
  def __exit__(self, kind: Any, value: Any, traceback: Any) -> Literal[False]: ...  # exceptions go on

def guided_backprop(model: Any = None) -> ContextManager[Any]: ...

# ---- Keras, routes

def keras_layer(f: Callable[..., Any], **options: Any) -> Any: ...
def custom_objects(keras: Any = None) -> dict[str, type[Any]]: ...
def route() -> Literal["native", "override"]: ...
