"""Samples of sliding windows."""

import numpy as np

from tests.ops.registry import call, errors, samples


def _pair(value):
    values = np.atleast_1d(value).tolist()
    return values * 2 if len(values) == 1 else values


def _geometry(sizes, kernel_size, dilation, padding, stride):
    kernel, apart, edge, step = map(_pair, (kernel_size, dilation, padding, stride))
    count = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, p, d, k, s in zip(sizes, edge, apart, kernel, step, strict=True)
    ]
    taps = {
        tap: tuple(
            slice(t * d, t * d + (n - 1) * s + 1, s)
            for t, d, n, s in zip(tap, apart, count, step, strict=True)
        )
        for tap in np.ndindex(*kernel)
    }
    return kernel, edge, count, taps


def _unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    kernel, edge, count, taps = _geometry(input.shape[-2:], kernel_size, dilation, padding, stride)
    margins = [(0, 0)] * (input.ndim - 2) + [(p, p) for p in edge]
    padded = np.pad(input, margins)
    windows = count[0] * count[1]
    blocks = [
        padded[(..., *where)].reshape(*input.shape[:-2], 1, windows) for where in taps.values()
    ]
    rows = input.shape[-3] * kernel[0] * kernel[1]
    return np.concatenate(blocks, -2).reshape(*input.shape[:-3], rows, windows)


def _fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    sizes = _pair(output_size)
    kernel, edge, count, taps = _geometry(sizes, kernel_size, dilation, padding, stride)
    channels = input.shape[-2] // (kernel[0] * kernel[1])
    blocks = input.reshape(*input.shape[:-2], channels, *kernel, *count)
    padded = [n + 2 * p for n, p in zip(sizes, edge, strict=True)]
    image = np.zeros((*input.shape[:-2], channels, *padded), input.dtype)
    for tap, where in taps.items():
        image[(..., *where)] += blocks[..., tap[0], tap[1], :, :]  # of bools: either
    return image[..., edge[0] : edge[0] + sizes[0], edge[1] : edge[1] + sizes[1]]


@samples("nn.functional.unfold", reference=_unfold)
def unfold(make):
    yield make(2, 3, 5, 6), 2
    yield make(2, 3, 5, 6), (2, 3), 1, 1, (2, 1)
    yield make(3, 5, 6), 3
    yield call(make(2, 2, 6, 7), kernel_size=(3, 2), dilation=(2, 1), padding=(1, 2), stride=2)
    yield make(0, 3, 5, 6), 2
    yield make(1, 1, 2, 2), 2, 1, 3, 3
    yield make(2, 3, 5, 6).channels_last(), 2
    yield make(2, 3, 5, 6).transposed(), 2


@errors("nn.functional.unfold")
def unfold_errors(make):
    x = make(2, 3, 9, 9)
    yield (x, 10), RuntimeError, "has no window of kernel_size"
    yield (x, 0), RuntimeError, "kernel_size must be at least 1"
    yield call(x, 3, stride=0), RuntimeError, "stride must be at least 1"
    yield call(x, 3, padding=-1), RuntimeError, "padding must be at least 0"
    yield call(x, 3, dilation=0), RuntimeError, "dilation must be at least 1"
    yield (x, (3, 3, 3)), RuntimeError, "one number or two, got (3, 3, 3)"
    yield (make(2, 0, 9, 9), 3), RuntimeError, "got (2, 0, 9, 9)"
    yield (make(3, 9), 3), IndexError, "got (3, 9)"


# torch rounds after every addition of 16-bit floats, Flambeau once.
@samples(
    "nn.functional.fold",
    reference=_fold,
    tolerance={"float16": (1e-2, 1e-2), "bfloat16": (5e-2, 5e-2)},
)
def fold(make):
    yield make(2, 12, 12), (4, 5), 2
    yield make(12, 12), (4, 5), 2
    yield make(2, 12, 40), (4, 5), (2, 2), 1, (1, 2), 1
    yield call(make(2, 12, 8), (6, 7), kernel_size=(3, 2), dilation=(2, 1), padding=1, stride=2)
    yield make(0, 12, 12), (4, 5), 2
    yield make(1, 4, 9), 4, 2


@errors("nn.functional.fold")
def fold_errors(make):
    columns = make(2, 27, 49)
    yield (columns, (9, 8), 3), RuntimeError, "7 * 6 = 42 windows, input (2, 27, 49) has 49"
    yield (make(2, 26, 49), (9, 9), 3), RuntimeError, "not a multiple of kernel_size"
    yield (make(49), (9, 9), 3), RuntimeError, "expected input of 2 or 3 dimensions"
    yield (columns, (9, 9, 9), 3), RuntimeError, "got (9, 9, 9)"
    yield call(columns, (9, 9), 3, stride=0), RuntimeError, "stride must be at least 1"
