"""Samples of looking up values."""

import numpy as np

from tests.ops.registry import call, errors, forward_only, nan, samples


def _searchsorted(sequence, x, *, out_int32=False, right=False, side=None, sorter=None):
    side = side or ("right" if right else "left")
    x = np.asarray(x)
    if sorter is not None:
        sequence = np.take_along_axis(sequence, sorter, -1)
    if sequence.ndim == 1:
        found = np.searchsorted(sequence, x, side)
    else:
        rows = zip(
            sequence.reshape(-1, sequence.shape[-1]), x.reshape(-1, x.shape[-1]), strict=True
        )
        found = np.array([np.searchsorted(s, v, side) for s, v in rows]).reshape(x.shape)
    return found.astype(np.int32 if out_int32 else np.int64)


@samples("searchsorted", reference=_searchsorted)
def searchsorted(make):
    one = make.of(1, 3, 3, 5)
    values = make.of([[0, 3, 6], [1, 4, 5]])
    yield one, values
    yield one, 3
    yield call(one, values, right=True)
    yield call(one, values, side="right", out_int32=True)
    yield call(one, values, side="left")
    yield make.of([[1, 3, 5], [2, 4, 6]]), values
    yield call(make.of(5, 1, 3), make.of(2, 3), sorter=make.of(1, 2, 0, dtype="int64"))
    yield one, make(0)
    yield make(0), make.of(1, 2)


@errors("searchsorted")
def searchsorted_errors(make):
    yield call(make.of(1, 2), make.of(1), side="up"), RuntimeError, "searchsorted: expected side"
    yield call(make.of(1, 2), make.of(1), side="left", right=True), RuntimeError, "are opposites"
    yield (make(2, 3), make(3, 3)), RuntimeError, "searchsorted: expected the sequence to be 1-D"


@samples(
    "bucketize",
    reference=lambda x, boundaries, **options: _searchsorted(boundaries, x, **options),
)
def bucketize(make):
    boundaries = make.of(1, 3, 5)
    yield make.of([[0, 3, 6], [1, 4, 5]]), boundaries
    yield 3, boundaries
    yield call(make.of(0, 3, 6), boundaries, right=True, out_int32=True)


@errors("bucketize")
def bucketize_errors(make):
    yield (
        (make(3), make(2, 2)),
        RuntimeError,
        "bucketize: expected boundaries to have 1 dimension",
    )


@samples(
    "isin",
    reference=lambda x, test, *, assume_unique=False, invert=False: np.isin(x, test, invert=invert),
)
def isin(make):
    yield make.of([[1, 2], [3, 4]]), make.of(2, 4, 7)
    yield make.of(1, 2, 3), 2
    yield 2, make.of(1, 2)
    yield call(make.of(1, 2, 3), make.of(1, 3), assume_unique=True, invert=True)
    yield make.of(1, 2), make(0)
    yield make(0), make.of(1, 2)
    if make.is_floating:
        yield forward_only(make.of(nan, 1), make.of(nan, 1))
