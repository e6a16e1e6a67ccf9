"""Preprocessing of images for pretrained networks."""

from __future__ import annotations

from collections.abc import Sequence

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.vision.transforms import functional as F
from flambeau.vision.transforms._image import Image, InterpolationMode
from flambeau.vision.transforms._values import by_table, image_bytes, pil_bytes

__all__ = [
    "ImageClassification",
    "ObjectDetection",
    "OpticalFlow",
    "SemanticSegmentation",
    "VideoClassification",
]

_Mean = Sequence[float]


def _normalized(image: Image, mean: _Mean, std: _Mean) -> Tensor:
    """Convert an image to floating point from 0 to 1, then normalise it."""
    pixels = image_bytes(image) if isinstance(image, Tensor) else pil_bytes(image)
    steps = (F.convert_image_dtype, fb.float32), (F.normalize, tuple(mean), tuple(std))
    done = None if pixels is None else by_table(pixels, *steps)
    if done is not None:
        return done
    tensor = image if isinstance(image, Tensor) else F.pil_to_tensor(image)
    return F.normalize(F.convert_image_dtype(tensor, fb.float32), mean, std)


def _text(preset: nn.Module, *names: str) -> str:
    lines = [f"    {name}={getattr(preset, name)}" for name in names]
    return "\n".join([f"{type(preset).__name__}(", *lines, ")"])


class ImageClassification(nn.Module):
    """Resize an image, crop its centre, and normalise it as in training."""

    def __init__(
        self,
        *,
        crop_size: int,
        resize_size: int = 256,
        mean: _Mean = (0.485, 0.456, 0.406),
        std: _Mean = (0.229, 0.224, 0.225),
        interpolation: InterpolationMode = InterpolationMode.BILINEAR,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.crop_size = [crop_size]
        self.resize_size = [resize_size]
        self.mean = list(mean)
        self.std = list(std)
        self.interpolation = interpolation
        self.antialias = antialias

    def forward(self, img: Image) -> Tensor:
        img = F.resize(img, self.resize_size, self.interpolation, antialias=self.antialias)
        img = F.center_crop(img, self.crop_size)
        return _normalized(img, self.mean, self.std)

    def __repr__(self) -> str:
        return _text(self, "crop_size", "resize_size", "mean", "std", "interpolation")

    def describe(self) -> str:
        """Describe the preprocessing in words."""
        return (
            "Accepts PIL images and tensors (..., C, H, W). They are resized to "
            f"resize_size={self.resize_size} with interpolation={self.interpolation}, cropped to "
            f"the middle of crop_size={self.crop_size}, scaled to [0.0, 1.0] and normalised with "
            f"mean={self.mean} and std={self.std}."
        )


class SemanticSegmentation(nn.Module):
    """Resize an image, if a size is given, and normalise it."""

    def __init__(
        self,
        *,
        resize_size: int | None,
        mean: _Mean = (0.485, 0.456, 0.406),
        std: _Mean = (0.229, 0.224, 0.225),
        interpolation: InterpolationMode = InterpolationMode.BILINEAR,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.resize_size = None if resize_size is None else [resize_size]
        self.mean = list(mean)
        self.std = list(std)
        self.interpolation = interpolation
        self.antialias = antialias

    def forward(self, img: Image) -> Tensor:
        if self.resize_size is not None:
            img = F.resize(img, self.resize_size, self.interpolation, antialias=self.antialias)
        return _normalized(img, self.mean, self.std)

    def __repr__(self) -> str:
        return _text(self, "resize_size", "mean", "std", "interpolation")

    def describe(self) -> str:
        """Describe the preprocessing in words."""
        return (
            "Accepts PIL images and tensors (..., C, H, W). They are resized to "
            f"resize_size={self.resize_size} with interpolation={self.interpolation}, scaled to "
            f"[0.0, 1.0] and normalised with mean={self.mean} and std={self.std}."
        )


class VideoClassification(nn.Module):
    """Resize videos (..., T, C, H, W), crop their centre, normalise, as (..., C, T, H, W)."""

    def __init__(
        self,
        *,
        crop_size: Sequence[int],
        resize_size: int | Sequence[int],
        mean: _Mean = (0.43216, 0.394666, 0.37645),
        std: _Mean = (0.22803, 0.22145, 0.216989),
        interpolation: InterpolationMode = InterpolationMode.BILINEAR,
    ) -> None:
        super().__init__()
        self.crop_size = list(crop_size)
        self.resize_size = [resize_size] if isinstance(resize_size, int) else list(resize_size)
        self.mean = list(mean)
        self.std = list(std)
        self.interpolation = interpolation

    def forward(self, vid: Tensor) -> Tensor:
        images = vid.flatten(0, -4)
        # Without antialiasing, as when these weights were trained.
        images = F.resize(images, self.resize_size, self.interpolation, antialias=False)
        images = _normalized(F.center_crop(images, self.crop_size), self.mean, self.std)
        return images.view(*vid.shape[:-2], *images.shape[-2:]).transpose(-4, -3)

    def __repr__(self) -> str:
        return _text(self, "crop_size", "resize_size", "mean", "std", "interpolation")

    def describe(self) -> str:
        """Describe the preprocessing in words."""
        return (
            "Accepts tensors (..., T, C, H, W). The images are resized to "
            f"resize_size={self.resize_size} with interpolation={self.interpolation}, cropped to "
            f"the middle of crop_size={self.crop_size}, scaled to [0.0, 1.0] and normalised with "
            f"mean={self.mean} and std={self.std}. The result is (..., C, T, H, W)."
        )


class ObjectDetection(nn.Module):
    """Convert an image to values from 0 to 1: detectors resize and normalise it themselves."""

    def forward(self, img: Image) -> Tensor:
        tensor = img if isinstance(img, Tensor) else F.pil_to_tensor(img)
        return F.convert_image_dtype(tensor, fb.float32)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def describe(self) -> str:
        """Describe the preprocessing in words."""
        return "Accepts PIL images and tensors (..., C, H, W) and scales them to [0.0, 1.0]."


class OpticalFlow(nn.Module):
    """Convert two images to values from -1 to 1."""

    def forward(self, img1: Image, img2: Image) -> tuple[Tensor, Tensor]:
        first, second = (
            _normalized(img, [0.5, 0.5, 0.5], [0.5, 0.5, 0.5]).contiguous() for img in (img1, img2)
        )
        return first, second

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def describe(self) -> str:
        """Describe the preprocessing in words."""
        return "Accepts two PIL images or tensors (..., C, H, W) and scales both to [-1.0, 1.0]."
