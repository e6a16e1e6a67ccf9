"""Samples of distinct elements."""

import numpy as np

from tests.ops.registry import forward_only, nan, samples


def _asked(values, inverse, counts, return_inverse, return_counts):
    if not (return_inverse or return_counts):
        return values
    return (values, *([inverse] if return_inverse else []), *([counts] if return_counts else []))


def _unique(x, sorted=True, return_inverse=False, return_counts=False, dim=None):
    values, inverse, counts = np.unique(
        x, return_inverse=True, return_counts=True, axis=dim, equal_nan=False
    )
    inverse = inverse.reshape(x.shape if dim is None else -1)
    return _asked(values, inverse, counts, return_inverse, return_counts)


@samples("unique", reference=_unique)
def unique(make):
    yield forward_only(make.of(3, 1, 2, 1, 3))
    yield forward_only(make.of([[2, 1], [1, 2]]))
    yield forward_only(make.of([[2, 1, 2], [1, 2, 0]]), return_inverse=True)
    yield forward_only(make.of([[2, 1, 2], [1, 2, 0]]), return_counts=True, return_inverse=True)
    yield forward_only(make.of(2, 1, 2), True, False, True)
    yield forward_only(make.of([[1, 2], [0, 1], [1, 2]]), dim=0)
    yield forward_only(
        make.of([[1, 1, 0], [2, 2, 1]]), dim=1, return_inverse=True, return_counts=True
    )
    yield make(0)
    yield make.distinct(2, 3)
    yield make()
    yield make(400)
    if make.is_floating:
        yield forward_only(make.of(nan, 1, nan))


def _unique_consecutive(x, return_inverse=False, return_counts=False, dim=None):
    rows = x.reshape(-1, 1) if dim is None else np.moveaxis(x, dim, 0).reshape(x.shape[dim], -1)
    starts = np.ones(len(rows), bool)
    starts[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    at = np.flatnonzero(starts)
    values = x.reshape(-1)[at] if dim is None else np.take(x, at, axis=dim)
    inverse = (np.cumsum(starts) - 1).reshape(x.shape if dim is None else -1)
    counts = np.diff(np.append(at, len(rows)))
    return _asked(values, inverse, counts, return_inverse, return_counts)


@samples("unique_consecutive", reference=_unique_consecutive)
def unique_consecutive(make):
    yield forward_only(make.of(1, 1, 2, 2, 1))
    yield forward_only(make.of([[1, 1], [2, 1]]), return_inverse=True, return_counts=True)
    yield forward_only(make.of([[1, 2], [1, 2], [0, 1]]), dim=0, return_counts=True)
    yield forward_only(make.of([[1, 1, 2], [0, 0, 1]]), return_inverse=True, dim=1)
    yield make(0)
