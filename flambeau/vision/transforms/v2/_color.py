"""Colours and sharpness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau.vision.transforms import _color
from flambeau.vision.transforms._arguments import size_of
from flambeau.vision.transforms._random import chance, uniform
from flambeau.vision.transforms.v2 import functional as F
from flambeau.vision.transforms.v2._query import query_chw
from flambeau.vision.transforms.v2._transform import RandomApplyTransform, Transform, applying

__all__ = [
    "RGB",
    "ColorJitter",
    "GaussianBlur",
    "GaussianNoise",
    "Grayscale",
    "RandomAdjustSharpness",
    "RandomAutocontrast",
    "RandomChannelPermutation",
    "RandomEqualize",
    "RandomGrayscale",
    "RandomInvert",
    "RandomPhotometricDistort",
    "RandomPosterize",
    "RandomSolarize",
]

_CHANGES = (F.adjust_brightness, F.adjust_contrast, F.adjust_saturation, F.adjust_hue)


class Grayscale(Transform):
    """Convert to grey.

    Args:
        num_output_channels: 1 (the default) or 3.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.Grayscale()(torch.rand(3, 8, 8)).shape
        torch.Size([1, 8, 8])
    """

    def __init__(self, num_output_channels: int = 1) -> None:
        super().__init__()
        self.num_output_channels = num_output_channels

    transform = applying(F.rgb_to_grayscale, "num_output_channels")


class RGB(Transform):
    """Convert to three channels, by repeating a grey one.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.RGB()(torch.zeros(1, 8, 8)).shape
        torch.Size([3, 8, 8])
    """

    transform = applying(F.grayscale_to_rgb)


class RandomGrayscale(RandomApplyTransform):
    """Convert to grey with a probability; the number of channels stays.

    Args:
        p: The probability. Default: 0.1.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.RandomGrayscale(p=1.0)(torch.zeros(3, 8, 8)).shape
        torch.Size([3, 8, 8])
    """

    def __init__(self, p: float = 0.1) -> None:
        super().__init__(p)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        return {"channels": query_chw(flat_inputs)[0]}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(F.rgb_to_grayscale, inpt, params["channels"])


class ColorJitter(Transform):
    """Change brightness, contrast, saturation and hue at random, in random order.

    Args:
        brightness: How far the factor may be from 1, or a pair: its range. Default: None, it
            stays.
        contrast: Likewise. Default: None.
        saturation: Likewise. Default: None.
        hue: How far the shift may be from 0, at most 0.5, or a pair: its range. Default: None.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.ColorJitter(brightness=(2.0, 2.0))(torch.full((3, 1, 1), 0.25)).flatten()
        tensor([0.5000, 0.5000, 0.5000])
    """

    get_params = staticmethod(_color.ColorJitter.get_params)

    def __init__(
        self,
        brightness: float | Sequence[float] | None = None,
        contrast: float | Sequence[float] | None = None,
        saturation: float | Sequence[float] | None = None,
        hue: float | Sequence[float] | None = None,
    ) -> None:
        super().__init__()
        self.brightness: Any = _range("brightness", brightness)
        self.contrast: Any = _range("contrast", contrast)
        self.saturation: Any = _range("saturation", saturation)
        self.hue: Any = _range("hue", hue, middle=0.0, limits=(-0.5, 0.5))

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        order, *factors = self.get_params(self.brightness, self.contrast, self.saturation, self.hue)
        return {"order": order.tolist(), "factors": factors}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        for which in params["order"]:
            factor = params["factors"][which]
            if factor is not None:
                inpt = self._call_kernel(_CHANGES[which], inpt, factor)
        return inpt


def _range(name: str, value: Any, **limits: Any) -> tuple[float, float] | None:
    return None if value is None else _color._factors(name, value, **limits)


class RandomChannelPermutation(Transform):
    """Permute the channels at random.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.RandomChannelPermutation()(torch.zeros(3, 8, 8)).shape
        torch.Size([3, 8, 8])
    """

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        return {"order": fb.randperm(query_chw(flat_inputs)[0]).tolist()}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(F.permute_channels, inpt, params["order"])


class RandomPhotometricDistort(Transform):
    """Change brightness, contrast, saturation, hue and the order of channels, each at random.

    Args:
        brightness: Range of the factor. Default: (0.875, 1.125).
        contrast: Range of the factor. Default: (0.5, 1.5).
        saturation: Range of the factor. Default: (0.5, 1.5).
        hue: Range of the shift. Default: (-0.05, 0.05).
        p: Probability of each change. Default: 0.5.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.RandomPhotometricDistort()(torch.zeros(3, 8, 8)).shape
        torch.Size([3, 8, 8])
    """

    def __init__(
        self,
        brightness: tuple[float, float] = (0.875, 1.125),
        contrast: tuple[float, float] = (0.5, 1.5),
        saturation: tuple[float, float] = (0.5, 1.5),
        hue: tuple[float, float] = (-0.05, 0.05),
        p: float = 0.5,
    ) -> None:
        super().__init__()
        self.brightness = brightness
        self.contrast = contrast
        self.hue = hue
        self.saturation = saturation
        self.p = p

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        channels = query_chw(flat_inputs)[0]
        factors = [
            uniform(low, high) if chance(self.p) else None
            for low, high in (self.brightness, self.contrast, self.saturation, self.hue)
        ]
        contrast_early = chance(0.5)
        order = fb.randperm(channels).tolist() if chance(self.p) else None
        return {"factors": factors, "contrast_early": contrast_early, "order": order}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        # The contrast comes second or last.
        for which in (0, 1, 2, 3) if params["contrast_early"] else (0, 2, 3, 1):
            factor = params["factors"][which]
            if factor is not None:
                inpt = self._call_kernel(_CHANGES[which], inpt, factor)
        if params["order"] is not None:
            inpt = self._call_kernel(F.permute_channels, inpt, params["order"])
        return inpt


class GaussianBlur(Transform):
    """Blur with a Gaussian of random standard deviation.

    Args:
        kernel_size: Size of the kernel, odd: one int or two.
        sigma: Range of the standard deviation, or one number. Default: (0.1, 2).

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.GaussianBlur(3)(torch.zeros(3, 8, 8)).shape
        torch.Size([3, 8, 8])
    """

    get_params = staticmethod(_color.GaussianBlur.get_params)

    def __init__(
        self, kernel_size: int | Sequence[int], sigma: float | Sequence[float] = (0.1, 2.0)
    ) -> None:
        super().__init__()
        self.kernel_size: tuple[int, int] = size_of(
            kernel_size, "Kernel size should be a tuple/list of two integers"
        )
        if any(size <= 0 or size % 2 == 0 for size in self.kernel_size):
            raise ValueError(
                f"Kernel size value should be an odd and positive number, got {kernel_size}."
            )
        pair = [sigma, sigma] if isinstance(sigma, (int, float)) else list(sigma)
        if len(pair) != 2 or not 0.0 < pair[0] <= pair[1]:
            raise ValueError(
                f"sigma values should be positive and of the form (min, max). Got {sigma}"
            )
        self.sigma: list[float] = [float(value) for value in pair]

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        sigma = self.get_params(self.sigma[0], self.sigma[1])
        return {"sigma": [sigma, sigma]}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(F.gaussian_blur, inpt, self.kernel_size, params["sigma"])


class GaussianNoise(Transform):
    """Add Gaussian noise.

    Args:
        mean: Mean of the noise. Default: 0.
        sigma: Standard deviation of the noise. Default: 0.1.
        clip: Whether to clamp the result to the range of an image. Default: True.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.GaussianNoise(sigma=0.5)(torch.zeros(3, 8, 8)).shape
        torch.Size([3, 8, 8])
    """

    def __init__(self, mean: float = 0.0, sigma: float = 0.1, clip: bool = True) -> None:
        super().__init__()
        self.mean = mean
        self.sigma = sigma
        self.clip = clip

    transform = applying(F.gaussian_noise, "mean", "sigma", "clip")


class RandomInvert(RandomApplyTransform):
    """Invert the colours with a probability.

    Args:
        p: The probability. Default: 0.5.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.RandomInvert(p=1.0)(torch.tensor([[[0.25, 1.0]]]))
        tensor([[[0.7500, 0.0000]]])
    """

    transform = applying(F.invert)


class RandomAutocontrast(RandomApplyTransform):
    """Stretch every channel from black to white with a probability.

    Args:
        p: The probability. Default: 0.5.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.RandomAutocontrast(p=1.0)(torch.tensor([[[0.25, 0.5, 0.75]]]))
        tensor([[[0.0000, 0.5000, 1.0000]]])
    """

    transform = applying(F.autocontrast)


class RandomEqualize(RandomApplyTransform):
    """Equalise the histogram of every channel with a probability.

    Args:
        p: The probability. Default: 0.5.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.RandomEqualize(p=1.0)(torch.zeros(3, 8, 8, dtype=torch.uint8)).shape
        torch.Size([3, 8, 8])
    """

    transform = applying(F.equalize)


class RandomPosterize(RandomApplyTransform):
    """Keep the highest bits of every channel with a probability.

    Args:
        bits: Number of bits.
        p: The probability. Default: 0.5.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.RandomPosterize(bits=2, p=1.0)(torch.tensor([[[63, 64, 200]]], dtype=torch.uint8))
        tensor([[[  0,  64, 192]]], dtype=torch.uint8)
    """

    def __init__(self, bits: int, p: float = 0.5) -> None:
        super().__init__(p)
        self.bits = bits

    transform = applying(F.posterize, "bits")


class RandomSolarize(RandomApplyTransform):
    """Invert the values at or above a threshold with a probability.

    Args:
        threshold: The threshold.
        p: The probability. Default: 0.5.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.RandomSolarize(threshold=0.5, p=1.0)(torch.tensor([[[0.25, 0.75]]]))
        tensor([[[0.2500, 0.2500]]])
    """

    def __init__(self, threshold: float, p: float = 0.5) -> None:
        super().__init__(p)
        self.threshold = threshold

    transform = applying(F.solarize, "threshold")


class RandomAdjustSharpness(RandomApplyTransform):
    """Adjust the sharpness with a probability.

    Args:
        sharpness_factor: 0 blurs, 1 changes nothing, 2 doubles the sharpness.
        p: The probability. Default: 0.5.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.RandomAdjustSharpness(2.0, p=1.0)(torch.zeros(3, 8, 8)).shape
        torch.Size([3, 8, 8])
    """

    def __init__(self, sharpness_factor: float, p: float = 0.5) -> None:
        super().__init__(p)
        self.sharpness_factor = sharpness_factor

    transform = applying(F.adjust_sharpness, "sharpness_factor")
