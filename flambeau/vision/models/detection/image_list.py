"""Images of different sizes in one tensor."""

from __future__ import annotations

from typing import Any

from flambeau import Tensor

__all__ = ["ImageList"]


class ImageList:
    """A batch of images, and the part (height, width) of it that each image fills."""

    def __init__(self, tensors: Tensor, image_sizes: list[tuple[int, int]]) -> None:
        self.tensors = tensors
        self.image_sizes = image_sizes

    def to(self, device: Any) -> ImageList:
        """Return the same images on another device."""
        return ImageList(self.tensors.to(device), self.image_sizes)
