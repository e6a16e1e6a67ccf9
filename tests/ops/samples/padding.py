"""Samples of padding."""

import numpy as np

from tests.ops.registry import call, errors, samples

MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _pairs(x, pad):
    return [(0, 0)] * (x.ndim - len(pad) // 2) + list(zip(pad[::2], pad[1::2], strict=True))[::-1]


def _pad(x, pad, mode="constant", value=None):
    pairs = _pairs(x, pad)
    widths = [(max(a, 0), max(b, 0)) for a, b in pairs]
    if mode == "constant":
        padded = np.pad(x, widths, constant_values=value or 0)
    else:
        padded = np.pad(x, widths, MODES[mode])
    return padded[
        tuple(
            slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(pairs, padded.shape, strict=True)
        )
    ]


@samples("constant_pad_nd", reference=lambda x, pad, value=0: _pad(x, pad, value=value))
def constant_pad_nd(make):
    yield make(3, 4), (1, 2)
    yield make(3, 4), (1, 0, 0, 2), 1
    yield make(3, 4), (-1, 2, 0, -1)
    yield make(2, 3), (0, 0)


@errors("constant_pad_nd")
def constant_pad_errors(make):
    yield (make(3), (1,)), RuntimeError, "pad must hold pairs"
    yield (make(3), (1, 1, 1, 1)), RuntimeError, "more pairs"
    yield (make(3), (-4, 0)), RuntimeError, "removes more from"


@samples("nn.functional.pad", reference=_pad, dtypes=("int64", "float32", "float64", "complex128"))
def pad(make):
    yield make(3, 4), (1, 2)
    yield call(make(3, 4), (1, 0, 0, 2), value=1)
    yield make(3, 4), ()
    for mode in MODES:
        yield make(2, 5), (2, 3), mode
        yield make(1, 2, 5), (0, 4), mode
        yield make(2, 4, 5), (1, 2, 3, 0), mode
        yield make(1, 1, 2, 3, 4), (1,) * 6, mode
        yield call(make(1, 2, 3, 4).channels_last(), (1, 2, 0, 1), mode=mode)


@errors("nn.functional.pad")
def pad_errors(make):
    yield (make(1, 3), (3, 0), "reflect"), RuntimeError, "smaller than the dimension's size 3"
    yield (make(1, 3), (4, 0), "circular"), RuntimeError, "wrap around more than once"
    yield (make(3), (1, 1), "reflect"), NotImplementedError, "the last 1 to 3 dimensions"
    yield (make(1, 3), (1, 1), "mirror"), NotImplementedError, "unrecognised padding mode 'mirror'"
    yield (make(1, 3), (1,), "reflect"), RuntimeError, "pad must hold pairs"
    yield call(make(1, 3), (1, 1), mode="reflect", value=1), RuntimeError, "takes no value"
