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

for name, function, domain in (
    ("asin", np.arcsin, (-0.9, 0.9)),
    ("acos", np.arccos, (-0.9, 0.9)),
    ("atan", np.arctan, None),
    ("sinh", np.sinh, None),
    ("cosh", np.cosh, None),
    ("tanh", np.tanh, None),
    ("asinh", np.arcsinh, None),
    ("acosh", np.arccosh, (1.1, 5.0)),
    ("atanh", np.arctanh, (-0.9, 0.9)),
):
    unary(name, in_double(function), domain=domain)

unary(
    "sinc",
    in_double(lambda x: np.where(x == 0, 1, np.sin(np.pi * x) / (np.pi * x))),
    special=(0.0, 1.0, nan),
)
unary("deg2rad", in_double(np.deg2rad))
unary("rad2deg", in_double(np.rad2deg))
binary("atan2", in_double(np.arctan2))
