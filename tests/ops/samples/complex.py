"""Samples of complex numbers and their parts."""

import numpy as np

from tests.ops.pointwise import LARGE, in_double
from tests.ops.registry import errors, forward_only, nan, samples

for name in ("conj", "conj_physical"):
    # PyTorch conjugates lazily: its result is a view of the input.
    @samples(name, reference=lambda x: np.conj(x) if x.dtype.kind == "c" else x, strides=False)
    def conjugates(make):
        yield make(3, 4)
        yield make(LARGE)


@samples("resolve_conj", "resolve_neg", reference=lambda x: x)
def resolve(make):
    yield make(3, 4)


# PyTorch makes contiguous angles of complex tensors.
@samples(
    "angle",
    strides=False,
    reference=in_double(
        lambda x: np.where(np.isnan(x), x, np.angle(x)) if x.dtype.kind == "f" else np.angle(x)
    ),
)
def angle(make):
    yield make(3, 4)
    if make.is_floating:
        yield forward_only(make.of(0.0, 1.0, -1.0, nan))


@samples(
    "polar", reference=lambda size, angle: size * np.exp(1j * angle), dtypes=("float32", "float64")
)
def polar(make):
    yield make(3, 4), make(3, 4)
    yield make(3, 1), make(4)


@samples("complex", reference=lambda re, im: re + 1j * im, dtypes=("float32", "float64"))
def complex_(make):
    yield make(3, 4), make(3, 4)
    yield make(3, 1), make(4)


@errors("complex", "polar")
def part_errors(make):
    yield (make(3), make(3, dtype="float64")), RuntimeError, "all tensors must have the same dtype"
