"""Value changes by lookup tables of bytes."""

from __future__ import annotations

import functools
from typing import Any, TypeAlias

import flambeau as fb
from flambeau import _C, Tensor

__all__ = ["Step", "look_up"]

# A function of images that changes every value of a channel alike, and its other arguments, all of
# which can be compared.
Step: TypeAlias = "tuple[Any, ...]"


def look_up(image: Tensor, *steps: Step) -> Tensor:
    """Apply some steps to an image of bytes (..., C, H, W), contiguous, in one pass."""
    return _C._map_bytes(image, _table(image.shape[-3], steps))


@functools.lru_cache(maxsize=32)
def _table(channels: int, steps: tuple[Step, ...]) -> Tensor:
    values = fb.arange(256, dtype=fb.uint8).expand(channels, 1, 256)
    for function, *arguments in steps:
        values = function(values, *arguments)
    if values.shape[0] != channels:
        raise ValueError(f"the steps make {values.shape[0]} channels of {channels}")
    return values.view(channels, 256)
