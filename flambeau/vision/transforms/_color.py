"""Colours and sharpness, also random ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.vision.transforms import functional as F
from flambeau.vision.transforms._arguments import size_of
from flambeau.vision.transforms._image import Image, dimensions
from flambeau.vision.transforms._random import chance, uniform

__all__ = [
    "ColorJitter",
    "GaussianBlur",
    "Grayscale",
    "RandomAdjustSharpness",
    "RandomAutocontrast",
    "RandomEqualize",
    "RandomGrayscale",
    "RandomInvert",
    "RandomPosterize",
    "RandomSolarize",
]

_Range = tuple[float, float] | None


class ColorJitter(nn.Module):
    """Change brightness, contrast, saturation and hue of an image at random, in random order.

    Args:
        brightness: How far the factor may be from 1, or a pair: its range. Default: 0.
        contrast: Likewise. Default: 0.
        saturation: Likewise. Default: 0.
        hue: How far the shift may be from 0, at most 0.5, or a pair: its range. Default: 0.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.ColorJitter(brightness=0.5, hue=0.1)(torch.rand(3, 4, 4)).shape
        torch.Size([3, 4, 4])
    """

    def __init__(
        self,
        brightness: float | Sequence[float] = 0,
        contrast: float | Sequence[float] = 0,
        saturation: float | Sequence[float] = 0,
        hue: float | Sequence[float] = 0,
    ) -> None:
        super().__init__()
        self.brightness: _Range = _factors("brightness", brightness)
        self.contrast: _Range = _factors("contrast", contrast)
        self.saturation: _Range = _factors("saturation", saturation)
        self.hue: _Range = _factors("hue", hue, middle=0.0, limits=(-0.5, 0.5))

    @staticmethod
    def get_params(
        brightness: Sequence[float] | None,
        contrast: Sequence[float] | None,
        saturation: Sequence[float] | None,
        hue: Sequence[float] | None,
    ) -> tuple[Tensor, float | None, float | None, float | None, float | None]:
        """Draw the order of the four changes and the factor of each."""
        order = fb.randperm(4)
        b, c, s, h = (
            None if limits is None else uniform(limits[0], limits[1])
            for limits in (brightness, contrast, saturation, hue)
        )
        return order, b, c, s, h

    def forward(self, img: Image) -> Image:
        order, *factors = self.get_params(self.brightness, self.contrast, self.saturation, self.hue)
        changes = (F.adjust_brightness, F.adjust_contrast, F.adjust_saturation, F.adjust_hue)
        for which in order.tolist():
            factor = factors[which]
            if factor is not None:
                img = changes[which](img, factor)
        return img

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(brightness={self.brightness}, contrast={self.contrast}, "
            f"saturation={self.saturation}, hue={self.hue})"
        )


def _factors(
    name: str,
    value: Any,
    middle: float = 1.0,
    limits: tuple[float, float] = (0.0, float("inf")),
) -> _Range:
    """The range of a factor; None where it changes nothing."""
    if isinstance(value, (int, float)):
        if value < 0:
            raise ValueError(f"If {name} is a single number, it must be non negative, got {value}")
        low, high = middle - float(value), middle + float(value)
        if middle == 1.0:
            low = max(low, 0.0)
    elif isinstance(value, (tuple, list)) and len(value) == 2:
        low, high = float(value[0]), float(value[1])
    else:
        raise TypeError(
            f"{name} should be a single number or a list/tuple with length 2, got {value!r}"
        )
    if not limits[0] <= low <= high <= limits[1]:
        raise ValueError(f"{name} values should be between {limits}, but got {(low, high)}.")
    return None if low == high == middle else (low, high)


class Grayscale(nn.Module):
    """A grey image of one or three channels."""

    def __init__(self, num_output_channels: int = 1) -> None:
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img: Image) -> Image:
        return F.rgb_to_grayscale(img, self.num_output_channels)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(num_output_channels={self.num_output_channels})"


class GaussianBlur(nn.Module):
    """An image blurred with a random deviation."""

    def __init__(
        self, kernel_size: int | Sequence[int], sigma: float | Sequence[float] = (0.1, 2.0)
    ) -> None:
        super().__init__()
        self.kernel_size: tuple[int, int] = size_of(
            kernel_size, "Kernel size should be a tuple/list of two integers"
        )
        if any(size <= 0 or size % 2 == 0 for size in self.kernel_size):
            raise ValueError(
                f"Kernel size value should be an odd and positive number, got {kernel_size}"
            )
        if isinstance(sigma, (int, float)):
            sigma = (float(sigma), float(sigma))
        if len(sigma) != 2 or not 0.0 < sigma[0] <= sigma[1]:
            raise ValueError(
                f"sigma values should be positive and of the form (min, max). Got {sigma}"
            )
        self.sigma = sigma

    @staticmethod
    def get_params(sigma_min: float, sigma_max: float) -> float:
        """Draw a deviation."""
        return uniform(sigma_min, sigma_max)

    def forward(self, img: Image) -> Image:
        sigma = self.get_params(self.sigma[0], self.sigma[1])
        return F.gaussian_blur(img, self.kernel_size, [sigma, sigma])

    def __repr__(self) -> str:
        return f"{type(self).__name__}(kernel_size={self.kernel_size}, sigma={self.sigma})"


class _Sometimes(nn.Module):
    """A change that happens with a probability, shown with its own arguments first."""

    _fb_shown: tuple[str, ...] = ("p",)

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, img: Image) -> Image:
        return self._fb_change(img) if chance(self.p) else img

    def _fb_change(self, img: Image) -> Image:
        raise NotImplementedError

    def __repr__(self) -> str:
        options = ",".join(f"{name}={getattr(self, name)}" for name in self._fb_shown)
        return f"{type(self).__name__}({options})"


class RandomGrayscale(_Sometimes):
    """Make an image grey with a probability; it keeps its number of channels.

    Args:
        p: The probability. Default: 0.1.

    Example:
        >>> from flambeau.vision import transforms
        >>> grey = transforms.RandomGrayscale(p=1.0)(torch.rand(3, 2, 2))
        >>> torch.equal(grey[0], grey[1])
        True
    """

    def __init__(self, p: float = 0.1) -> None:
        super().__init__(p)

    def _fb_change(self, img: Image) -> Image:
        return F.rgb_to_grayscale(img, dimensions(img)[0])


class RandomInvert(_Sometimes):
    """Black and white exchanged with a probability."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__(p)

    def _fb_change(self, img: Image) -> Image:
        return F.invert(img)


class RandomAutocontrast(_Sometimes):
    """Every channel stretched from black to white with a probability."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__(p)

    def _fb_change(self, img: Image) -> Image:
        return F.autocontrast(img)


class RandomEqualize(_Sometimes):
    """The shades of every channel spread evenly with a probability."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__(p)

    def _fb_change(self, img: Image) -> Image:
        return F.equalize(img)


class RandomPosterize(_Sometimes):
    """Only the highest bits of every channel, with a probability."""

    _fb_shown = ("bits", "p")

    def __init__(self, bits: int, p: float = 0.5) -> None:
        super().__init__(p)
        self.bits = bits

    def _fb_change(self, img: Image) -> Image:
        return F.posterize(img, self.bits)


class RandomSolarize(_Sometimes):
    """What is at least so bright inverted, with a probability."""

    _fb_shown = ("threshold", "p")

    def __init__(self, threshold: float, p: float = 0.5) -> None:
        super().__init__(p)
        self.threshold = threshold

    def _fb_change(self, img: Image) -> Image:
        return F.solarize(img, self.threshold)


class RandomAdjustSharpness(_Sometimes):
    """A sharper or softer image with a probability."""

    _fb_shown = ("sharpness_factor", "p")

    def __init__(self, sharpness_factor: float, p: float = 0.5) -> None:
        super().__init__(p)
        self.sharpness_factor = sharpness_factor

    def _fb_change(self, img: Image) -> Image:
        return F.adjust_sharpness(img, self.sharpness_factor)
