"""Samples of convolutions."""

import numpy as np

from tests.ops.registry import call, errors, samples
from tests.ops.samples.matmul import LOW

FLOATING = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
# PyTorch's CPU kernels take no other integers in all of them.
TYPES = ("int64", *FLOATING)


def _each(value, n):
    values = np.atleast_1d(value).tolist()
    return values * n if len(values) == 1 else values


def _windows(tap, count, stride, dilation):
    """Where the windows of a padded image have one tap of the kernel."""
    starts = [t * d for t, d in zip(tap, dilation, strict=True)]
    return (
        ...,
        *(
            slice(start, start + (n - 1) * step + 1, step)
            for start, n, step in zip(starts, count, stride, strict=True)
        ),
    )


def _grouped(channels, groups):
    """(batch, channels, ...) as (batch, groups, channels of a group, ...)."""
    batch, total, *spatial = channels.shape
    return channels.reshape(batch, groups, total // groups, *spatial)


def _margins(padding):
    return [(0, 0), (0, 0), *((p, p) for p in padding)]


def _forward(x, w, stride, padding, dilation, groups):
    x = np.pad(x, _margins(padding))
    kernel = w.shape[2:]
    count = [
        (size - d * (k - 1) - 1) // s + 1
        for size, k, s, d in zip(x.shape[2:], kernel, stride, dilation, strict=True)
    ]
    w = w.reshape(groups, -1, *w.shape[1:])
    total = np.zeros((x.shape[0], groups, w.shape[1], *count), np.result_type(x, w))
    for tap in np.ndindex(*kernel):
        seen = _grouped(x[_windows(tap, count, stride, dilation)], groups)
        total += np.einsum("ngi...,goi->ngo...", seen, w[(..., *tap)])
    return total.reshape(x.shape[0], groups * w.shape[1], *count)


def _transposed(x, w, sizes, stride, padding, dilation, groups):
    """`sizes` are the spatial ones of the result."""
    padded = [size + 2 * p for size, p in zip(sizes, padding, strict=True)]
    kernel, count = w.shape[2:], x.shape[2:]
    w = w.reshape(groups, -1, *w.shape[1:])
    out = np.zeros((x.shape[0], groups * w.shape[2], *padded), np.result_type(x, w))
    for tap in np.ndindex(*kernel):
        share = np.einsum("ngi...,gio->ngo...", _grouped(x, groups), w[(..., *tap)])
        out[_windows(tap, count, stride, dilation)] += share.reshape(
            x.shape[0], groups * w.shape[2], *count
        )
    return out[(..., *(slice(p, p + n) for p, n in zip(padding, sizes, strict=True)))]


def _with_bias(image, bias, n):
    return image if bias is None else image + bias.reshape(-1, *(1,) * n)


def _convolution(
    input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
):
    n = weight.ndim - 2
    stride, dilation, padding = (_each(v, n) for v in (stride, dilation, padding))
    if not transposed:
        image = _forward(input, weight, stride, padding, dilation, groups)
    else:
        sizes = [
            (size - 1) * s - 2 * p + d * (k - 1) + 1 + extra
            for size, s, p, d, k, extra in zip(
                input.shape[2:],
                stride,
                padding,
                dilation,
                weight.shape[2:],
                _each(output_padding, n),
                strict=True,
            )
        ]
        image = _transposed(input, weight, sizes, stride, padding, dilation, groups)
    return _with_bias(image, bias, n)


def _batched(input, n, f):
    return f(input[None])[0] if input.ndim == n + 1 else f(input)


def _conv(n):
    def reference(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        if padding == "valid":
            padding = 0
        if padding == "same":
            totals = [
                d * (k - 1) for d, k in zip(_each(dilation, n), weight.shape[2:], strict=True)
            ]
            margins = [(t // 2, t - t // 2) for t in totals]
            input = np.pad(input, [(0, 0)] * (input.ndim - n) + margins)
            padding = 0
        return _batched(
            input,
            n,
            lambda x: _convolution(x, weight, bias, stride, padding, dilation, False, 0, groups),
        )

    return reference


def _conv_transpose(n):
    def reference(
        input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1
    ):
        return _batched(
            input,
            n,
            lambda x: _convolution(
                x, weight, bias, stride, padding, dilation, True, output_padding, groups
            ),
        )

    return reference


@samples("conv1d", reference=_conv(1), tolerance=LOW, dtypes=TYPES)
def conv1d(make):
    yield make(2, 3, 7), make(4, 3, 2), make(4)
    yield make(2, 3, 7), make(4, 3, 2)
    yield make(3, 7), make(4, 3, 3), make(4)
    yield call(make(2, 4, 9), make(6, 2, 3), make(6), stride=2, padding=1, dilation=2, groups=2)
    yield call(make(2, 3, 8), make(4, 3, 4), padding="same", dilation=3)
    yield call(make(2, 3, 8), make(4, 3, 4), make(4), padding="valid")
    yield call(make(3, 8), make(4, 3, 3), padding="same")
    yield call(make(2, 4, 9), make(4, 1, 3), groups=4)


@samples("conv2d", reference=_conv(2), tolerance=LOW, dtypes=TYPES)
def conv2d(make):
    yield make(2, 3, 5, 6), make(4, 3, 2, 3), make(4)
    yield make(2, 3, 5, 6), make(4, 3, 1, 1)
    yield make(3, 5, 6), make(4, 3, 3, 3), make(4)
    yield make(1, 1, 5, 5), make(1, 1, 3, 3)
    yield call(make(2, 3, 5, 6), make(4, 3, 3, 3), None, 2, 1)
    yield call(make(2, 3, 7, 6), make(4, 3, 3, 2), stride=(2, 1), padding=(1, 2), dilation=(1, 2))
    yield call(make(2, 4, 5, 5), make(6, 2, 3, 3), make(6), padding=1, groups=2)
    yield call(make(2, 4, 5, 5), make(4, 1, 3, 3), make(4), padding=1, groups=4)
    yield call(make(2, 4, 5, 5), make(8, 1, 3, 3), stride=2, groups=4)
    yield call(make(2, 3, 5, 5), make(4, 3, 3, 2), padding="same")
    yield make(2, 3, 5, 6).channels_last(), make(4, 3, 2, 3), make(4)
    yield make(2, 3, 5, 6), make(4, 3, 2, 3).channels_last(), make(4)
    yield make(2, 3, 5, 6).transposed(), make(4, 3, 2, 3).strided(), make(4).strided()
    yield make(0, 3, 5, 6), make(4, 3, 2, 3), make(4)
    yield make(2, 3, 2, 3), make(4, 3, 2, 3), make(4)


@samples("conv3d", reference=_conv(3), tolerance=LOW, dtypes=FLOATING)
def conv3d(make):
    yield make(2, 2, 3, 4, 4), make(3, 2, 2, 2, 3), make(3)
    yield make(2, 3, 4, 3), make(3, 2, 2, 2, 2)
    yield call(make(1, 2, 5, 4, 4), make(2, 1, 2, 3, 2), stride=(2, 1, 1), padding=1, groups=2)
    yield call(make(1, 2, 4, 4, 4), make(2, 2, 2, 2, 3), dilation=2, padding=(0, 1, 2))
    yield call(make(1, 1, 3, 3, 3), make(2, 1, 3, 2, 3), padding="same")


@samples("conv_transpose1d", reference=_conv_transpose(1), tolerance=LOW, dtypes=TYPES)
def conv_transpose1d(make):
    yield make(2, 3, 5), make(3, 4, 3), make(4)
    yield make(3, 5), make(3, 4, 3)
    yield call(make(2, 4, 5), make(4, 3, 3), stride=3, padding=1, output_padding=2, groups=2)
    yield call(make(2, 3, 5), make(3, 2, 3), make(2), dilation=2, output_padding=1)


@samples("conv_transpose2d", reference=_conv_transpose(2), tolerance=LOW, dtypes=TYPES)
def conv_transpose2d(make):
    yield make(2, 3, 4, 3), make(3, 4, 2, 3), make(4)
    yield make(2, 3, 4, 3), make(3, 4, 3, 3), None, 2, 1
    yield make(3, 4, 3), make(3, 2, 2, 2), make(2)
    yield call(make(2, 3, 4, 3), make(3, 4, 3, 3), stride=2, padding=1, output_padding=1)
    yield call(make(2, 4, 4, 3), make(4, 3, 3, 2), make(6), groups=2, dilation=(1, 2))
    yield call(make(2, 4, 3, 3), make(4, 1, 3, 3), make(4), stride=2, groups=4)
    yield make(2, 3, 4, 3).channels_last(), make(3, 4, 2, 3), make(4)
    yield make(2, 3, 4, 3).strided(), make(3, 4, 2, 3).transposed(), make(4)
    yield make(0, 3, 4, 3), make(3, 4, 2, 3), make(4)


@samples("conv_transpose3d", reference=_conv_transpose(3), tolerance=LOW, dtypes=FLOATING)
def conv_transpose3d(make):
    yield make(1, 2, 2, 3, 3), make(2, 3, 2, 2, 3), make(3)
    yield make(2, 2, 3, 3), make(2, 2, 2, 2, 2)
    yield call(
        make(1, 2, 2, 3, 2), make(2, 1, 3, 2, 2), stride=2, padding=(1, 0, 0), output_padding=1,
        groups=2,
    )  # fmt: skip


@samples("convolution", reference=_convolution, tolerance=LOW, dtypes=FLOATING)
def convolution(make):
    plain = [1, 1], [0, 0], [1, 1]
    yield make(2, 3, 5, 5), make(4, 3, 3, 3), make(4), *plain, False, [0, 0], 1
    yield make(2, 3, 5, 5), make(3, 4, 3, 3), None, *plain, True, [0, 0], 1
    yield make(2, 4, 7), make(4, 2, 3), make(4), [2], [1], [1], False, [0], 2
    yield make(1, 2, 3, 3, 3), make(2, 2, 2, 2, 2), None, [1], [0], [1], False, [0], 1


def _tbc(input, weight, bias, pad=0):
    x, w = input.transpose(1, 2, 0), weight.transpose(2, 1, 0)
    return _conv(1)(x, w, bias, padding=pad).transpose(2, 0, 1)


@samples("conv_tbc", reference=_tbc, tolerance=LOW, dtypes=("float32", "float64"))
def conv_tbc(make):
    yield make(5, 2, 3), make(3, 3, 4), make(4)
    yield call(make(5, 2, 3), make(3, 3, 4), make(4), pad=1)


@errors("conv1d")
def conv1d_errors(make):
    yield (make(3, 9, 9, 9), make(4, 9, 3)), RuntimeError, "expected input of 2 dimensions, or 3"
    yield call(make(2, 3, 9), make(4, 3, 3), stride=(1, 2)), RuntimeError, "conv1d: "


@errors("conv2d")
def conv2d_errors(make):
    x, w = make(2, 3, 9, 9), make(6, 3, 3, 3)
    channels = "weight (6, 2, 3, 3) with groups = 1 expects input with 2 channels, got (2, 3, 9, 9)"
    yield (x, make(6, 2, 3, 3)), RuntimeError, channels
    yield call(x, w, groups=2), RuntimeError, "expects input with 6 channels"
    yield call(x, w, groups=0), RuntimeError, "groups must be at least 1, got 0"
    yield call(x, w, groups=-1), RuntimeError, "groups must be at least 1, got -1"
    yield call(make(2, 4, 9, 9), make(6, 1, 3, 3), groups=4), RuntimeError, "does not divide"
    yield (make(3, 9), w), RuntimeError, "conv2d: expected input of 3 dimensions"
    yield (make(2, 2, 3, 9, 9), w), RuntimeError, "got (2, 2, 3, 9, 9)"
    yield (x, make(6, 3, 3)), RuntimeError, "expected weight of 4 dimensions, got (6, 3, 3)"
    yield (x, w, make(5)), RuntimeError, "expects bias of shape (6,), got (5,)"
    yield (x, w, make(6, 1)), RuntimeError, "got (6, 1)"
    yield call(x, w, stride=0), RuntimeError, "stride must be at least 1, got (0, 0)"
    yield call(x, w, stride=(1, -1)), RuntimeError, "stride must be at least 1"
    yield call(x, w, padding=-1), RuntimeError, "padding must not be negative"
    yield call(x, w, dilation=0), RuntimeError, "dilation must be at least 1"
    yield (x, make(6, 3, 11, 11)), RuntimeError, "spans 11 elements along dimension 2"
    yield call(x, w, dilation=5), RuntimeError, "spans 11 elements"
    yield call(x, w, stride=(1, 2, 3)), RuntimeError, "stride must be an int or a tuple of 2 ints"
    yield call(x, w, padding="same", stride=2), RuntimeError, "padding='same' needs stride 1"
    yield call(x, w, padding="full"), RuntimeError, "padding must be 'same' or 'valid'"
    yield (x, make(0, 3, 3, 3)), RuntimeError, "weight (0, 3, 3, 3) has 0 kernels"
    yield (make(2, 3, 0, 9), w), RuntimeError, "has 0"
    yield (x, make(6, 3, 0, 3)), RuntimeError, "has an empty kernel"
    other = "float64" if make.dtype != "float64" else "float32"
    yield (x, make(6, 3, 3, 3, dtype=other)), RuntimeError, "they must be the same"
    yield (x, w, make(6, dtype=other)), RuntimeError, "they must be the same"


@errors("conv_transpose2d")
def conv_transpose2d_errors(make):
    x, w = make(2, 3, 9, 9), make(3, 4, 3, 3)
    yield call(x, w, output_padding=1), RuntimeError, "output_padding (1, 1) must be smaller"
    yield call(x, w, output_padding=2, stride=2), RuntimeError, "must be smaller than stride (2, 2)"
    yield call(x, w, output_padding=-1, stride=2), RuntimeError, "must not be negative"
    yield (x, make(4, 4, 3, 3)), RuntimeError, "expects input with 4 channels, got (2, 3, 9, 9)"
    yield (x, w, make(3)), RuntimeError, "expects bias of shape (4,), got (3,)"
    yield call(x, w, groups=2), RuntimeError, "does not divide"
    yield call(x, w, padding=10), RuntimeError, "give a result of -9 elements"


@errors("convolution")
def convolution_errors(make):
    plain = [1], [0], [1], False, [0], 1
    yield (make(3, 9, 9), make(6, 3, 3, 3), None, *plain), RuntimeError, "expected input of 4"
    yield (make(3, 9), make(6, 3), None, *plain), RuntimeError, "weight of 3, 4 or 5 dimensions"
