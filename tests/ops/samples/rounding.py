"""Samples of rounding."""

import numpy as np

from tests.ops.pointwise import SPECIAL, unary
from tests.ops.registry import call, errors, forward_only, samples

HALVES = (*SPECIAL, 0.5, 1.5, 2.5, -0.5, -2.5)


def _exact(function):
    """Integers stay what they are."""
    return lambda x: function(x) if x.dtype.kind == "f" else x


for name, function in (
    ("floor", np.floor),
    ("ceil", np.ceil),
    ("trunc", np.trunc),
):
    unary(name, _exact(function), special=HALVES)

unary("frac", lambda x: x - np.trunc(x), special=(0.0, 1.5, -1.5))


@samples("round", reference=lambda x, decimals=0: _exact(lambda v: np.round(v, decimals))(x))
def round_(make):
    yield make(3, 4)
    yield make(1031)
    yield call(make(3, 4), decimals=0)
    if make.is_floating:
        yield forward_only(make.of(*HALVES))
        if make.dtype in ("float32", "float64"):  # in the 16-bit types a half comes out either way
            yield call(make(3, 4, low=-99, high=99), decimals=1)
            yield call(make(3, 4, low=-9999, high=9999), decimals=-2)


@errors("round")
def round_errors(make):
    yield call(make(3, dtype="int64"), decimals=1), RuntimeError, "round: decimals must be 0"
