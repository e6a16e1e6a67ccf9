"""Samples of sorting, top k, medians and quantiles."""

import numpy as np

from tests.ops.registry import call, errors, forward_only, inf, nan, samples


def _order(x, dim, descending):
    """Stable; NaN counts as largest."""
    if descending:
        flipped = np.flip(x, dim)
        return np.flip(x.shape[dim] - 1 - np.argsort(flipped, axis=dim, kind="stable"), dim)
    return np.argsort(x, axis=dim, kind="stable")


def _sort(x, dim=-1, descending=False, stable=False):
    if x.ndim == 0:
        return x, np.int64(0)
    order = _order(x, dim, descending)
    return np.take_along_axis(x, order, dim), order


def _lines(make):
    yield make.distinct(5)
    yield make.distinct(3, 4), 0
    yield make.distinct(3, 4), -1
    yield call(make.distinct(2, 3, 4), dim=1)
    yield make.distinct(3, 4).transposed(), 1
    yield make()


def _sorted_lines(make):
    yield from _lines(make)
    yield make.distinct(3, 4), 1, True
    yield call(make.distinct(3, 4), dim=0, descending=True, stable=True)
    yield forward_only(make.of(2, 1, 2, 0, 1, 2), stable=True)  # equals keep their order
    yield forward_only(make.of(2, 1, 2, 0, 1, 2), descending=True, stable=True)
    yield make(0, 3)
    yield make(2, 0)
    yield call(make(100), stable=True)  # merged
    yield call(make(1500), stable=True)  # by radix
    yield call(make(3, 400), descending=True, stable=True)
    if make.is_floating:
        yield forward_only(make.of(nan, 1, -inf, inf, nan, -1))
        yield forward_only(make.of(nan, 1, -inf, inf, nan, -1), 0, True)
        yield forward_only(make.of(0.0, -0.0, 0.0), stable=True)


@samples("sort", reference=_sort)
def sort(make):
    yield from _sorted_lines(make)


@samples("argsort", reference=lambda *args, **kwargs: _sort(*args, **kwargs)[1])
def argsort(make):
    yield from _sorted_lines(make)


@errors("sort")
def sort_errors(make):
    yield (make(2, 3), 2), IndexError, "sort: "
    yield (make(3, dtype="complex64"),), RuntimeError, "sort: not implemented for dtype complex64"


@samples("msort", reference=lambda x: np.sort(x, axis=0))
def msort(make):
    yield make(5)
    yield make(3, 4)


def _topk(x, k, dim=-1, largest=True, sorted=True):
    if x.ndim == 0:
        return x, np.int64(0)
    order = np.take(_order(x, dim, largest), np.arange(k), axis=dim)
    return np.take_along_axis(x, order, dim), order


@samples("topk", reference=_topk)
def topk(make):
    yield make.distinct(5), 3
    yield make.distinct(3, 4), 2, 0
    yield make.distinct(3, 4), 2, 1, False
    yield call(make.distinct(2, 3, 4), k=2, dim=1, largest=True, sorted=True)
    yield make.distinct(5), 0
    yield make(), 1
    yield make.distinct(120), 5
    if make.dtype in ("int32", "int64", "float32", "float64"):
        yield make.distinct(5000), 7  # candidates are cut down several times
        yield call(make.distinct(2, 5000), k=3, largest=False)


@errors("topk")
def topk_errors(make):
    yield (
        (make(3), 4),
        RuntimeError,
        "topk: expected k between 0 and the 3 elements along dim 0, got 4",
    )
    yield (make(2, 3), 1, 2), IndexError, "topk: "


def _at_rank(x, rank, dim, keepdim):
    if x.ndim == 0:
        return x, np.int64(0)
    order = np.take(_order(x, dim, False), [rank], axis=dim)
    values = np.take_along_axis(x, order, dim)
    return (values, order) if keepdim else (values.squeeze(dim), order.squeeze(dim))


@samples("kthvalue", reference=lambda x, k, dim=-1, keepdim=False: _at_rank(x, k - 1, dim, keepdim))
def kthvalue(make):
    yield make.distinct(5), 2
    yield make.distinct(3, 4), 1, 0
    yield make.distinct(3, 4), 4, 1, True
    yield make(), 1
    yield make.distinct(100), 60


@errors("kthvalue")
def kthvalue_errors(make):
    yield (make(3), 4), RuntimeError, "kthvalue: expected k between 1 and the 3 elements"
    yield (make(2, 0), 1), IndexError, "kthvalue: expected reduction dim 1 to have non-zero size"


def _median(ignore_nan):
    def of_line(line):
        missing = np.isnan(line.astype(float))
        numbers = line.size - missing.sum()
        if missing.any() and not (ignore_nan and numbers):
            return int(np.argmax(missing))
        return int(np.argsort(line, kind="stable")[(numbers - 1) // 2])

    def reference(x, dim=None, keepdim=False):
        lines = x.reshape(1, -1) if dim is None or x.ndim == 0 else np.moveaxis(x, dim, -1)
        where = np.apply_along_axis(of_line, -1, lines)
        values = np.take_along_axis(lines, where[..., None], -1)[..., 0]
        if dim is None:
            return values[0]
        if x.ndim == 0:
            return values[0], where[0]
        if keepdim:
            return np.expand_dims(values, dim), np.expand_dims(where, dim)
        return values, where

    return reference


def _medians(make):
    yield make.distinct(5)
    yield make.distinct(4)  # the lower of two
    yield make.distinct(3, 4), 0
    yield make.distinct(3, 5), 1, True
    yield make(), 0
    if make.is_floating:
        yield forward_only(make.of(1, nan, 3))
        yield forward_only(make.of([[1, nan, 3], [nan, nan, nan], [3, 2, 1]]), 1)


@samples("median", reference=_median(False))
def median(make):
    yield from _medians(make)


@samples("nanmedian", reference=_median(True))
def nanmedian(make):
    yield from _medians(make)


@errors("median")
def median_errors(make):
    yield (make(2, 0), 1), IndexError, "median: expected reduction dim 1 to have non-zero size"


def _mode(x, dim=-1, keepdim=False):
    def of_line(line):
        values, counts = np.unique(line, return_counts=True)
        return int(np.flatnonzero(line == values[np.argmax(counts)])[-1])

    if x.ndim == 0:
        return x, np.int64(0)
    where = np.expand_dims(np.apply_along_axis(of_line, dim, x), dim)
    values = np.take_along_axis(x, where, dim)
    return (values, where) if keepdim else (values.squeeze(dim), where.squeeze(dim))


@samples("mode", reference=_mode)
def mode(make):
    yield forward_only(make.of(1, 2, 2, 1, 3))
    yield forward_only(make.of([[1, 1, 0], [0, 1, 0]]), 0)
    yield forward_only(make.of([[1, 1, 0], [0, 1, 0]]), dim=1, keepdim=True)
    yield make.distinct(2, 3), 1
    yield make()


@errors("mode")
def mode_errors(make):
    yield (make(2, 0), 1), IndexError, "mode: expected reduction dim 1 to have non-zero size"


def _quantile(find):
    def reference(x, q, dim=None, keepdim=False, *, interpolation="linear"):
        return find(x, q, axis=dim, keepdims=keepdim, method=interpolation)

    return reference


def _quantiles(make):
    orders = make.of(0, 0.25, 0.6, 1)
    yield make(7), 0.5
    yield make(3, 4), 0.3, 1
    yield forward_only(make(3, 4), orders)  # at the ends of what an order can be
    yield forward_only(make(3, 4), orders, 0, True)
    yield call(make(3, 4), 0.5, keepdim=True)
    yield call(make(2, 3, 4), q=make.of(0.25, 0.6), dim=1)
    for method in ("lower", "higher", "midpoint", "nearest", "linear"):
        yield call(make(3, 5), 0.4, dim=1, interpolation=method)
    yield forward_only(make.of([[1, nan, 3, 4], [1, 2, 3, 4]]), 0.5, 1)


@samples("quantile", reference=_quantile(np.quantile))
def quantile(make):
    yield from _quantiles(make)


@samples("nanquantile", reference=_quantile(np.nanquantile))
def nanquantile(make):
    yield from _quantiles(make)


@errors("quantile")
def quantile_errors(make):
    yield (make(3), 1.5), RuntimeError, "quantile: expected q in [0, 1], got 1.5"
    yield (make(0), 0.5), RuntimeError, "quantile: expected a non-empty input"
    yield (
        call(make(3), 0.5, interpolation="cubic"),
        RuntimeError,
        "quantile: expected interpolation",
    )
    yield (
        (make(3, dtype="int64"), 0.5),
        RuntimeError,
        "quantile: expected a float32 or float64 input",
    )
