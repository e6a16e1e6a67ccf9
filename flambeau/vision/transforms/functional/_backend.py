"""Dispatch between the functions for tensors and those for PIL images."""

from __future__ import annotations

from types import ModuleType

from flambeau import Tensor
from flambeau.vision._pillow import is_pil_image
from flambeau.vision.transforms import _pil, _tensor
from flambeau.vision.transforms._image import Image

__all__ = ["backend"]


def backend(img: Image) -> ModuleType:
    """Return the module of kernels for this kind of image; TypeError for anything else."""
    if isinstance(img, Tensor):
        if img.ndim < 2:
            raise TypeError(f"Tensor is not a torch image: it has shape {tuple(img.shape)}")
        return _tensor
    if is_pil_image(img):
        return _pil
    raise TypeError(f"img should be PIL Image or Tensor. Got {type(img)}")
