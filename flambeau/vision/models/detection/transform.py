"""Batching of images of any size for a detector, and restoring the size of its detections."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.nn.functional import interpolate
from flambeau.vision.models.detection._masks import paste_masks_in_image
from flambeau.vision.models.detection._targets import Target
from flambeau.vision.models.detection.image_list import ImageList

__all__ = ["GeneralizedRCNNTransform", "resize_boxes", "resize_keypoints"]

_Size = Sequence[int]
# ImageNet's statistics, since nearly all backbones were trained on it.
_MEAN = [0.485, 0.456, 0.406]
_STD = [0.229, 0.224, 0.225]


class GeneralizedRCNNTransform(nn.Module):
    """Normalise images, resize them with their targets, and batch them.

    The shorter side becomes ``min_size`` (in training one of several) unless the longer one would
    then exceed ``max_size``; ``fixed_size`` (width, height) ignores the aspect ratio. The
    sides of the batch are multiples of ``size_divisible``.
    """

    def __init__(
        self,
        min_size: int | Sequence[int],
        max_size: int,
        image_mean: Sequence[float] | None = None,
        image_std: Sequence[float] | None = None,
        size_divisible: int = 32,
        fixed_size: tuple[int, int] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        self.min_size: Sequence[int] = (min_size,) if isinstance(min_size, int) else min_size
        self.max_size = max_size
        self.image_mean: Sequence[float] = _MEAN if image_mean is None else image_mean
        self.image_std: Sequence[float] = _STD if image_std is None else image_std
        self.size_divisible = size_divisible
        self.fixed_size = fixed_size
        self._skip_resize: bool = kwargs.pop("_skip_resize", False)

    def forward(
        self, images: Sequence[Tensor], targets: Sequence[Target] | None = None
    ) -> tuple[ImageList, list[Target] | None]:
        # The dictionaries are copied: programs go on using what they passed in.
        labelled = None if targets is None else [dict(target) for target in targets]
        prepared = []
        for i, image in enumerate(images):
            if image.ndim != 3:
                raise ValueError(
                    "images is expected to be a list of 3d tensors of shape [C, H, W], got "
                    f"{image.shape}"
                )
            image, target = self.resize(
                self.normalize(image), None if labelled is None else labelled[i]
            )
            prepared.append(image)
            if labelled is not None and target is not None:
                labelled[i] = target
        sizes = [(image.shape[-2], image.shape[-1]) for image in prepared]
        return ImageList(self.batch_images(prepared, self.size_divisible), sizes), labelled

    def normalize(self, image: Tensor) -> Tensor:
        """Return an image normalised by the mean and deviation of the training data."""
        if not image.is_floating_point():
            raise TypeError(
                "Expected input images to be of floating type (in range [0, 1]), but found type "
                f"{image.dtype} instead"
            )
        mean, std = (
            fb.as_tensor(values, dtype=image.dtype, device=image.device)[:, None, None]
            for values in (self.image_mean, self.image_std)
        )
        return (image - mean) / std

    def torch_choice(self, k: Sequence[int]) -> int:
        """Return one of several numbers, drawn at random."""
        return k[int(fb.empty(1).uniform_(0.0, float(len(k))).item())]

    def resize(self, image: Tensor, target: Target | None = None) -> tuple[Tensor, Target | None]:
        """Return an image and its target, resized for the network."""
        if self.training:
            if self._skip_resize:
                return image, target
            shortest = self.torch_choice(self.min_size)
        else:
            shortest = self.min_size[-1]
        old = image.shape[-2:]
        new = self._fb_scaled(old, shortest)
        image = interpolate(image[None], size=new, mode="bilinear", align_corners=False)[0]
        if target is None:
            return image, target
        target["boxes"] = resize_boxes(target["boxes"], old, new)
        if "masks" in target:
            target["masks"] = interpolate(target["masks"][:, None].float(), size=new)[:, 0].byte()
        if "keypoints" in target:
            target["keypoints"] = resize_keypoints(target["keypoints"], old, new)
        return image, target

    def _fb_scaled(self, size: _Size, shortest: int) -> tuple[int, int]:
        if self.fixed_size is not None:
            width, height = self.fixed_size
            return height, width
        scale = min(shortest / min(size), self.max_size / max(size))
        return math.floor(size[0] * scale), math.floor(size[1] * scale)

    def max_by_axis(self, the_list: Sequence[_Size]) -> list[int]:
        """Return the largest size along every dimension."""
        return [max(sizes) for sizes in zip(*the_list, strict=True)]

    def batch_images(self, images: Sequence[Tensor], size_divisible: int = 32) -> Tensor:
        """Return images in one tensor, zero-padded at the bottom and on the right."""
        channels, *sides = self.max_by_axis([image.shape for image in images])
        sides = [math.ceil(side / size_divisible) * size_divisible for side in sides]
        batch = images[0].new_zeros((len(images), channels, *sides))
        for i, image in enumerate(images):
            batch[i, : image.shape[0], : image.shape[1], : image.shape[2]].copy_(image)
        return batch

    def postprocess(
        self,
        result: list[Target],
        image_shapes: Sequence[_Size],
        original_image_sizes: Sequence[_Size],
    ) -> list[Target]:
        """Return detections scaled to the original sizes of the images."""
        if self.training:
            return result
        for found, inner, outer in zip(result, image_shapes, original_image_sizes, strict=True):
            boxes = found["boxes"] = resize_boxes(found["boxes"], inner, outer)
            if "masks" in found:
                found["masks"] = paste_masks_in_image(found["masks"], boxes, outer)
            if "keypoints" in found:
                found["keypoints"] = resize_keypoints(found["keypoints"], inner, outer)
        return result

    def __repr__(self) -> str:
        lines = (
            f"{type(self).__name__}(",
            f"    Normalize(mean={self.image_mean}, std={self.image_std})",
            f"    Resize(min_size={self.min_size}, max_size={self.max_size}, mode='bilinear')",
            ")",
        )
        return "\n".join(lines)


def _ratios(values: Tensor, original_size: _Size, new_size: _Size) -> tuple[Tensor, Tensor]:
    """Return the factors by which an image became wider and higher."""
    height, width = (
        fb.tensor(new, dtype=fb.float32, device=values.device)
        / fb.tensor(old, dtype=fb.float32, device=values.device)
        for old, new in zip(original_size, new_size, strict=True)
    )
    return width, height


def resize_boxes(boxes: Tensor, original_size: _Size, new_size: _Size) -> Tensor:
    """Return boxes (N, 4) scaled with their image."""
    width, height = _ratios(boxes, original_size, new_size)
    return boxes * fb.stack((width, height, width, height))


def resize_keypoints(keypoints: Tensor, original_size: _Size, new_size: _Size) -> Tensor:
    """Return points (N, K, 3) scaled with their image; the third value stays."""
    width, height = _ratios(keypoints, original_size, new_size)
    return keypoints * fb.stack((width, height, fb.ones_like(width)))
