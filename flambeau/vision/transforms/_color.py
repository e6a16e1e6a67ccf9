"""Colours and sharpness, also at random."""

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
    """Make an image grey.

    Args:
        num_output_channels: 1 (the default) or 3.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.Grayscale()(torch.rand(3, 16, 16)).shape
        torch.Size([1, 16, 16])
    """

    def __init__(self, num_output_channels: int = 1) -> None:
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img: Image) -> Image:
        return F.rgb_to_grayscale(img, self.num_output_channels)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(num_output_channels={self.num_output_channels})"


class GaussianBlur(nn.Module):
    """Blur an image with a Gaussian of random width.

    Args:
        kernel_size: Size of the kernel, odd: one int or two.
        sigma: Range of the standard deviation, or one number. Default: (0.1, 2).

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.GaussianBlur(5)(torch.rand(3, 16, 16)).shape
        torch.Size([3, 16, 16])
    """

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
    """A transform with a probability, whose text shows its own arguments first."""

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
    """Invert the colours of an image with a probability.

    Args:
        p: The probability. Default: 0.5.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.RandomInvert(p=1.0)(torch.tensor([[[0.25, 1.0]]]))
        tensor([[[0.7500, 0.0000]]])
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__(p)

    def _fb_change(self, img: Image) -> Image:
        return F.invert(img)


class RandomAutocontrast(_Sometimes):
    """Stretch each channel from black to white with a probability.

    Args:
        p: The probability. Default: 0.5.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.RandomAutocontrast(p=1.0)(torch.tensor([[[0.25, 0.5]]]))
        tensor([[[0., 1.]]])
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__(p)

    def _fb_change(self, img: Image) -> Image:
        return F.autocontrast(img)


class RandomEqualize(_Sometimes):
    """Equalise the histogram of each channel with a probability.

    Args:
        p: The probability. Default: 0.5.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.RandomEqualize()(torch.randint(256, (3, 4, 4), dtype=torch.uint8)).shape
        torch.Size([3, 4, 4])
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__(p)

    def _fb_change(self, img: Image) -> Image:
        return F.equalize(img)


class RandomPosterize(_Sometimes):
    """Keep only the highest bits of each channel with a probability.

    Args:
        bits: Number of bits.
        p: The probability. Default: 0.5.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.RandomPosterize(2, p=1.0)(torch.tensor([[[70, 255]]], dtype=torch.uint8))
        tensor([[[ 64, 192]]], dtype=torch.uint8)
    """

    _fb_shown = ("bits", "p")

    def __init__(self, bits: int, p: float = 0.5) -> None:
        super().__init__(p)
        self.bits = bits

    def _fb_change(self, img: Image) -> Image:
        return F.posterize(img, self.bits)


class RandomSolarize(_Sometimes):
    """Invert pixels above a threshold with a probability.

    Args:
        threshold: The threshold.
        p: The probability. Default: 0.5.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.RandomSolarize(0.5, p=1.0)(torch.tensor([[[0.25, 0.75]]]))
        tensor([[[0.2500, 0.2500]]])
    """

    _fb_shown = ("threshold", "p")

    def __init__(self, threshold: float, p: float = 0.5) -> None:
        super().__init__(p)
        self.threshold = threshold

    def _fb_change(self, img: Image) -> Image:
        return F.solarize(img, self.threshold)


class RandomAdjustSharpness(_Sometimes):
    """Sharpen or soften an image with a probability.

    Args:
        sharpness_factor: 0 blurs, 1 changes nothing, 2 doubles the sharpness.
        p: The probability. Default: 0.5.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.RandomAdjustSharpness(2.0)(torch.rand(3, 16, 16)).shape
        torch.Size([3, 16, 16])
    """

    _fb_shown = ("sharpness_factor", "p")

    def __init__(self, sharpness_factor: float, p: float = 0.5) -> None:
        super().__init__(p)
        self.sharpness_factor = sharpness_factor

    def _fb_change(self, img: Image) -> Image:
        return F.adjust_sharpness(img, self.sharpness_factor)
