"""What images go through before a pretrained network sees them."""

from __future__ import annotations

from collections.abc import Sequence

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.vision.transforms import functional as F
from flambeau.vision.transforms._image import Image, InterpolationMode

__all__ = ["ImageClassification"]


class ImageClassification(nn.Module):
    """An image scaled, cut to its middle, and normalised as in training."""

    def __init__(
        self,
        *,
        crop_size: int,
        resize_size: int = 256,
        mean: Sequence[float] = (0.485, 0.456, 0.406),
        std: Sequence[float] = (0.229, 0.224, 0.225),
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
        if not isinstance(img, Tensor):
            img = F.pil_to_tensor(img)
        return F.normalize(F.convert_image_dtype(img, fb.float32), self.mean, self.std)

    def __repr__(self) -> str:
        names = ("crop_size", "resize_size", "mean", "std", "interpolation")
        lines = [f"    {name}={getattr(self, name)}" for name in names]
        return "\n".join([f"{type(self).__name__}(", *lines, ")"])

    def describe(self) -> str:
        """Return in words what is done to an image."""
        return (
            "Accepts PIL images and tensors (..., C, H, W). They are resized to "
            f"resize_size={self.resize_size} with interpolation={self.interpolation}, cropped to "
            f"the middle of crop_size={self.crop_size}, scaled to [0.0, 1.0] and normalised with "
            f"mean={self.mean} and std={self.std}."
        )
