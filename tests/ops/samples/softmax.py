"""Samples of softmax, its logarithm and log-sum-exp."""

import numpy as np
from scipy import special

from tests.ops.registry import call, errors, forward_only, inf, nan, samples


def _along_dim(make):
    yield make(3, 4), 0
    yield make(3, 4), -1
    yield call(make(2, 3, 4), dim=1)
    yield make(2, 3, 4).transposed(), 0
    yield make(), 0
    yield make(0, 3), 1
    yield call(make(3, 4), dim=1, dtype=make.dtype)
    yield make(2, 700), 1
    yield make(300, 3), 0
    yield forward_only(make.of([[nan, 1, 2], [-inf, 0, 1], [-inf, -inf, -inf], [inf, 0, 1]]), 1)


@samples("softmax", reference=lambda x, dim, dtype=None: special.softmax(x, axis=dim))
def softmax(make):
    yield from _along_dim(make)


@samples("log_softmax", reference=lambda x, dim, dtype=None: special.log_softmax(x, axis=dim))
def log_softmax(make):
    yield from _along_dim(make)


@errors("softmax")
def softmax_errors(make):
    yield (make(2, 3), 2), IndexError, "softmax: "
    yield (make(3, dtype="int64"), 0), NotImplementedError, "softmax: not implemented for dtype int64"


def _logsumexp(x, dim, keepdim=False):
    axis = tuple(dim) if isinstance(dim, list | tuple) else dim
    x = np.asarray(x, dtype=float)
    top = np.max(x, axis=axis, keepdims=True, initial=-inf)
    top = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore"):
        result = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return result if keepdim else np.squeeze(result, axis)


@samples("logsumexp", reference=_logsumexp)
def logsumexp(make):
    yield make(3, 4), 0
    yield make(3, 4), 1, True
    yield make(2, 3, 4), (0, 2)
    yield call(make(2, 3, 4), dim=(1, 2), keepdim=True)
    yield make(2, 3, 4).transposed(), -1
    yield make(2, 0), 1
    yield make(2, 700), 1
    if make.is_floating:
        yield forward_only(make.of([[-inf, 0, 1], [-inf, -inf, -inf], [inf, 0, 1]]), 1)
        yield make.of(1000, 1000, 999), 0
