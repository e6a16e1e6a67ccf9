"""Sizes, crops, flips and margins, also random ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from flambeau import nn
from flambeau.vision.transforms import functional as F
from flambeau.vision.transforms._arguments import size_of
from flambeau.vision.transforms._image import (
    Image,
    InterpolationMode,
    dimensions,
    interpolation_of,
)
from flambeau.vision.transforms._random import below, chance, uniform

__all__ = [
    "CenterCrop",
    "FiveCrop",
    "Pad",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "RandomVerticalFlip",
    "Resize",
    "TenCrop",
    "random_place",
]

_TWO_SIDES = "Please provide only two dimensions (h, w) for size"


class Resize(nn.Module):
    """An image of (height, width), or with a shorter side of one number."""

    def __init__(
        self,
        size: int | Sequence[int],
        interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
        max_size: int | None = None,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        if not isinstance(size, (int, Sequence)):
            raise TypeError(f"Size should be int or sequence. Got {type(size)}")
        if isinstance(size, Sequence) and len(size) not in (1, 2):
            raise ValueError(f"If size is a sequence, it should have 1 or 2 values, got {size}")
        self.size = size
        self.max_size = max_size
        self.interpolation: InterpolationMode = interpolation_of(interpolation)
        self.antialias = antialias

    def forward(self, img: Image) -> Image:
        return F.resize(img, self.size, self.interpolation, self.max_size, self.antialias)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(size={self.size}, interpolation={self.interpolation.value}, "
            f"max_size={self.max_size}, antialias={self.antialias})"
        )


class CenterCrop(nn.Module):
    """The middle of an image."""

    def __init__(self, size: int | Sequence[int]) -> None:
        super().__init__()
        self.size: tuple[int, int] = size_of(size, _TWO_SIDES)

    def forward(self, img: Image) -> Image:
        return F.center_crop(img, self.size)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size})"


class Pad(nn.Module):
    """An image with margins."""

    def __init__(
        self,
        padding: int | Sequence[int],
        fill: float | Sequence[float] = 0,
        padding_mode: str = "constant",
    ) -> None:
        super().__init__()
        if not isinstance(padding, (int, tuple, list)):
            raise TypeError(f"Got inappropriate padding arg: {padding!r}")
        if not isinstance(fill, (int, float, str, tuple, list)):
            raise TypeError(f"Got inappropriate fill arg: {fill!r}")
        if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
            raise ValueError(
                "Padding mode should be either constant, edge, reflect or symmetric, got "
                f"{padding_mode!r}"
            )
        if not isinstance(padding, int) and len(padding) not in (1, 2, 4):
            raise ValueError(
                "Padding must be an int or a 1, 2, or 4 element tuple, not a "
                f"{len(padding)} element tuple"
            )
        self.padding = padding
        self.fill = fill
        self.padding_mode = padding_mode

    def forward(self, img: Image) -> Image:
        return F.pad(img, self.padding, self.fill, self.padding_mode)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(padding={self.padding}, fill={self.fill}, "
            f"padding_mode={self.padding_mode})"
        )


class RandomCrop(nn.Module):
    """A rectangle of a given size anywhere in an image."""

    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: float | Sequence[float] = 0,
        padding_mode: str = "constant",
    ) -> None:
        super().__init__()
        self.size: tuple[int, int] = size_of(size, _TWO_SIDES)
        self.padding = padding
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self.padding_mode = padding_mode

    @staticmethod
    def get_params(img: Image, output_size: Sequence[int]) -> tuple[int, int, int, int]:
        """Draw the top, left, height and width of a crop."""
        _, height, width = dimensions(img)
        rows, columns = output_size
        if height < rows or width < columns:
            raise ValueError(
                f"Required crop size {(rows, columns)} is larger than input image size "
                f"{(height, width)}"
            )
        if (width, height) == (columns, rows):
            return 0, 0, height, width
        return below(height - rows + 1), below(width - columns + 1), rows, columns

    def forward(self, img: Image) -> Image:
        if self.padding is not None:
            img = F.pad(img, self.padding, self.fill, self.padding_mode)
        if self.pad_if_needed:
            img = self._fb_enlarged(img)
        return F.crop(img, *self.get_params(img, self.size))

    def _fb_enlarged(self, img: Image) -> Image:
        _, height, width = dimensions(img)
        rows, columns = self.size
        if width < columns:
            img = F.pad(img, [columns - width, 0], self.fill, self.padding_mode)
        if height < rows:
            img = F.pad(img, [0, rows - height], self.fill, self.padding_mode)
        return img

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size}, padding={self.padding})"


class RandomResizedCrop(nn.Module):
    """A rectangle of a random share and shape of an image, scaled to a given size."""

    def __init__(
        self,
        size: int | Sequence[int],
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.size: tuple[int, int] = size_of(size, _TWO_SIDES)
        if not isinstance(scale, Sequence):
            raise TypeError(f"Scale should be a sequence, got {scale!r}")
        if not isinstance(ratio, Sequence):
            raise TypeError(f"Ratio should be a sequence, got {ratio!r}")
        self.interpolation: InterpolationMode = interpolation_of(interpolation)
        self.antialias = antialias
        self.scale = scale
        self.ratio = ratio

    @staticmethod
    def get_params(
        img: Image, scale: Sequence[float], ratio: Sequence[float]
    ) -> tuple[int, int, int, int]:
        """Draw the top, left, height and width of a crop; the middle where none is found."""
        _, height, width = dimensions(img)
        return random_place(height, width, scale, ratio)

    def forward(self, img: Image) -> Image:
        place = self.get_params(img, self.scale, self.ratio)
        return F.resized_crop(img, *place, self.size, self.interpolation, self.antialias)

    def __repr__(self) -> str:
        scale, ratio = (tuple(round(v, 4) for v in pair) for pair in (self.scale, self.ratio))
        return (
            f"{type(self).__name__}(size={self.size}, scale={scale}, ratio={ratio}, "
            f"interpolation={self.interpolation.value}, antialias={self.antialias})"
        )


def random_place(
    height: int, width: int, scale: Sequence[float], ratio: Sequence[float]
) -> tuple[int, int, int, int]:
    """Draw a crop of an image of this size; the middle where none of such a shape is found."""
    logs = math.log(ratio[0]), math.log(ratio[1])
    for _ in range(10):
        area = height * width * uniform(*scale)
        shape = math.exp(uniform(*logs))
        columns, rows = round(math.sqrt(area * shape)), round(math.sqrt(area / shape))
        if 0 < columns <= width and 0 < rows <= height:
            top = below(height - rows + 1)
            return top, below(width - columns + 1), rows, columns
    shape = width / height
    rows, columns = height, width
    if shape < min(ratio):
        rows = round(width / min(ratio))
    elif shape > max(ratio):
        columns = round(height * max(ratio))
    return (height - rows) // 2, (width - columns) // 2, rows, columns


class RandomHorizontalFlip(nn.Module):
    """Left and right exchanged with a probability."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def forward(self, img: Image) -> Image:
        return F.hflip(img) if chance(self.p) else img

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p})"


class RandomVerticalFlip(RandomHorizontalFlip):
    """Top and bottom exchanged with a probability."""

    def forward(self, img: Image) -> Image:
        return F.vflip(img) if chance(self.p) else img


class FiveCrop(nn.Module):
    """The four corners and the middle of an image."""

    def __init__(self, size: int | Sequence[int]) -> None:
        super().__init__()
        self.size: tuple[int, int] = size_of(size, _TWO_SIDES)

    def forward(self, img: Image) -> tuple[Any, ...]:
        return F.five_crop(img, self.size)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size})"


class TenCrop(nn.Module):
    """Five crops of an image and five of its mirror image."""

    def __init__(self, size: int | Sequence[int], vertical_flip: bool = False) -> None:
        super().__init__()
        self.size: tuple[int, int] = size_of(size, _TWO_SIDES)
        self.vertical_flip = vertical_flip

    def forward(self, img: Image) -> tuple[Any, ...]:
        return F.ten_crop(img, self.size, self.vertical_flip)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size}, vertical_flip={self.vertical_flip})"
