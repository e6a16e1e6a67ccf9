"""Regions of images in the two forms that programs use."""

from __future__ import annotations

from collections.abc import Sequence

import flambeau as fb
from flambeau import Tensor

__all__ = ["pair_of", "rows_of"]


def rows_of(boxes: Tensor | Sequence[Tensor]) -> Tensor:
    """Rows (image, left, top, right, bottom), also from one tensor of boxes per image."""
    if isinstance(boxes, Tensor):
        if boxes.ndim != 2 or boxes.shape[1] != 5:
            raise AssertionError(
                f"The boxes tensor shape is not correct as Tensor[K, 5]: {tuple(boxes.shape)}"
            )
        return boxes
    if not isinstance(boxes, list | tuple):
        raise AssertionError(
            "boxes is expected to be a Tensor[L, 5] or a List[Tensor[K, 4]], got "
            f"{type(boxes).__name__}"
        )
    for each in boxes:
        if each.ndim != 2 or each.shape[1] != 4:
            raise AssertionError(
                f"The shape of the tensor in the boxes list is not correct as List[Tensor[L, 4]]: "
                f"{tuple(each.shape)}"
            )
    numbers = [each.new_full((len(each), 1), image) for image, each in enumerate(boxes)]
    return fb.cat([fb.cat(pair, 1) for pair in zip(numbers, boxes, strict=True)])


def pair_of(output_size: int | Sequence[int]) -> tuple[int, int]:
    """Height and width of the result."""
    if isinstance(output_size, int):
        return output_size, output_size
    if not isinstance(output_size, list | tuple) or len(output_size) != 2:
        raise ValueError(f"expected one size or two of them, got {output_size!r}")
    height, width = output_size
    return height, width
