"""Samples of softmax, its logarithm and log-sum-exp."""

import numpy as np
from scipy import special

from tests.ops.registry import call, errors, forward_only, inf, nan, samples

# PyTorch rounds some steps to 16 bits, and loses a digit that ours keep.
_ROUGH = {"bfloat16": (5e-2, 1e-2)}


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


def _log_softmax(x, dim, dtype=None):
    if x.size == 0:
        return x
    shifted = x - np.max(x, axis=dim, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=dim, keepdims=True))


@samples("log_softmax", reference=_log_softmax, tolerance=_ROUGH)
def log_softmax(make):
    yield from _along_dim(make)


@errors("softmax")
def softmax_errors(make):
    yield (make(2, 3), 2), IndexError, "softmax: "
    yield (
        (make(3, dtype="int64"), 0),
        NotImplementedError,
        "softmax: not implemented for dtype int64",
    )


def _logsumexp(x, dim, keepdim=False):
    axis = tuple(dim) if isinstance(dim, list | tuple) else dim
    x = x.astype(complex if np.iscomplexobj(x) else float)
    top = np.max(x.real, axis=axis, keepdims=True, initial=-inf)
    top = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore"):
        result = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return result if keepdim else np.squeeze(result, axis)


@samples("logsumexp", reference=_logsumexp, tolerance=_ROUGH)
def logsumexp(make):
    yield make(3, 4), 0
    yield make(3, 4), 1, True
    yield make(2, 3, 4), (0, 2)
    yield call(make(2, 3, 4), dim=(1, 2), keepdim=True)
    yield make(2, 3, 4).transposed(), -1
    yield make(2, 0), 1
    yield make(2, 700), 1
    if make.is_floating:
        yield forward_only(make.of([[-inf, 0, 1], [-inf] * 3, [inf, 0, 1], [inf, nan, 1]]), 1)
        yield make.of(1000, 1000, 999), 0
