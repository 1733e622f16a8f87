from typing import Any, Callable, Iterable, Sequence

import numpy as np  # type: ignore[import, unused-ignore]  # old ones have no types
from typing_extensions import Literal

__all__ = ["assert_gradients", "assert_same_everywhere", "check_gradients", "evaluate", "gradients", "modes", "variable"]

class variable:
  value: Any
  use_resource: bool
  def __init__(self, value: Any, use_resource: bool = False) -> None: ...

def modes() -> list[str]: ...
def evaluate(f: Callable[..., Any], *args: Any, mode: str | None = None) -> Any: ...
def gradients(
    f: Callable[..., Any], *args: Any, mode: str | None = None, upstream: Any = None) -> list[np.ndarray[Any, Any] | Any]: ...
def assert_gradients(
    f: Callable[..., Any], args: Sequence[Any], expected: Sequence[Any], modes: Iterable[str] | None = None,
    upstream: Any = None, rtol: float = 1e-5, atol: float = 1e-6) -> None: ...
def assert_same_everywhere(
    f: Callable[..., Any], args: Sequence[Any], upstream: Any = None, rtol: float = 1e-5, atol: float = 1e-6) -> None: ...
def check_gradients(
    f: Callable[..., Any], *args: Any, order: Literal[1, 2] = 1, modes: Iterable[str] | None = None, directions: int = 3,
    delta: float | None = None, rtol: float | None = None, atol: float | None = None, seed: int = 0) -> None: ...
