"""Between PIL images, arrays and tensors."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision._pillow import is_pil_image
from flambeau.vision.transforms import functional as F
from flambeau.vision.tv_tensors import Image

__all__ = ["pil_to_tensor", "to_image"]

pil_to_tensor = F.pil_to_tensor


def to_image(inpt: Any) -> Image:
    """Make an image tensor (..., C, H, W) of a PIL image, an array (H, W, C) or a tensor."""
    if isinstance(inpt, Tensor):
        tensor = inpt
    elif is_pil_image(inpt):
        tensor = pil_to_tensor(inpt)
    elif hasattr(inpt, "__array_interface__"):
        planes = fb.from_numpy(inpt)
        planes = planes.unsqueeze(-1) if planes.ndim < 3 else planes
        tensor = planes.permute(-1, *range(planes.ndim - 1)) if planes.ndim == 3 else planes
        tensor = tensor.contiguous()
    else:
        raise TypeError(
            f"Input can either be a pure Tensor, a numpy array, or a PIL image, got {type(inpt)}"
        )
    return Image(tensor)  # type: ignore[no-any-return]
