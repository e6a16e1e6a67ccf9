"""Conversion between PIL images, arrays and tensors."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision._pillow import is_pil_image
from flambeau.vision.transforms import functional as first
from flambeau.vision.tv_tensors import Image

__all__ = ["pil_to_tensor", "to_image", "to_pil_image", "to_tensor"]

pil_to_tensor = first.pil_to_tensor
to_pil_image = first.to_pil_image
to_tensor = first.to_tensor


def to_image(inpt: Any) -> Any:
    """Convert a PIL image, an array (H, W, C) or a tensor to an image tensor (..., C, H, W)."""
    if isinstance(inpt, Tensor):
        return Image(inpt)
    if is_pil_image(inpt):
        return Image(pil_to_tensor(inpt))
    if not hasattr(inpt, "__array_interface__"):
        raise TypeError(
            "Input can either be a pure Tensor, a numpy array, or a PIL image, but got "
            f"{type(inpt)} instead."
        )
    planes = fb.from_numpy(inpt)
    planes = planes.unsqueeze(-1) if planes.ndim < 3 else planes
    return Image(planes.movedim(-1, -3).contiguous())
