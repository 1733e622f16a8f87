from typing import Any, NamedTuple

class Way(NamedTuple):
  x: Any
  arrives: bool | None
  custom_gradients: list[str]
  stops: list[str]
  text: str

class Explanation(NamedTuple):
  ways: list[Way]

def explain(ys: Any, xs: Any) -> Explanation: ...
