"""Images, videos and masks."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision._pillow import is_pil_image
from flambeau.vision.tv_tensors._tv_tensor import TVTensor

__all__ = ["Image", "Mask", "Video"]


class _Pixels(TVTensor):
    """A tensor with one or more values per pixel."""

    def __new__(
        cls,
        data: Any,
        *,
        dtype: fb.dtype | None = None,
        device: Any = None,
        requires_grad: bool | None = None,
    ) -> Any:
        if is_pil_image(data):
            from flambeau.vision.transforms.functional import pil_to_tensor

            data = pil_to_tensor(data)
        tensor = cls._to_tensor(data, dtype, device, requires_grad)
        return cls._fb_shaped(tensor).as_subclass(cls)

    @classmethod
    def _fb_shaped(cls, tensor: Tensor) -> Tensor:
        return tensor


class Image(_Pixels):
    """An image (..., C, H, W), or (H, W) for one channel."""

    @classmethod
    def _fb_shaped(cls, tensor: Tensor) -> Tensor:
        if tensor.ndim < 2:
            raise ValueError(
                f"Tensor must be 2D or higher, got {tensor.ndim}D tensor: an image is "
                f"(..., C, H, W) or (H, W), got {tuple(tensor.shape)}"
            )
        return tensor.unsqueeze(0) if tensor.ndim == 2 else tensor

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return self._make_repr()


class Video(_Pixels):
    """A video (..., T, C, H, W)."""

    @classmethod
    def _fb_shaped(cls, tensor: Tensor) -> Tensor:
        if tensor.ndim < 4:
            raise ValueError(
                f"Tensor must be 4D or higher, got {tensor.ndim}D tensor: a video is "
                f"(..., T, C, H, W), got {tuple(tensor.shape)}"
            )
        return tensor

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return self._make_repr()


class Mask(_Pixels):
    """The class or instance of each pixel, (..., H, W); resampling keeps its values."""
