"""A function with its own gradient, written once, right on every TensorFlow from 0.12 on.

`custom_grad` decorates; `route` says how graphs carry the gradient in this process. Importing this package imports no
TensorFlow. The way of the code: decorator.py, from top to bottom.
"""

from __future__ import absolute_import, division, print_function

from . import transforms
from . import vectorizing as _unused_vectorizing  # lets TensorFlow's vectorizer know us
from .decorator import custom_grad
from .explaining import explain
from .gradient_changes import (
    check_gradient, clip_gradient_by_norm, clip_gradient_by_value, clip_gradients_by_global_norm, print_gradient,
    reverse_gradient, scale_gradient)
from .guided import guided_backprop
from .keras_layers import custom_objects, keras_layer
from .minimizing import minimize, value_and_gradients
from .overriding import override_gradient
from .py_func import py_func
from .recomputing import recompute
from .routes import route
from .surrogates import straight_through, surrogate

__all__ = [
    "check_gradient", "clip_gradient_by_norm", "clip_gradient_by_value", "clip_gradients_by_global_norm", "custom_grad",
    "custom_objects", "explain", "guided_backprop", "keras_layer", "minimize", "override_gradient", "print_gradient",
    "py_func", "recompute", "reverse_gradient", "route", "scale_gradient", "straight_through", "surrogate", "transforms",
    "value_and_gradients"]
__version__ = "0.1.0"
