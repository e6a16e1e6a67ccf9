"""Samples of trigonometric and hyperbolic functions."""

import numpy as np

from tests.ops.pointwise import SPECIAL, binary, in_double, unary
from tests.ops.registry import nan

HUGE = (*SPECIAL, 1e4, -3e4)  # beyond the first reduction of the argument, within float16

for name, function in (
    ("sin", np.sin),
    ("cos", np.cos),
    ("tan", np.tan),
):
    unary(name, in_double(function), special=HUGE)

for name, function in (
    ("asin", np.arcsin),
    ("acos", np.arccos),
    ("atan", np.arctan),
    ("sinh", np.sinh),
    ("cosh", np.cosh),
    ("tanh", np.tanh),
    ("asinh", np.arcsinh),
    ("acosh", np.arccosh),
    ("atanh", np.arctanh),
):
    unary(name, in_double(function))

unary(
    "sinc",
    in_double(lambda x: np.where(x == 0, 1, np.sin(np.pi * x) / (np.pi * x))),
    special=(0.0, 1.0, nan),
)
unary("deg2rad", in_double(np.deg2rad))
unary("rad2deg", in_double(np.rad2deg))
binary("atan2", in_double(np.arctan2))
