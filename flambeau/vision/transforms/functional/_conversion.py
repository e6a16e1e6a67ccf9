"""Conversion between PIL images, arrays and tensors; dtypes; sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision._pillow import is_pil_image
from flambeau.vision.transforms._image import Image, dimensions, need_float
from flambeau.vision.transforms._pil.convert import bytes_of, from_pil, to_pil
from flambeau.vision.transforms._tensor.convert import convert_dtype
from flambeau.vision.transforms._tensor.table import look_up

__all__ = [
    "convert_image_dtype",
    "get_dimensions",
    "get_image_num_channels",
    "get_image_size",
    "normalize",
    "pil_to_tensor",
    "to_pil_image",
    "to_tensor",
]


def get_dimensions(img: Image) -> list[int]:
    """Return channels, height and width."""
    return list(dimensions(img))


def get_image_size(img: Image) -> list[int]:
    """Return width and height."""
    _, height, width = dimensions(img)
    return [width, height]


def get_image_num_channels(img: Image) -> int:
    """Return the number of channels."""
    return dimensions(img)[0]


def to_tensor(pic: Any) -> Tensor:
    """Convert a PIL image, or an array (H, W, C) of bytes, to a tensor (C, H, W) between 0 and 1.

    Args:
        pic: Image or array.

    Example:
        >>> from flambeau.vision.transforms import functional
        >>> import numpy as np
        >>> functional.to_tensor(np.full((1, 1, 3), 255, dtype=np.uint8)).flatten()
        tensor([1., 1., 1.])
    """
    if is_pil_image(pic):
        image = bytes_of(pic)
        if image is not None:
            return look_up(image, (convert_dtype, fb.get_default_dtype()))
        tensor = from_pil(pic).contiguous()
        if tensor.dtype == fb.bool:
            return tensor.to(fb.get_default_dtype())
        if pic.mode.startswith("I;16"):
            return tensor.to(fb.int16)
    else:
        tensor = _from_array(pic)
    if tensor.dtype == fb.uint8:
        return tensor.to(fb.get_default_dtype()).div_(255)
    return tensor


def _from_array(pic: Any) -> Tensor:
    import numpy as np

    if not isinstance(pic, np.ndarray):
        raise TypeError(f"pic should be PIL Image or ndarray. Got {type(pic)}")
    if pic.ndim not in (2, 3):
        raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
    planes = pic[:, :, None] if pic.ndim == 2 else pic
    return fb.from_numpy(np.ascontiguousarray(planes.transpose(2, 0, 1)))


def pil_to_tensor(pic: Any) -> Tensor:
    """Convert a PIL image to a tensor (C, H, W) of the same values."""
    if not is_pil_image(pic):
        raise TypeError(f"pic should be PIL Image. Got {type(pic)}")
    return from_pil(pic)


def to_pil_image(pic: Any, mode: str | None = None) -> Any:
    """Convert a tensor (C, H, W) or an array (H, W, C) to a PIL image.

    Args:
        pic: Tensor or array.
        mode: Mode of the image. Default: by the number of channels.

    Example:
        >>> from flambeau.vision.transforms import functional
        >>> functional.to_pil_image(torch.rand(3, 4, 6)).size
        (6, 4)
    """
    import numpy as np

    if not isinstance(pic, (Tensor, np.ndarray)):
        raise TypeError(f"pic should be Tensor or ndarray. Got {type(pic)}.")
    if pic.ndim not in (2, 3):
        raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
    if isinstance(pic, Tensor):
        planes = pic.unsqueeze(0) if pic.ndim == 2 else pic
        if planes.is_floating_point() and mode != "F":
            planes = planes.mul(255).byte()
        pixels = planes.detach().permute(1, 2, 0)
    else:
        pixels = fb.from_numpy(np.ascontiguousarray(pic[:, :, None] if pic.ndim == 2 else pic))
    if not 1 <= pixels.shape[-1] <= 4:
        raise ValueError(
            f"pic should not have > 4 channels (or none). Got {pixels.shape[-1]} channels."
        )
    return to_pil(pixels, mode)


def convert_image_dtype(image: Tensor, dtype: fb.dtype = fb.float32) -> Tensor:
    """Convert an image to another type and scale its values to that type's range."""
    if not isinstance(image, Tensor):
        raise TypeError(f"Input img should be Tensor Image, got {type(image)}")
    return convert_dtype(image, dtype)


def normalize(
    tensor: Tensor,
    mean: float | Sequence[float],
    std: float | Sequence[float],
    inplace: bool = False,
) -> Tensor:
    """Subtract a mean from each channel and divide by a standard deviation.

    Args:
        tensor: Image (*, C, H, W).
        mean: Mean of each channel, or of all.
        std: Standard deviation of each channel, or of all.
        inplace: Whether to overwrite the image. Default: False.

    Example:
        >>> from flambeau.vision.transforms import functional
        >>> functional.normalize(torch.tensor([[[0.5, 1.0]]]), [0.5], [0.25])
        tensor([[[0., 2.]]])
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(tensor)}")
    need_float(tensor)
    if tensor.ndim < 3:
        raise ValueError(
            "Expected tensor to be a tensor image of size (..., C, H, W). Got tensor.size() = "
            f"{tuple(tensor.size())}"
        )
    means, deviations = (
        fb.as_tensor(v, dtype=tensor.dtype, device=tensor.device).view(-1, 1, 1)
        for v in (mean, std)
    )
    if (deviations == 0).any():
        raise ValueError(
            f"std evaluated to zero after conversion to {tensor.dtype}, leading to division by "
            f"zero: {std}"
        )
    if inplace:
        return tensor.sub_(means).div_(deviations)
    return tensor.sub(means).div_(deviations)
