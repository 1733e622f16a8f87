"""A user's file that `mypy --strict` accepts. Only test_types.py reads it; nobody runs it.

`assert_type` is an error of mypy where a type is another one than it says, Any included.
"""
import functools
from typing import Any, Callable, Dict, List, Tuple

import numpy as np
import tensorflow as tf
from typing_extensions import Literal, assert_type

import tfgradcompat
from tfgradcompat import custom_grad, errors, explaining, testing, transforms

Gradient = Callable[..., Any]
x = tf.constant(1.0)
w = tf.Variable(x)

# ---- custom_grad: parameters and result stay


def scaled_pair(x: tf.Tensor, scale: float = 1.0) -> Tuple[tf.Tensor, Gradient]:
    def in_grad(dy: tf.Tensor) -> tf.Tensor:
        return dy * scale

    return x, in_grad


scaled = custom_grad(scaled_pair)
assert_type(scaled(x), tf.Tensor)
assert_type(scaled(x, 2.0), tf.Tensor)
assert_type(scaled(x=x, scale=2), tf.Tensor)


@custom_grad()
def halves(x: tf.Tensor, *, names: List[str]) -> Tuple[Dict[str, tf.Tensor], Callable[[tf.Tensor, tf.Tensor], tf.Tensor]]:
    return {name: x * 0.5 for name in names}, lambda dy, dz: dy + dz


assert_type(halves(x, names=["a", "b"]), Dict[str, tf.Tensor])


def times(x: tf.Tensor) -> Tuple[Tuple[tf.Tensor, int], Gradient]:
    def in_grad(dy: tf.Tensor, variables: List[tf.Variable]) -> Tuple[tf.Tensor, List[tf.Tensor]]:
        return dy, [dy for _ in variables]

    return (x * w, 1), in_grad


assert_type(custom_grad(times)(x), Tuple[tf.Tensor, int])


class Object:
    def __call__(self, x: tf.Tensor) -> Tuple[tf.Tensor, Gradient]:
        return x, lambda dy: dy


def same(x: Any) -> Any:  # without types nothing is known, and nothing is wrong
    return x, lambda dy: dy


assert_type(custom_grad(Object())(x), tf.Tensor)
assert_type(custom_grad(functools.partial(scaled_pair, x))(scale=2.0), tf.Tensor)
assert_type(custom_grad(lambda: (x, lambda dy: dy))(), tf.Tensor)
assert_type(custom_grad(same)(x), Any)


class Model:
    @custom_grad
    def method(self, x: tf.Tensor, power: int = 1) -> Tuple[tf.Tensor, Gradient]:
        return x, lambda dy: dy

    @staticmethod
    @custom_grad
    def static(x: tf.Tensor) -> Tuple[tf.Tensor, Gradient]:
        return x, lambda dy: dy

    @custom_grad
    @classmethod
    def of_class(cls, x: tf.Tensor) -> Tuple[List[tf.Tensor], Gradient]:
        return [x], lambda dy: dy


assert_type(Model().method(x, power=2), tf.Tensor)
assert_type(Model.method(Model(), x), tf.Tensor)
assert_type(Model().static(x), tf.Tensor)
assert_type(Model.of_class(x), List[tf.Tensor])

# ---- ready-made functions: x keeps its type, where it is no variable and no array

assert_type(tfgradcompat.scale_gradient(x, 2.0), tf.Tensor)
assert_type(tfgradcompat.scale_gradient((x, [x]), scale=w), Tuple[tf.Tensor, List[tf.Tensor]])
assert_type(tfgradcompat.scale_gradient(w, 2j), Any)
assert_type(tfgradcompat.scale_gradient([w], x), Any)
assert_type(tfgradcompat.scale_gradient(np.ones(3), np.float32(2.0)), Any)
assert_type(tfgradcompat.reverse_gradient(x), tf.Tensor)
assert_type(tfgradcompat.clip_gradient_by_value(x, -1, hi=float("inf")), tf.Tensor)
assert_type(tfgradcompat.clip_gradient_by_norm({"a": x}, 1.0), Dict[str, tf.Tensor])
assert_type(tfgradcompat.clip_gradients_by_global_norm([x, x], norm=x), List[tf.Tensor])
assert_type(tfgradcompat.print_gradient(x, "dx", summarize=-1), tf.Tensor)
assert_type(tfgradcompat.check_gradient(x, message="dx"), tf.Tensor)


@tfgradcompat.straight_through
def rounded(x: tf.Tensor, digits: int = 0) -> tf.Tensor:
    return tf.round(x)


assert_type(rounded(x, digits=1), tf.Tensor)
assert_type(tfgradcompat.surrogate(rounded, lambda x, digits=0: x)(x, digits=1), tf.Tensor)


def dropped(x: tf.Tensor, rate: float, seed: Any = None) -> List[tf.Tensor]:
    return [x]


assert_type(tfgradcompat.recompute(dropped)(x, rate=0.5), List[tf.Tensor])
assert_type(tfgradcompat.recompute(dropped, seed=1)(x, 0.5), List[tf.Tensor])

# ---- numpy code, TensorFlow's own operations, Keras

assert_type(tfgradcompat.py_func(np.square, [x], tf.float32, grad=lambda op, dy: dy, shape=[None, 3]), tf.Tensor)
assert_type(tfgradcompat.py_func(np.square, [x], np.float32, grad_py=lambda xs, ys, dys: dys), tf.Tensor)
assert_type(tfgradcompat.py_func(np.square, (1.0,), np.dtype("float32")), tf.Tensor)
assert_type(tfgradcompat.py_func(np.modf, [w], [tf.float32, tf.float32], shape=[None, [3]]), List[tf.Tensor])


def clipped(x: tf.Tensor) -> tf.Tensor:
    with tfgradcompat.override_gradient({"Relu": lambda op, dy: dy}):
        return tf.round(x)


def guided(x: tf.Tensor) -> tf.Tensor:
    with tfgradcompat.guided_backprop():
        return tf.round(x)


layer = tfgradcompat.keras_layer(scaled, scale=2.0)
names: List[str] = list(tfgradcompat.custom_objects())
assert_type(tfgradcompat.route(), Literal["native", "override"])

# ---- steps


class Optimizer:
    def apply_gradients(self, pairs: List[Tuple[tf.Tensor, tf.Variable]], name: str = "") -> None:
        pass


def halved(pairs: List[Tuple[tf.Tensor, tf.Variable]]) -> List[Tuple[tf.Tensor, tf.Variable]]:
    return [(gradient * 0.5, variable) for gradient, variable in pairs]


assert_type(tfgradcompat.value_and_gradients(rounded, [x, 1]), Tuple[tf.Tensor, List[Any]])
assert_type(tfgradcompat.value_and_gradients(rounded, x, allow_unconnected=True), Tuple[tf.Tensor, Any])
tfgradcompat.minimize(Optimizer(), lambda: x, [w], transform=halved)
tfgradcompat.minimize(Optimizer(), x, w, [transforms.clip_by_norm(w), transforms.add_noise(0.1, seed=1), halved])
tfgradcompat.minimize(Optimizer(), x, w, transforms.chain(transforms.skip_on_nan(), transforms.scale(np.float32(2.0))))

# ---- explain, tests, errors

explanation = tfgradcompat.explain(x, [w])
assert_type(explanation, explaining.Explanation)
assert_type([way.arrives is None for way in explanation.ways], List[bool])
assert_type(explanation.ways[0].stops, List[str])

for mode in testing.modes():
    [gradient, _] = testing.gradients(scaled, testing.variable([1.0]), 2.0, mode=mode)
    assert gradient.tolist() == [2.0]
assert_type(testing.evaluate(scaled, 1.0), Any)
testing.assert_gradients(scaled, [[1.0], 2.0], [[2.0], None], modes=["graph"], rtol=1e-3)
testing.assert_same_everywhere(scaled, (1.0,))
testing.check_gradients(scaled, 1.0, order=2, seed=3)

try:
    version: str = tfgradcompat.__version__
except errors.NoGradientError as error:
    assert isinstance(error, LookupError)
