"""Tensors with random elements for tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor


def make_tensor(
    *shape: Any,
    dtype: fb.dtype,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: fb.memory_format | None = None,
) -> Tensor:
    """Return a tensor with elements drawn uniformly from ``[low, high)``.

    The default range is [-9, 9] for integers (from 0 for uint8), [-9, 9) for the floating and
    complex types, and both values for bool; a given one is clamped to what the type can hold.
    ``exclude_zero`` puts 1, or the smallest normal number, in place of zeros.
    """
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else shape
    if noncontiguous and memory_format is not None:
        raise ValueError("make_tensor: noncontiguous and memory_format exclude each other")
    is_exact = not (dtype.is_floating_point or dtype.is_complex)
    if requires_grad and is_exact:
        raise ValueError(f"make_tensor: a tensor of {dtype} cannot require grad")

    noncontiguous = noncontiguous and math.prod(sizes) > 1
    drawn_sizes = (*sizes[:-1], 2 * sizes[-1]) if noncontiguous else sizes
    low, high = _range(dtype, low, high)
    if is_exact:
        result = fb.randint(
            math.ceil(low), math.ceil(high), drawn_sizes, device=device, dtype=dtype
        )
    else:
        result = fb.empty(drawn_sizes, device=device, dtype=dtype)
        _fill_uniform(fb.view_as_real(result) if dtype.is_complex else result, low, high)

    if noncontiguous:
        result = result[..., 1::2]  # an offset too, so that code that forgets it fails
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        result[result == 0] = 1 if is_exact else fb.finfo(dtype).tiny
    if requires_grad:
        result.requires_grad_()
    return result


def _range(dtype: fb.dtype, low: float | None, high: float | None) -> tuple[float, float]:
    lowest: float
    highest: float
    if dtype == fb.bool:
        lowest, highest, default_low, default_high = 0, 2, 0, 2
    elif dtype.is_floating_point or dtype.is_complex:
        lowest, highest, default_low, default_high = fb.finfo(dtype).min, fb.finfo(dtype).max, -9, 9
    else:
        # randint takes its upper bound as an int64, so the largest int64 is never drawn.
        lowest, highest = fb.iinfo(dtype).min, min(fb.iinfo(dtype).max + 1, 2**63 - 1)
        default_low, default_high = -9, 10
    low = default_low if low is None else low
    high = default_high if high is None else high
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"make_tensor: low and high cannot be NaN, got {low=} and {high=}")
    if low >= high:
        raise ValueError(f"make_tensor: low must be less than high, got {low} >= {high}")
    if high < lowest or low >= highest:
        raise ValueError(
            f"make_tensor: the interval [{low}, {high}) lies outside of [{lowest}, {highest}), "
            f"which {dtype} holds"
        )
    return max(low, lowest), min(high, highest)


def _fill_uniform(result: Tensor, low: float, high: float) -> None:
    # uniform_ needs a range no wider than the type's largest number.
    if high - low <= fb.finfo(result.dtype).max:
        result.uniform_(low, high)
    else:
        result.uniform_(low / 2, high / 2).mul_(2)
