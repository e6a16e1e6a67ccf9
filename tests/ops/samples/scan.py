"""Samples of running sums, products and extrema."""

import numpy as np

from tests.ops.registry import call, errors, forward_only, inf, nan, samples


def _scanned(scan):
    return lambda x, dim, dtype=None: (
        scan(x, axis=dim, dtype=dtype) if x.ndim else scan(x, dtype=dtype)[0]
    )


def _along_dim(make):
    yield make(5), 0
    yield make(3, 4), 0
    yield make(3, 4), -1
    yield call(make(2, 3, 4), dim=1)
    yield make(3, 4).transposed(), 0
    yield make(), 0
    yield make(0, 3), 0
    yield make(2, 0), 1


@samples("cumsum", reference=_scanned(np.cumsum))
def cumsum(make):
    yield from _along_dim(make)
    yield call(make(5), 0, dtype=make.dtype)
    yield make(2, 101), 1


@samples("cumprod", reference=_scanned(np.cumprod))
def cumprod(make):
    yield from _along_dim(make)
    yield call(make(5), 0, dtype=make.dtype)


def _logcumsumexp(x, dim):
    line = np.atleast_1d(x)
    if np.iscomplexobj(x):
        return np.log(np.cumsum(np.exp(line), axis=dim)).reshape(x.shape)
    return np.logaddexp.accumulate(line, axis=dim).reshape(x.shape)


@samples("logcumsumexp", reference=_logcumsumexp)
def logcumsumexp(make):
    # Small angles: a logarithm is unique up to whole turns only.
    for shape, dim in (((5,), 0), ((3, 4), 0), ((3, 4), -1), ((2, 3, 4), 1), ((), 0), ((0, 3), 0)):
        yield make(*shape, low=-1, high=1), dim
    yield make(3, 4, low=-1, high=1).transposed(), 0
    if make.is_floating:
        yield forward_only(make.of(-inf, -inf, 0, 1, inf, 2), 0)
        yield forward_only(make.of(0, nan, 1), 0)
        yield make.of(1000, 1000, -1000), 0


@errors("cumsum")
def cumsum_errors(make):
    yield (make(2, 3), 2), IndexError, "cumsum: "


def _running(better):
    def reference(x, dim):
        lines = np.moveaxis(np.atleast_1d(x), dim, -1)
        values = np.empty_like(lines)
        indices = np.empty(lines.shape, np.int64)
        for at in np.ndindex(*lines.shape[:-1]):
            where = 0
            for i, value in enumerate(lines[at]):
                best = lines[at][where]
                if value != value or (best == best and better(value, best)):
                    where = i
                values[(*at, i)] = lines[at][where]
                indices[(*at, i)] = where
        back = lambda a: np.moveaxis(a, -1, dim).reshape(x.shape)  # noqa: E731
        return back(values), back(indices)

    return reference


def _extrema(make):
    yield from _along_dim(make)
    yield forward_only(make.of(1, 3, 3, 2, 3, 1), 0)  # the last of equals
    if make.is_floating:
        yield forward_only(make.of(1, nan, 2, nan, 0), 0)


@samples("cummax", reference=_running(lambda a, b: a >= b))
def cummax(make):
    yield from _extrema(make)


@samples("cummin", reference=_running(lambda a, b: a <= b))
def cummin(make):
    yield from _extrema(make)


def _diff(x, n=1, dim=-1, prepend=None, append=None):
    more = {k: v for k, v in (("prepend", prepend), ("append", append)) if v is not None}
    return np.diff(x, n=n, axis=dim, **more)


@samples("diff", reference=_diff)
def diff(make):
    yield make(5)
    yield make(3, 4), 1, 0
    yield make(3, 4), 2
    yield call(make(3, 4), n=3, dim=1)
    yield call(make(3, 4), dim=1, prepend=make(3, 1), append=make(3, 2))
    yield make(3, 4), 0
    yield call(make(3, 4), 0, prepend=make(3, 1), append=make(3, 2))  # which order 0 leaves out
    yield make(1)


@errors("diff")
def diff_errors(make):
    yield (make(),), RuntimeError, "diff: expected input to be at least one-dimensional"
    yield (make(3), -1), RuntimeError, "diff: expected a non-negative order n, got -1"
