"""A function with its own gradient, written once, right on every TensorFlow from 0.12 on.

`custom_grad` decorates; `route` says how graphs carry the gradient in this process. Importing this package imports no
TensorFlow. The way of the code: decorator.py, from top to bottom.
"""

from __future__ import absolute_import, division, print_function

from .decorator import custom_grad
from .guided import guided_backprop
from .overriding import override_gradient
from .py_func import py_func
from .recomputing import recompute
from .routes import route

__all__ = ["custom_grad", "guided_backprop", "override_gradient", "py_func", "recompute", "route"]
__version__ = "0.1.0"
