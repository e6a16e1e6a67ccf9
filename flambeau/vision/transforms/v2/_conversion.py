"""Conversion between PIL images, arrays and tensors."""

from __future__ import annotations

import warnings
from typing import Any

from flambeau import Tensor
from flambeau.vision._pillow import is_pil_image
from flambeau.vision.transforms.v2 import functional as F
from flambeau.vision.transforms.v2._query import is_array
from flambeau.vision.transforms.v2._transform import Transform
from flambeau.vision.transforms.v2.functional import is_pure_tensor
from flambeau.vision.tv_tensors import Image, TVTensor

__all__ = ["PILToTensor", "ToImage", "ToPILImage", "ToPureTensor", "ToTensor"]


class ToTensor(Transform):
    """Convert PIL images and arrays of bytes to tensors between 0 and 1; for older programs."""

    _transformed_types = (is_pil_image, is_array)

    def __init__(self) -> None:
        warnings.warn(
            "The transform `ToTensor()` is deprecated and will be removed in a future release. "
            "Instead, please use "
            "`v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])`.",
            stacklevel=2,
        )
        super().__init__()

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.to_tensor(inpt)


class PILToTensor(Transform):
    """Convert PIL images to tensors of the same values.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> import numpy as np
        >>> from PIL import Image
        >>> v2.PILToTensor()(Image.fromarray(np.full((2, 2), 7, np.uint8)))
        tensor([[[7, 7],
                 [7, 7]]], dtype=torch.uint8)
    """

    _transformed_types = (is_pil_image,)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.pil_to_tensor(inpt)


class ToImage(Transform):
    """Convert PIL images, arrays and tensors to `tv_tensors.Image`.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> import numpy as np
        >>> v2.ToImage()(np.zeros((8, 8, 3), np.uint8)).shape
        torch.Size([3, 8, 8])
    """

    _transformed_types = (is_pure_tensor, is_pil_image, is_array)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.to_image(inpt)


class ToPILImage(Transform):
    """Convert tensors and arrays to PIL images.

    Args:
        mode: Mode of the images. Default: by the number of channels.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.ToPILImage()(torch.zeros(3, 8, 6)).size
        (6, 8)
    """

    _transformed_types = (is_pure_tensor, Image, is_array)

    def __init__(self, mode: str | None = None) -> None:
        super().__init__()
        self.mode = mode

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.to_pil_image(inpt, mode=self.mode)


class ToPureTensor(Transform):
    """Convert tv_tensors to plain tensors.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> from flambeau.vision import tv_tensors
        >>> type(v2.ToPureTensor()(tv_tensors.Image(torch.zeros(3, 8, 8)))) is torch.Tensor
        True
    """

    _transformed_types = (TVTensor,)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return inpt.as_subclass(Tensor)
