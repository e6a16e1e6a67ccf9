"""Samples of exponentials and logarithms."""

import numpy as np

from tests.ops.registry import errors, forward_only, inf, nan, samples


@samples("logaddexp", reference=np.logaddexp)
def logaddexp(make):
    yield make(3, 4), make(3, 4)
    yield make(3, 1), make(1, 4)  # broadcasting
    yield make(0, 4), make(4)  # empty
    yield forward_only(make.of(1e4, inf, -inf, nan), make.of(1e4, inf, 3.0, 0.0))


@errors("logaddexp")
def logaddexp_errors(make):
    shapes = "logaddexp: shapes (2, 3) and (2, 4) do not broadcast"
    yield (make(2, 3), make(2, 4)), RuntimeError, shapes
