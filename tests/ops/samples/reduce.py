"""Samples of reductions."""

import numpy as np

from tests.ops.registry import call, errors, forward_only, inf, nan, samples


def _dims(dim):
    return tuple(dim) if isinstance(dim, list | tuple) else dim


def _over_all_if_empty(dim):
    dim = _dims(dim)
    return None if dim == () else dim


def _folded(fold):
    def reference(x, dim=None, keepdim=False, dtype=None):
        return fold(x, axis=_over_all_if_empty(dim), keepdims=keepdim, dtype=dtype)

    return reference


def _over_dims(make):
    """The ways to say which dimensions go."""
    yield make(3, 4)
    yield make()
    yield make(3, 4), 0
    yield make(3, 4), 1, True
    yield call(make(2, 3, 4), dim=-1, keepdim=True)
    yield call(make(2, 3, 4), dim=(0, 2))
    yield call(make(2, 3, 4), dim=[-1, 0], keepdim=True)
    yield make(2, 3, 4).transposed(), 1
    yield make(2, 3, 4, 5).channels_last(), (0, 3)
    yield make(1, 4).expanded(3, 4), 0
    yield make(6, 5).strided(), 1
    yield make(3, 700), 1  # longer than a vector and not a multiple of one
    yield make(70, 40), 0  # more rows than a block has


def _dim_errors(name):
    @errors(name)
    def dim_errors(make):
        yield (make(2, 3), 5), IndexError, f"{name}: "
        yield (make(2, 3), -3), IndexError, f"{name}: "
        yield (make(2, 3), (0, 0)), RuntimeError, f"{name}: "


@samples("sum", reference=_folded(np.sum))
def sum_(make):
    yield from _over_dims(make)
    yield make(0)
    yield make(2, 0), 1
    yield call(make(3, 4), dim=())
    yield call(make(3, 4), dim=None)
    yield call(make(3, 4), dim=1, dtype=make.dtype)


@samples("nansum", reference=_folded(np.nansum))
def nansum(make):
    yield from _over_dims(make)
    if make.is_floating:
        yield forward_only(make.of([[1, nan, 2], [nan, nan, 3]]), 1)


@samples("mean", reference=_folded(np.mean))
def mean(make):
    yield from _over_dims(make)
    yield call(make(3, 4), dim=1, dtype=make.dtype)


@errors("mean")
def mean_errors(make):
    yield (
        (make(3, dtype="int64"),),
        RuntimeError,
        "complex128; pass dtype= to convert",
    )
    yield (make(2, 3), 5), IndexError, "mean: "


# PyTorch adds up 16-bit floats in 16 bits here.
@samples(
    "nanmean",
    reference=_folded(np.nanmean),
    tolerance={"float16": (2e-2, 1e-3), "bfloat16": (1e-1, 5e-3)},
)
def nanmean(make):
    yield from _over_dims(make)
    if make.is_floating:
        yield forward_only(make.of([[1, nan, 2], [nan, 4, 3]]), 1)


@errors("nanmean")
def nanmean_errors(make):
    yield (make(3, dtype="int64"),), RuntimeError, "nanmean: expected a floating point input"


def _prod(x, dim=None, keepdim=False, dtype=None):
    return np.prod(x, axis=dim, keepdims=keepdim, dtype=dtype)


@samples("prod", reference=_prod)
def prod(make):
    yield make(3, 4)
    yield make(0)
    yield make(3, 4), 0
    yield make(3, 4), 1, True
    yield make(2, 3, 2).transposed(), -1
    yield call(make(3, 4), dim=1, dtype=make.dtype)


def _extremum(fold):
    def reference(x, dim=None, keepdim=False):
        return fold(x, axis=_over_all_if_empty(dim), keepdims=keepdim)

    return reference


@samples("amax", reference=_extremum(np.max))
def amax(make):
    yield from _over_dims(make)
    yield make(0, 3), 1
    if make.is_floating:
        yield forward_only(make.of([[1, nan, 2], [-inf, inf, 3]]), 1)


@samples("amin", reference=_extremum(np.min))
def amin(make):
    yield from _over_dims(make)
    yield make(0, 3), 1
    if make.is_floating:
        yield forward_only(make.of([[1, nan, 2], [-inf, inf, 3]]), 1)


for _name in ("sum", "nansum", "amax", "amin"):
    _dim_errors(_name)


def _with_index(fold, position, pairwise):
    def reference(x, dim=None, keepdim=False):
        if isinstance(dim, np.ndarray):
            return pairwise(x, dim)
        if dim is None:
            return fold(x)
        values = fold(x, axis=dim, keepdims=keepdim)
        return values, position(x, axis=dim, keepdims=keepdim)

    return reference


def _extremum_samples(make):
    yield make.distinct(3, 4)
    yield make.distinct(3, 4), 0
    yield make.distinct(3, 4), 1, True
    yield call(make.distinct(2, 3, 4), dim=-1, keepdim=True)
    yield make.distinct(3, 4).transposed(), 1
    yield make(), 0
    yield forward_only(make.of(2, 3, 1, 3, 1), 0)  # the first of equals
    yield make(0, 3), 1
    yield make(300), 0
    yield make(70, 40), 0
    if make.is_floating:
        yield forward_only(make.of([[1, nan, 2], [nan, nan, 3], [-inf, -inf, -inf]]), 1)


@samples("max", reference=_with_index(np.max, np.argmax, np.maximum))
def max_(make):
    yield from _extremum_samples(make)
    yield make(3, 4), make(4)


@samples("min", reference=_with_index(np.min, np.argmin, np.minimum))
def min_(make):
    yield from _extremum_samples(make)
    yield make(3, 4), make(4)


@errors("max")
def max_errors(make):
    yield (make(0),), RuntimeError, "max: expected a reduction dim"
    yield (make(2, 0), 1), IndexError, "max: expected reduction dim 1 to have non-zero size"
    yield (make(2, 3), 2), IndexError, "max: "


def _position(find):
    def reference(x, dim=None, keepdim=False):
        return find(x, axis=dim, keepdims=keepdim)

    return reference


@samples("argmax", reference=_position(np.argmax))
def argmax(make):
    yield from _extremum_samples(make)
    yield call(make.distinct(3, 4), keepdim=True)


@samples("argmin", reference=_position(np.argmin))
def argmin(make):
    yield from _extremum_samples(make)


@errors("argmax")
def argmax_errors(make):
    yield (make(0),), IndexError, "argmax: expected a reduction dim"
    yield (make(2, 0), 1), IndexError, "argmax: expected reduction dim 1"


@samples(
    "aminmax",
    reference=lambda x, dim=None, keepdim=False: (
        np.min(x, axis=dim, keepdims=keepdim),
        np.max(x, axis=dim, keepdims=keepdim),
    ),
)
def aminmax(make):
    yield make(3, 4)
    yield call(make(3, 4), dim=0)
    yield call(make(3, 4), dim=1, keepdim=True)


def _truth(fold):
    def reference(x, dim=None, keepdim=False):
        result = fold(x, axis=_dims(dim), keepdims=keepdim)
        return result.astype(np.uint8) if x.dtype == np.uint8 else result

    return reference


def _truth_samples(make):
    yield from _over_dims(make)
    yield make(0)
    yield make(2, 0), 1
    yield make.of(0, 0, 0)
    yield make.of(0, 1, 0)
    yield make.of([[1, 1], [0, 1]]), 1
    if make.is_floating:
        yield make.of(-0.0, 0.0)
        yield make.of(nan, 1)


@samples("any", reference=_truth(np.any))
def any_(make):
    yield from _truth_samples(make)


@samples("all", reference=_truth(np.all))
def all_(make):
    yield from _truth_samples(make)


@samples(
    "count_nonzero",
    reference=lambda x, dim=None: np.count_nonzero(x, axis=_over_all_if_empty(dim)),
)
def count_nonzero(make):
    yield make.of(0, 1, 2, 0)
    yield make(3, 4)
    yield make(3, 4), 1
    yield make(2, 3, 4), (0, 2)
    yield make(0)
    yield make(5000)  # more than a byte counts


def _moments(spread, with_mean):
    def reference(x, dim=None, unbiased=True, keepdim=False, *, correction=None):
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        axis = _over_all_if_empty(dim)
        ddof = correction if correction is not None else int(unbiased)
        result = spread(x, axis=axis, ddof=ddof, keepdims=keepdim)
        return (result, np.mean(x, axis=axis, keepdims=keepdim)) if with_mean else result

    return reference


def _moment_samples(make):
    yield make(3, 4)
    yield make(3, 4), False
    yield make(3, 4), 0
    yield make(3, 4), 1, False
    yield make(3, 4), 1, True, True
    yield call(make(3, 4), dim=(0, 1), correction=0)
    yield call(make(5, 4), dim=0, correction=2, keepdim=True)
    yield call(make(3, 4), dim=1, unbiased=False, keepdim=True)
    yield make(2, 3, 4).transposed(), 1
    yield make(300), 0
    yield make(70, 40), 0


for _name, _spread in (("var", np.var), ("std", np.std)):
    for _suffix in ("", "_mean"):

        @samples(_name + _suffix, reference=_moments(_spread, bool(_suffix)))
        def _(make):
            yield from _moment_samples(make)


@errors("var")
def var_errors(make):
    yield (make(3, dtype="int64"),), RuntimeError, "var: not implemented for dtype int64"
    yield (make(2, 3), 5), IndexError, "var: "


def _norm(x, p=None, dim=None, keepdim=False, dtype=None):
    order = 2 if p in (None, "fro") else p
    if order == "nuc":
        return np.linalg.norm(x, "nuc", dim or (-2, -1), keepdim)
    axis = _over_all_if_empty(dim)
    size = np.abs(x)
    if order == 0:
        return np.sum(size != 0, axis=axis, keepdims=keepdim).astype(size.dtype)
    if np.isinf(order):
        fold = np.max if order > 0 else np.min
        return fold(size, axis=axis, keepdims=keepdim)
    return np.sum(size**order, axis=axis, keepdims=keepdim) ** (1 / order)


@samples("norm", reference=_norm)
def norm(make):
    for order in (None, 0, 1, 2, 3, 0.5, inf, -inf, "fro"):
        yield make.nonzero(3, 4), order
        yield call(make.nonzero(3, 4), p=order, dim=1, keepdim=True)
    yield call(make(2, 3, 4), dim=(0, 2))
    yield call(make(3, 4), dtype=make.dtype)
    yield make(0)
    yield make(70, 40), 2, 0
    if make.dtype not in ("float16", "bfloat16"):
        yield make(3, 4), "nuc"
        yield call(make(3, 2, 4), p="nuc", dim=(2, 0), keepdim=True)


@errors("norm")
def norm_errors(make):
    yield (make(3, dtype="int64"),), RuntimeError, "norm: not implemented for dtype int64"
    yield (make(2, 3), 2, 5), IndexError, "norm: "
    yield (make(0), inf), RuntimeError, "norm: the norm of order inf has no value"


def _segment_reduce(x, reduce, *, lengths=None, offsets=None, axis=0, unsafe=False, initial=None):
    counts = np.diff(offsets) if lengths is None else np.asarray(lengths)
    starts = {"sum": 0, "mean": 0, "prod": 1, "max": -inf, "min": inf}
    functions = {"sum": np.sum, "mean": np.sum, "prod": np.prod, "max": np.max, "min": np.min}
    start = starts[reduce] if initial is None else initial

    def one(rows, sizes):
        parts = np.split(rows, np.cumsum(sizes)[:-1])
        found = [functions[reduce](part, axis=0, initial=start) for part in parts]
        if reduce == "mean":
            empty = np.full(rows.shape[1:], nan if initial is None else initial)
            found = [each / n if n else empty for each, n in zip(found, sizes, strict=True)]
        return np.stack([np.asarray(each, x.dtype) for each in found])

    if axis == 0:
        return one(x, counts)
    return np.stack([one(*each) for each in zip(x, counts, strict=True)])


def _whole(make, *values):
    return make.of(list(values), dtype="int64")


@samples("segment_reduce", reference=_segment_reduce)
def segment_reduce(make):
    for reduce in ("sum", "mean", "max", "min", "prod"):
        values = make.positive if reduce == "prod" else make.distinct
        yield call(values(5, 2), reduce, lengths=_whole(make, 1, 3, 1), initial=0.3)
    yield call(make(5), "sum", offsets=_whole(make, 0, 2, 2, 5))
    yield call(make(5), "mean", lengths=_whole(make, 5, 0), initial=1)
    yield call(make(2, 4, 3), "sum", lengths=_whole(make, [1, 3], [2, 2]), axis=1)


@errors("segment_reduce")
def segment_reduce_errors(make):
    one = _whole(make, 5)
    yield call(make(5), "median", lengths=one), RuntimeError, "reduce must be one of"
    yield call(make(5), "sum"), RuntimeError, "one of lengths and offsets must be given"
    yield call(make(4), "sum", lengths=one), RuntimeError, "must sum to the size"
    yield (
        call(make(5), "sum", lengths=_whole(make, 6, -1)),
        RuntimeError,
        "a length is negative: -1",
    )
    yield call(make(5), "sum", lengths=one, axis=1), IndexError, "out of range"
    yield call(make(), "sum", lengths=one), RuntimeError, "data must have a dimension"
    yield call(make(5, 2), "sum", lengths=one, axis=1), RuntimeError, "do not fit"
