"""Wrong uses. A line that ends in `# error: CODE` must get that error of `mypy --strict`, and no other line may get any.

Two codes: mypy's releases differ, one of them will do. Only test_types.py reads it; nobody runs it.
"""
from typing import Any, Callable, List, Tuple

import numpy as np
import tensorflow as tf
from typing_extensions import assert_type

import tfgradcompat
from tfgradcompat import custom_grad, testing, transforms

x = tf.constant(1.0)
w = tf.Variable(x)

# ---- custom_grad: neither parameters nor result become Any


@custom_grad
def scaled(x: tf.Tensor, scale: float = 1.0) -> Tuple[tf.Tensor, Callable[..., Any]]:
    return x, lambda dy: dy * scale


scaled()  # error: call-arg
scaled(x, 1.0, 2.0)  # error: call-arg
scaled(x, factor=1.0)  # error: call-arg
scaled(x, scale="1")  # error: arg-type
scaled("x")  # error: arg-type
text: str = scaled(x)  # error: assignment
assert_type(scaled(x), Any)  # error: assert-type


@custom_grad()
def listed(x: tf.Tensor, *, count: int) -> Tuple[List[tf.Tensor], Callable[..., Any]]:
    return [x] * count, lambda *dys: dys[0]


listed(x, 2)  # error: call-arg misc
listed(x, count=2).shape  # error: attr-defined


class Model:
    @custom_grad
    def method(self, x: tf.Tensor) -> Tuple[tf.Tensor, Callable[..., Any]]:
        return x, lambda dy: dy

    @staticmethod
    @custom_grad
    def static(x: tf.Tensor) -> Tuple[tf.Tensor, Callable[..., Any]]:
        return x, lambda dy: dy

    @custom_grad
    @classmethod
    def of_class(cls, x: tf.Tensor) -> Tuple[tf.Tensor, Callable[..., Any]]:
        return x, lambda dy: dy


Model().method()  # error: call-arg
Model().method(1)  # error: arg-type
Model.static(x, x)  # error: call-arg
Model.of_class(y=x)  # error: call-arg
text = Model().method(x)  # error: assignment


@custom_grad  # error: arg-type call-overload
def without_gradient(x: tf.Tensor) -> tf.Tensor:
    return x


@custom_grad  # error: arg-type call-overload
def with_a_value(x: tf.Tensor) -> Tuple[tf.Tensor, tf.Tensor]:
    return x, x


custom_grad(1)  # error: call-overload

# ---- ready-made functions

tfgradcompat.scale_gradient(x)  # error: call-overload
tfgradcompat.scale_gradient(x, "2")  # error: call-overload
tfgradcompat.reverse_gradient(x, factor=2.0)  # error: call-overload
tfgradcompat.clip_gradient_by_value(x, -1.0)  # error: call-overload
tfgradcompat.clip_gradient_by_value(x, -1j, 1.0)  # error: call-overload
tfgradcompat.clip_gradient_by_norm(x, None)  # error: call-overload
tfgradcompat.clip_gradients_by_global_norm([x], [1.0])  # error: call-overload
tfgradcompat.print_gradient(x, 3)  # error: call-overload
tfgradcompat.check_gradient(x, summarize=3)  # error: call-overload
text = tfgradcompat.scale_gradient(x, 2.0)  # error: assignment
tfgradcompat.scale_gradient([x], 2.0).shape  # error: attr-defined


@tfgradcompat.straight_through
def rounded(x: tf.Tensor, digits: int = 0) -> tf.Tensor:
    return tf.round(x)


rounded(x, digits="1")  # error: arg-type
tfgradcompat.surrogate(rounded)  # error: call-arg
tfgradcompat.surrogate(rounded, rounded)(x, 0, 1)  # error: call-arg
tfgradcompat.recompute(rounded)(x, places=1)  # error: call-arg
tfgradcompat.recompute(rounded, seed="1")  # error: call-overload
tfgradcompat.straight_through(1)  # error: arg-type

# ---- numpy code, TensorFlow's own operations, Keras

tfgradcompat.py_func(np.square, x, tf.float32)  # error: call-overload
tfgradcompat.py_func(np.square, [x], [None], tf.float32)  # error: call-overload
tfgradcompat.py_func(np.square, [x], None)  # error: call-overload
tfgradcompat.py_func(np.square, [x], np.dtype("int8"), shape="3")  # error: arg-type call-overload
tfgradcompat.py_func(np.square, [x], [tf.float32]).shape  # error: attr-defined
tfgradcompat.py_func(np.square, [x], tf.float32, gradient=rounded)  # error: call-overload
tfgradcompat.override_gradient("Relu")  # error: arg-type
tfgradcompat.override_gradient({"Relu": 1})  # error: dict-item
tfgradcompat.keras_layer("scaled")  # error: arg-type
tfgradcompat.route() == "Native"  # error: comparison-overlap

# ---- steps, explain, tests


class Optimizer:
    def apply_gradients(self, pairs: Any) -> None:
        pass


tfgradcompat.value_and_gradients(x, rounded)  # error: call-overload
tfgradcompat.value_and_gradients(rounded, [x])[1].shape  # error: attr-defined
tfgradcompat.minimize(lambda: x, Optimizer(), [w])  # error: arg-type
tfgradcompat.minimize(Optimizer(), lambda: x, "w")  # error: arg-type
tfgradcompat.minimize(Optimizer(), lambda: x, [w], transform=transforms.clip_by_norm)  # error: arg-type
transforms.clip_by_value(0.0)  # error: call-arg
transforms.clip_by_norm("1")  # error: arg-type
transforms.add_noise(0.1, seed=0.5)  # error: arg-type
transforms.chain([])  # error: arg-type
tfgradcompat.explain(x)  # error: call-arg
tfgradcompat.explain(x, w).ways[0].arrived  # error: attr-defined
testing.evaluate(scaled, 1.0, upstream=1.0)  # error: call-arg
testing.gradients(scaled, 1.0)[0].to_list()  # error: union-attr
testing.check_gradients(scaled, 1.0, order=3)  # error: arg-type
testing.assert_gradients(scaled, 1.0, [1.0])  # error: arg-type
tfgradcompat.no_name  # error: attr-defined
