"""Resizing, cropping, flipping and padding, also at random."""

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
    """Resize an image.

    Args:
        size: (height, width), or one int for the shorter side.
        interpolation: `InterpolationMode` of the new pixels. Default: bilinear.
        max_size: Largest length of the longer side, where `size` is one int. Default: None.
        antialias: Whether to smooth a tensor that is made smaller. Default: True.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.Resize((4, 6))(torch.rand(3, 8, 8)).shape
        torch.Size([3, 4, 6])
        >>> transforms.Resize(4)(torch.rand(3, 8, 16)).shape
        torch.Size([3, 4, 8])
    """

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
    """Crop an image at its centre; a smaller image is padded with 0.

    Args:
        size: (height, width), or one int for a square.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.CenterCrop(2)(torch.arange(16).reshape(1, 4, 4))
        tensor([[[ 5,  6],
                 [ 9, 10]]])
    """

    def __init__(self, size: int | Sequence[int]) -> None:
        super().__init__()
        self.size: tuple[int, int] = size_of(size, _TWO_SIDES)

    def forward(self, img: Image) -> Image:
        return F.center_crop(img, self.size)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size})"


class Pad(nn.Module):
    """Pad an image.

    Args:
        padding: Widths: one int, (left and right, top and bottom), or four ints.
        fill: Value of the padding. Default: 0.
        padding_mode: `"constant"` (the default), `"edge"`, `"reflect"` or `"symmetric"`.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.Pad(2)(torch.rand(3, 16, 16)).shape
        torch.Size([3, 20, 20])
    """

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
    """Crop an image at a random position.

    Args:
        size: (height, width), or one int for a square.
        padding: Widths to pad by first: one int, (left and right, top and bottom), or four ints.
            Default: None.
        pad_if_needed: Whether to pad an image that is too small. Default: False.
        fill: Value of the padding. Default: 0.
        padding_mode: `"constant"` (the default), `"edge"`, `"reflect"` or `"symmetric"`.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.RandomCrop(32, padding=4)(torch.rand(3, 32, 32)).shape
        torch.Size([3, 32, 32])
    """

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
    """Crop a random part of an image, and resize it.

    Args:
        size: Size of the result: (height, width), or one int for a square.
        scale: Range of the part's share of the area. Default: (0.08, 1).
        ratio: Range of width by height. Default: (3/4, 4/3).
        interpolation: `InterpolationMode` of the new pixels. Default: bilinear.
        antialias: Whether to smooth a tensor that is made smaller. Default: True.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.RandomResizedCrop(16)(torch.rand(3, 40, 30)).shape
        torch.Size([3, 16, 16])
    """

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
        """Draw the top, left, height and width of a crop; a centre crop if none is found."""
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
    """Draw a crop of an image of this size; a centre crop if none of such a shape is found."""
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
    """Flip an image left to right with a probability.

    Args:
        p: The probability. Default: 0.5.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.RandomHorizontalFlip(p=1.0)(torch.tensor([[[1, 2, 3]]]))
        tensor([[[3, 2, 1]]])

    See also:
        `transforms.RandomVerticalFlip`.
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def forward(self, img: Image) -> Image:
        return F.hflip(img) if chance(self.p) else img

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p})"


class RandomVerticalFlip(RandomHorizontalFlip):
    """Flip an image upside down with a probability.

    Args:
        p: The probability. Default: 0.5.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.RandomVerticalFlip(p=1.0)(torch.tensor([[[1], [2]]])).flatten()
        tensor([2, 1])
    """

    def forward(self, img: Image) -> Image:
        return F.vflip(img) if chance(self.p) else img


class FiveCrop(nn.Module):
    """Crop the four corners and the centre of an image.

    Args:
        size: (height, width), or one int for a square.

    Returns:
        A tuple of five images.

    Example:
        >>> from flambeau.vision import transforms
        >>> [tuple(crop.shape) for crop in transforms.FiveCrop(4)(torch.rand(3, 16, 16))]
        [(3, 4, 4), (3, 4, 4), (3, 4, 4), (3, 4, 4), (3, 4, 4)]
    """

    def __init__(self, size: int | Sequence[int]) -> None:
        super().__init__()
        self.size: tuple[int, int] = size_of(size, _TWO_SIDES)

    def forward(self, img: Image) -> tuple[Any, ...]:
        return F.five_crop(img, self.size)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size})"


class TenCrop(nn.Module):
    """`FiveCrop` of an image and of its mirror image.

    Args:
        size: (height, width), or one int for a square.
        vertical_flip: Whether the mirror image is upside down. Default: False.

    Returns:
        A tuple of ten images.

    Example:
        >>> from flambeau.vision import transforms
        >>> len(transforms.TenCrop(4)(torch.rand(3, 16, 16)))
        10
    """

    def __init__(self, size: int | Sequence[int], vertical_flip: bool = False) -> None:
        super().__init__()
        self.size: tuple[int, int] = size_of(size, _TWO_SIDES)
        self.vertical_flip = vertical_flip

    def forward(self, img: Image) -> tuple[Any, ...]:
        return F.ten_crop(img, self.size, self.vertical_flip)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size}, vertical_flip={self.vertical_flip})"
