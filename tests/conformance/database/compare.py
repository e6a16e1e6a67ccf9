"""Whether two results are the same for a caller: structure, dtype, shape, strides class, values."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tests.ops.check import dtype_name, is_tensor, outputs, to_numpy

# rtol and atol of results that are sums of a few roundings: those that torch's own tests take.
TOLERANCES = {
    "float16": (1e-3, 1e-3),
    "bfloat16": (1.6e-2, 1e-3),
    "float32": (5e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex32": (1e-3, 1e-3),
    "complex64": (5e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}


def strides_class(tensor: Any) -> str:
    """How the elements lie in memory, as far as a caller can tell."""
    if tensor.is_contiguous():
        return "contiguous"
    if tensor.dim() == 4 and tensor.permute(0, 2, 3, 1).is_contiguous():
        return "channels-last"
    strides = sorted(
        (stride, size)
        for stride, size in zip(tensor.stride(), tensor.shape, strict=True)
        if size > 1
    )
    expected = 1
    for stride, size in strides:
        if stride != expected:
            return "strided"
        expected *= size
    return "permuted"


def difference(
    ours: Any, theirs: Any, *, values: bool = True, strides: bool = True, scaled: bool = False
) -> str:
    """Where our outcome differs from that of torch, in words; empty where it does not.

    Values that are `scaled` are as exact as the largest of them.
    """
    if isinstance(theirs, Exception):
        return _of_errors(ours, theirs)
    if isinstance(ours, Exception):
        return f"raises {type(ours).__name__}: {_line(ours)}"
    left, right = outputs(ours), outputs(theirs)
    if len(left) != len(right):
        return f"{len(left)} outputs, torch gives {len(right)}"
    for a, b in zip(left, right, strict=True):
        words = _of_outputs(a, b, values, strides, scaled)
        if words:
            return words
    return ""


def _of_errors(ours: Any, theirs: Exception) -> str:
    if not isinstance(ours, Exception):
        return f"accepted, torch raises {type(theirs).__name__}: {_line(theirs)}"
    if isinstance(ours, type(theirs)) or isinstance(theirs, type(ours)):
        return ""
    return (
        f"raises {type(ours).__name__} ({_line(ours)}), "
        f"torch {type(theirs).__name__} ({_line(theirs)})"
    )


def _line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0][:150]


def _of_outputs(a: Any, b: Any, values: bool, strides: bool, scaled: bool) -> str:
    if is_tensor(a) != is_tensor(b):
        return f"{type(a).__name__}, torch gives {type(b).__name__}"
    if not is_tensor(b):
        return _of_plain(a, b)
    for what in ("dtype", "shape", "layout", "requires_grad"):
        mine, theirs = (str(getattr(each, what)).rpartition("torch.")[2] for each in (a, b))
        if mine.rpartition("flambeau.")[2] != theirs:
            return f"{what} {mine}, torch gives {theirs}"
    if "sparse" in str(b.layout):
        a, b = a.to_dense(), b.to_dense()
        strides = False
    if strides and not b.is_conj() and strides_class(a) != strides_class(b):
        return f"strides {a.stride()}, torch gives {b.stride()} of shape {tuple(b.shape)}"
    return _of_values(a, b, scaled) if values and not b.is_meta else ""


def _of_plain(a: Any, b: Any) -> str:
    if isinstance(b, (float, complex, int)) and isinstance(a, (float, complex, int)):
        same = type(a) is type(b) and bool(np.allclose(a, b, 1e-6, 1e-6, equal_nan=True))
    else:
        same = str(a).replace("flambeau.", "torch.") == str(b)
    return "" if same else f"{a!r}, torch gives {b!r}"


def _of_values(a: Any, b: torch.Tensor, scaled: bool) -> str:
    # torch has zeros without memory, as tangents.
    expected = b.numpy(force=True) if b._is_zerotensor() else to_numpy(b)
    actual = to_numpy(a)
    if np.array_equal(actual, expected):
        return ""
    rtol, atol = TOLERANCES.get(dtype_name(b), (0.0, 0.0))
    with np.errstate(all="ignore"):
        if scaled and rtol:
            atol = max(atol, rtol * float(np.abs(expected[np.isfinite(expected)]).max(initial=0)))
        near = np.isclose(actual, expected, rtol, atol, equal_nan=True)
        if np.iscomplexobj(expected):  # an infinite part says nothing of the other
            parts = ((actual.real, expected.real), (actual.imag, expected.imag))
            close = [np.isclose(*each, rtol, atol, equal_nan=True) for each in parts]
            near = np.where(np.isfinite(expected), near, close[0] & close[1])
    if near.all():
        return ""
    where = tuple(int(each) for each in np.argwhere(~near)[0])
    return (
        f"{int((~near).sum())} of {near.size} values differ, "
        f"first {actual[where]}, torch gives {expected[where]}"
    )
