"""Tensors that say what they show: transforms treat an image and its mask differently."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import flambeau as fb
from flambeau import Tensor
from flambeau.vision._pillow import is_pil_image

__all__ = ["BoundingBoxes", "Image", "KeyPoints", "Mask", "TVTensor", "Video", "wrap"]


class TVTensor(Tensor):
    """A tensor with a meaning, which the results of operators do not inherit."""

    __torch_function__: ClassVar[Callable[..., Any]] = fb._C._disabled_torch_function_impl

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
        tensor = fb.as_tensor(data, dtype=dtype, device=device)
        if requires_grad is not None:
            tensor = tensor.detach().requires_grad_(requires_grad)
        return cls._shaped(tensor).as_subclass(cls)

    @classmethod
    def _shaped(cls, tensor: Tensor) -> Tensor:
        return tensor


class Image(TVTensor):
    """An image (..., C, H, W), or (H, W) of one channel."""

    @classmethod
    def _shaped(cls, tensor: Tensor) -> Tensor:
        if tensor.ndim < 2:
            raise ValueError(f"an image has at least two dimensions, got {tuple(tensor.shape)}")
        return tensor.unsqueeze(0) if tensor.ndim == 2 else tensor


class Video(TVTensor):
    """Images one after another, (..., T, C, H, W)."""

    @classmethod
    def _shaped(cls, tensor: Tensor) -> Tensor:
        if tensor.ndim < 4:
            raise ValueError(f"a video has at least four dimensions, got {tuple(tensor.shape)}")
        return tensor


class Mask(TVTensor):
    """What each pixel belongs to, (..., H, W): it moves with its image and keeps its values."""


class _Refused(TVTensor):
    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"tv_tensors.{cls.__name__}: transforms do not move {cls._what} along with images yet; "
            "keep them in plain tensors and transform them yourself"
        )

    _what = ""


class BoundingBoxes(_Refused):
    """Boxes on an image, by name only."""

    _what = "boxes"


class KeyPoints(_Refused):
    """Points on an image, by name only."""

    _what = "points"


def wrap(wrappee: Tensor, *, like: Any) -> Any:
    """Return a tensor with the meaning of another."""
    return wrappee.as_subclass(type(like)) if isinstance(like, TVTensor) else wrappee
