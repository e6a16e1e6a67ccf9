"""Covariance, powers and coordinates."""

import numpy as np

from tests.ops.registry import call, errors, samples


def covariance(input, correction=1, fweights=None, aweights=None):
    if fweights is not None:
        fweights = fweights.astype(int)
    return np.cov(input, ddof=correction, fweights=fweights, aweights=aweights)


# Sums of products of both signs cancel.
CANCELLING = {"float16": (3e-2, 3e-2), "bfloat16": (2e-1, 2e-1)}


@samples("cov", reference=covariance, tolerance=CANCELLING)
def cov(make):
    yield make(3, 5)
    yield make(5)
    yield call(make(3, 5), correction=0)
    yield call(make(3, 5), fweights=make.index(5, high=4))
    if make.is_floating:
        yield call(make(2, 3), aweights=make.positive(3))
        yield call(make(2, 3), aweights=make.positive(3), fweights=make.index(3, high=4))


@errors("cov")
def cov_errors(make):
    yield (make(2, 2, 2),), RuntimeError, "cov: "
    yield call(make(2, 3), fweights=make(3)), RuntimeError, "cov: expected fweights of integral"
    yield call(make(2, 3), fweights=make.index(2, high=4)), RuntimeError, "cov: expected 3 fweights"


@samples("corrcoef", reference=np.corrcoef, tolerance=CANCELLING)
def corrcoef(make):
    yield make(3, 5)
    yield make(5)


def powers(x, N=None, increasing=False):
    return np.vander(x.astype(int) if x.dtype == bool else x, N, increasing)


@samples("vander", reference=powers)
def vander(make):
    yield make(3, low=-3, high=3)
    yield call(make(4, low=-3, high=3), N=2, increasing=True)
    yield call(make(3), N=0)


@errors("vander")
def vander_errors(make):
    yield (make(2, 2),), RuntimeError, "vander: "
    yield call(make(2), N=-1), RuntimeError, "vander: "


@samples("unravel_index", reference=lambda i, shape: np.unravel_index(i.astype(int), shape))
def unravel_index(make):
    yield make.of(0, 3, 5), (2, 3)
    yield make.of([[0, 3], [5, 1]]), (2, 3, 1)
    yield make.of(0, 3), 5


@errors("unravel_index")
def unravel_index_errors(make):
    yield (make(2), (2, 3)), TypeError, "integer dtype"
    yield (make.index(2, high=3), (2, -3)), ValueError, "negative"
