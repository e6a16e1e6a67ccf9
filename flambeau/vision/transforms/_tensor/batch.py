"""Operators on floating-point batches, applied to images of any dtype and rank."""

from __future__ import annotations

from collections.abc import Callable

import flambeau as fb
from flambeau import Tensor

__all__ = ["through_float", "to_type"]


def through_float(
    img: Tensor,
    operator: Callable[[Tensor], Tensor],
    kept: tuple[fb.dtype, ...] = (fb.float32, fb.float64),
) -> Tensor:
    """Apply an operator on (N, C, H, W) to an image, in float32 unless its dtype is in `kept`."""
    batch = img.unsqueeze(0) if img.ndim < 4 else img
    if img.ndim == 2:
        batch = batch.unsqueeze(0)
    if img.ndim > 4:
        batch = batch.flatten(0, -4)
    result = operator(batch if img.dtype in kept else batch.float())
    return to_type(result.reshape(*img.shape[:-2], *result.shape[-2:]), img.dtype)


def to_type(values: Tensor, dtype: fb.dtype) -> Tensor:
    """Convert values to the dtype of an image, rounded if that is an integer type."""
    if values.dtype == dtype:
        return values
    if not dtype.is_floating_point:
        values = values.round()
    return values.to(dtype)
