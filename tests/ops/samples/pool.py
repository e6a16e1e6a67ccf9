"""Samples of pooling."""

import itertools
import math

import numpy as np

from tests.ops.registry import call, errors, samples


def _each(value, rank):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * rank


def _size(n, kernel, stride, padding, dilation, ceil_mode):
    room = (n + 2 * padding - dilation * (kernel - 1) - 1) / stride
    out = (math.ceil(room) if ceil_mode else math.floor(room)) + 1
    return out - 1 if ceil_mode and (out - 1) * stride >= n + padding else out


def _sliding(space, rank, kernel_size, stride, padding, dilation, ceil_mode):
    """For each dimension the places of each window, within the padding and beyond the end."""
    kernel, pads, steps = (_each(v, rank) for v in (kernel_size, padding, dilation))
    strides = kernel if stride is None or stride == () else _each(stride, rank)
    return [
        [[o * s - p + j * d for j in range(k)] for o in range(_size(n, k, s, p, d, ceil_mode))]
        for n, k, s, p, d in zip(space, kernel, strides, pads, steps, strict=True)
    ]


def _adaptive(space, rank, output_size):
    sizes = [n if o is None else o for n, o in zip(space, _each(output_size, rank), strict=True)]
    return [
        [list(range(o * n // out, -(-(o + 1) * n // out))) for o in range(out)]
        for n, out in zip(space, sizes, strict=True)
    ]


def _pooled(x, rank, windows, reduce):
    """Applies `reduce(values, places, counts)` to every window of every plane."""
    space = x.shape[-rank:]
    planes = x.reshape(-1, *space)
    out = [[reduce(plane, window) for window in itertools.product(*windows)] for plane in planes]
    shape = (*x.shape[:-rank], *(len(w) for w in windows))
    return np.array(out).reshape(*shape, *np.shape(out)[2:]) if planes.size else np.zeros(shape)


def _inside(plane, window):
    """The places of a window that the plane has."""
    return [
        place
        for place in itertools.product(*window)
        if all(0 <= i < n for i, n in zip(place, plane.shape, strict=True))
    ]


def _largest(plane, window):
    places = _inside(plane, window)
    best = max(places, key=lambda place: plane[place])
    return plane[best], np.ravel_multi_index(best, plane.shape)


def _split(both):
    return both[..., 0], both[..., 1].astype(np.int64)


def _max_pool(rank):
    def reference(
        x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
    ):
        windows = _sliding(x.shape[-rank:], rank, kernel_size, stride, padding, dilation, ceil_mode)
        both = _split(_pooled(x, rank, windows, _largest))
        return both if return_indices else both[0]

    return reference


def _with_indices(reference):
    return lambda *args, **kwargs: reference(*args, **{**kwargs, "return_indices": True})


SPACE = {1: (9,), 2: (5, 6), 3: (3, 4, 4)}


def _single(rank, channels):
    """The shape of a single sample; for volumes of a batch of one, since PyTorch takes four
    dimensions with the channels last in memory for images."""
    return (*((1,) if rank == 3 else ()), channels, *SPACE[rank])


def _max_calls(make, rank):
    space = SPACE[rank]
    yield make.distinct(*_single(rank, 2)), 2
    yield make.distinct(1, 2, *space), 2, 1
    yield call(make.distinct(*_single(rank, 2)), 3, stride=2, padding=1)
    yield call(make.distinct(*_single(rank, 1)), 2, dilation=2, stride=1)
    yield call(make.distinct(*_single(rank, 1)), 2, 2, ceil_mode=True)
    if rank == 2:
        yield make.distinct(1, 2, *space).channels_last(), (3, 2), (2, 1), (1, 0)
        yield call(make.distinct(1, 60, 3, 4).channels_last(), 2, padding=1)


def _declare_max(rank):
    reference = _max_pool(rank)

    @samples(f"max_pool{rank}d", reference=reference)
    def plain(make):
        yield from _max_calls(make, rank)

    @samples(f"nn.functional.max_pool{rank}d", reference=reference)
    def functional(make):
        yield from _max_calls(make, rank)
        yield call(make.distinct(*_single(rank, 2)), 3, 2, 1, return_indices=True)

    @samples(f"nn.functional.max_pool{rank}d_with_indices", reference=_with_indices(reference))
    def with_indices(make):
        yield from _max_calls(make, rank)

    @errors(f"nn.functional.max_pool{rank}d")
    def refused(make):
        x = make.distinct(1, 2, *SPACE[rank])
        yield call(x, 3, padding=2), RuntimeError, "padding must be at most half"
        yield call(x, 12), RuntimeError, "is too small for kernel_size"
        yield call(x, 2, stride=0), RuntimeError, "stride must be greater than zero"
        yield call(x, 0), RuntimeError, "kernel_size must be greater than zero"
        yield call(x, 2, dilation=0), RuntimeError, "dilation must be greater than zero"
        yield call(x, 2, padding=-1), RuntimeError, "padding must be non-negative"
        yield call(x, (2, 2, 2, 2)), RuntimeError, "kernel_size must be an int or a tuple"
        yield call(make.distinct(3), 1), RuntimeError, "(batch mode) tensor"


def _average(rank):
    def reference(
        x,
        kernel_size,
        stride=None,
        padding=0,
        ceil_mode=False,
        count_include_pad=True,
        divisor_override=None,
    ):
        pads = _each(padding, rank)

        def mean(plane, window):
            counted = _inside(plane, window)
            total = sum(plane[place] for place in counted)
            if divisor_override is not None:
                return total / divisor_override
            if count_include_pad:  # the padding counts, what lies beyond it does not
                sizes = [
                    sum(i < n + p for i in places)
                    for places, n, p in zip(window, plane.shape, pads, strict=True)
                ]
                return total / np.prod(sizes)
            return total / len(counted)

        windows = _sliding(x.shape[-rank:], rank, kernel_size, stride, padding, 1, ceil_mode)
        average = _pooled(x, rank, windows, mean)
        return np.trunc(average).astype(x.dtype) if x.dtype.kind == "i" else average

    return reference


def _declare_average(rank):
    space = SPACE[rank]

    @samples(f"nn.functional.avg_pool{rank}d", reference=_average(rank))
    def calls(make):
        yield make(*_single(rank, 2)), 2
        yield make(1, 2, *space), 2, 1
        yield call(make(*_single(rank, 2)), 3, stride=2, padding=1)
        yield call(make(*_single(rank, 2)), 3, 2, padding=1, count_include_pad=False)
        yield call(make(*_single(rank, 2)), 2, 2, ceil_mode=True)
        yield call(make(*_single(rank, 2)), 3, 2, padding=1, ceil_mode=True)
        if rank > 1:
            yield call(make(*_single(rank, 2)), 2, divisor_override=3)
        if rank == 2:
            yield make(2, 3, *space).channels_last(), (3, 2), (2, 1), (1, 0)
            yield make(1, 40, *space).channels_last(), 2

    @errors(f"nn.functional.avg_pool{rank}d")
    def refused(make):
        x = make(1, 2, *space)
        yield call(x, 3, padding=2), RuntimeError, "padding must be at most half"
        yield call(x, 12), RuntimeError, "is too small for kernel_size"
        yield call(x, 2, stride=0), RuntimeError, "stride must be greater than zero"
        if rank > 1:
            yield call(x, 2, divisor_override=0), RuntimeError, "must not be zero"
        if rank == 2:
            yield call(make(3), 2), IndexError, "(batch mode) tensor"


def _declare_adaptive(rank):
    space = SPACE[rank]

    def mean(x, output_size):
        return _pooled(
            x,
            rank,
            _adaptive(x.shape[-rank:], rank, output_size),
            lambda plane, window: plane[np.ix_(*window)].mean(),
        )

    def largest(x, output_size, return_indices=False):
        both = _split(_pooled(x, rank, _adaptive(x.shape[-rank:], rank, output_size), _largest))
        return both if return_indices else both[0]

    # PyTorch sums 16-bit floats of volumes in 16 bits.
    @samples(
        f"nn.functional.adaptive_avg_pool{rank}d",
        reference=mean,
        tolerance={"float16": (1e-2, 1e-3), "bfloat16": (3e-2, 1e-2)},
    )
    def averages(make):
        yield make(*_single(rank, 2)), 2
        yield make(*_single(rank, 2)), 3
        yield make(1, 2, *space), 1
        yield make(*_single(rank, 2)), 7
        if rank == 2:
            yield make(*_single(rank, 2)), (None, 2)
            yield make(1, 20, *space).channels_last(), (2, 4)
            yield make(1, 20, *space).channels_last(), 1

    @samples(f"nn.functional.adaptive_max_pool{rank}d", reference=largest)
    def maxima(make):
        yield make.distinct(*_single(rank, 2)), 2
        yield make.distinct(1, 2, *space), 1
        yield call(make.distinct(*_single(rank, 1)), 3, return_indices=True)
        if rank == 2:
            yield make.distinct(1, 2, *space).channels_last(), (None, 2)

    @samples(
        f"nn.functional.adaptive_max_pool{rank}d_with_indices", reference=_with_indices(largest)
    )
    def maxima_with_indices(make):
        yield make.distinct(*_single(rank, 2)), 2

    @errors(f"nn.functional.adaptive_avg_pool{rank}d")
    def refused(make):
        yield (make(*_single(rank, 2)), -2), RuntimeError, "output_size must be non-negative"
        error = RuntimeError if rank == 1 else IndexError
        yield (make(3), 1), error, "(batch mode) tensor"

    return largest


for _rank in (1, 2, 3):
    _declare_max(_rank)
    _declare_average(_rank)
    _largest_of = _declare_adaptive(_rank)
    if _rank == 1:

        @samples("adaptive_max_pool1d", reference=_with_indices(_largest_of))
        def adaptive_max_pool1d(make):
            yield make.distinct(2, 9), 4
            yield make.distinct(1, 2, 9), 2
