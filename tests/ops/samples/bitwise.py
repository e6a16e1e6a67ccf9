"""Samples of bit operations."""

import numpy as np

from tests.ops.pointwise import LARGE
from tests.ops.registry import errors, samples

for name, function in (
    ("bitwise_and", np.bitwise_and),
    ("bitwise_or", np.bitwise_or),
    ("bitwise_xor", np.bitwise_xor),
):

    @samples(name, reference=function)
    def calls(make):
        yield make(3, 4), make(3, 4)
        yield make(3, 1), make(1, 4)
        yield make(LARGE), make(LARGE)
        yield make(3, 4), make(3, 4, dtype="int64")
        yield make(3, 4), True if make.is_bool else 5
        yield True if make.is_bool else 6, make(3)


@samples("bitwise_not", reference=np.bitwise_not)
def bitwise_not(make):
    yield make(3, 4)
    yield make(LARGE)


@errors("bitwise_and", "bitwise_or", "bitwise_xor")
def bitwise_errors(make):
    yield (make(3), make(3)), RuntimeError, "not implemented for dtype float32"


def _width(a):
    return a.dtype.itemsize * 8


def _left_shift(a, b):
    b = np.asarray(b, a.dtype)
    inside = (b >= 0) & (b < _width(a))
    return np.where(inside, np.left_shift(a, np.where(inside, b, 0)), a.dtype.type(0))


def _right_shift(a, b):
    b = np.asarray(b, a.dtype)
    inside = (b >= 0) & (b < _width(a))
    beyond = np.right_shift(a, _width(a) - 1) if a.dtype.kind == "i" else np.zeros_like(a)
    return np.where(inside, np.right_shift(a, np.where(inside, b, 0)), beyond)


for name, function in (
    ("bitwise_left_shift", _left_shift),
    ("bitwise_right_shift", _right_shift),
):

    @samples(name, reference=function)
    def shifts(make):
        yield make(3, 4), make(3, 4, low=0, high=7)
        yield make(LARGE), make(LARGE, low=0, high=7)
        yield make(3, 4), 2
        outside = (8, 64, 127) if make.dtype == "uint8" else (-1, 64, 127)
        yield make(3), make.of(*outside)
