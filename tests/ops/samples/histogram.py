"""Samples of counts by value and by interval."""

import numpy as np

from tests.ops.registry import call, errors, forward_only, nan, samples


def _bincount(x, weights=None, minlength=0):
    sums = np.bincount(x, weights, minlength)
    if weights is None:
        return sums
    return sums.astype(np.float32 if weights.dtype == np.float32 else np.float64)


@samples("bincount", reference=_bincount)
def bincount(make):
    yield make.of(0, 1, 1, 3, 5, 1)
    yield call(make.of(0, 1, 1, 3), minlength=6)
    yield make.of(0, 2, 2), make(3, dtype="float64")
    yield call(make.of(0, 2, 2), weights=make(3, dtype="float64"), minlength=5)
    yield make(0)
    yield call(make(0), minlength=3)


@errors("bincount")
def bincount_errors(make):
    refused = "bincount: expected a 1-D input of non-negative integers"
    yield (make.of(1, -1, dtype="int64"),), RuntimeError, refused
    yield (make.of([[1]], dtype="int64"),), RuntimeError, refused
    yield (make.of(1, 2, dtype="int64"), make(3)), RuntimeError, "bincount: expected weights of"
    yield (make.of(1.0, 2.0),), NotImplementedError, "bincount: not implemented for dtype float32"


def _histc(x, bins=100, min=0, max=0):
    if min == max and x.size:
        min, max = x.min(), x.max()
    if min == max:
        min, max = min - 1, max + 1
    return np.histogram(x, bins, (min, max))[0].astype(x.dtype)


@samples("histc", reference=_histc)
def histc(make):
    spread = make.of([[0, 0.25, 0.75], [1, 1.5, 3.25]])
    yield spread, 4, 0, 4
    yield call(spread, bins=3)
    yield spread
    yield call(spread, bins=2, min=0.5, max=2)  # outside counts nowhere
    yield make.of(2, 2, 2), 2
    yield make(0), 3
    yield forward_only(make.of(nan, 1, 2), 2, 0, 4)


@errors("histc")
def histc_errors(make):
    yield (make(3), 0), RuntimeError, "histc: expected bins > 0, got 0"
    yield (make(3), 4, 2, 1), RuntimeError, "histc: expected max to be larger than min"
    yield (make.of(nan, 1.0),), RuntimeError, "histc: the range of"


def _histogram(x, bins, *, range=None, weight=None, density=False):
    hist, edges = np.histogram(x, bins, range, density, weight)
    return hist.astype(x.dtype), edges


@samples("histogram", reference=_histogram)
def histogram(make):
    spread = make.of([[0, 0.25, 0.75], [1, 1.5, 3.25]])
    yield spread, 4
    yield call(spread, 4, range=(0.0, 2.0))
    yield call(spread, 4, range=(0.0, 4.0), weight=make(2, 3), density=False)
    yield call(spread, 4, density=True)
    yield spread, make.of(0, 0.5, 1, 3)
    yield call(spread, make.of(0, 0.5, 1, 3), density=True)


@errors("histogram")
def histogram_errors(make):
    yield (make(3), 0), RuntimeError, "histogram: expected bins > 0, got 0"
    yield call(make(3), 2, range=(1.0, 0.0)), RuntimeError, "histogram: expected an increasing"


def _histogramdd(x, bins, range=None, weight=None, density=False):
    limits = None if range is None else list(zip(range[::2], range[1::2], strict=True))
    hist, edges = np.histogramdd(
        x.reshape(-1, x.shape[-1]),
        bins,
        limits,
        density,
        None if weight is None else weight.ravel(),
    )
    return hist.astype(x.dtype), *(each.astype(x.dtype) for each in edges)


@samples("histogramdd", reference=_histogramdd)
def histogramdd(make):
    points = make.of([[0, 0.25], [0.75, 1], [1.5, 3.25], [3, 4]])
    yield points, [2, 3]
    yield points, 2
    yield call(points, [4, 2], (0.0, 2.0, 0.0, 4.0))  # outside counts nowhere
    yield call(points, [2, 2], weight=make(4), density=False)
    yield call(points, [2, 2], density=True)
    yield points, [make.of(0, 0.5, 3), make.of(0, 1, 2, 4)]  # the last edges count


@errors("histogramdd")
def histogramdd_errors(make):
    yield (make(), 2), IndexError, "histogramdd: input has no dimension"
    yield (make(3), 2), RuntimeError, "histogramdd: input needs at least 2 dimensions"
    yield (
        (make(3, 2), [1]),
        RuntimeError,
        "histogramdd: expected bins for each of the 2 coordinates",
    )
    yield (make(3, 2), 0), RuntimeError, "histogramdd: expected at least one bin, got 0"
    yield call(make(3, 2), 2, (0.0, 1.0)), RuntimeError, "histogramdd: range must have 4 numbers"
    yield call(make(3, 2), 2, weight=make(2)), RuntimeError, "histogramdd: weight must have"
