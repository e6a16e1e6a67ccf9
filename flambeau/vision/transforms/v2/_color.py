"""Colours and sharpness; what is drawn, is drawn as in the first interface."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau.vision.transforms import _color
from flambeau.vision.transforms._image import dimensions
from flambeau.vision.transforms.v2 import functional as F
from flambeau.vision.transforms.v2._transform import (
    RandomApplyTransform,
    Transform,
    image_in,
    of_images,
)

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
    "RandomPosterize",
    "RandomSolarize",
]


class ColorJitter(Transform, _color.ColorJitter):
    """Brightness, contrast, saturation and hue changed at random, in a random order."""

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        order, *factors = self.get_params(self.brightness, self.contrast, self.saturation, self.hue)
        return {"order": order.tolist(), "factors": factors}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        changes = (F.adjust_brightness, F.adjust_contrast, F.adjust_saturation, F.adjust_hue)
        for which in params["order"]:
            factor = params["factors"][which]
            if factor is not None:
                inpt = changes[which](inpt, factor)
        return inpt


class Grayscale(Transform, _color.Grayscale):
    """A grey image of one or three channels."""

    transform = of_images(F.rgb_to_grayscale, "num_output_channels")


class RGB(Transform):
    """An image of three channels, also of a grey one."""

    transform = of_images(F.grayscale_to_rgb)


class GaussianBlur(Transform, _color.GaussianBlur):
    """An image blurred with a random deviation."""

    def __init__(self, kernel_size: Any, sigma: Any = (0.1, 2.0)) -> None:
        super().__init__(kernel_size, sigma)
        self.sigma: list[float] = [float(value) for value in self.sigma]

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        sigma = self.get_params(self.sigma[0], self.sigma[1])
        return {"sigma": [sigma, sigma]}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.gaussian_blur(inpt, self.kernel_size, params["sigma"])


class GaussianNoise(Transform):
    """Normal noise added to a tensor."""

    def __init__(self, mean: float = 0.0, sigma: float = 0.1, clip: bool = True) -> None:
        super().__init__()
        self.mean = mean
        self.sigma = sigma
        self.clip = clip

    transform = of_images(F.gaussian_noise, "mean", "sigma", "clip")


class RandomChannelPermutation(Transform):
    """The channels in a random order."""

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        return {"order": fb.randperm(dimensions(image_in(flat_inputs))[0]).tolist()}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.permute_channels(inpt, params["order"])


class RandomGrayscale(RandomApplyTransform, _color.RandomGrayscale):
    """A grey image with a probability, of as many channels as before."""

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.rgb_to_grayscale(inpt, dimensions(inpt)[0])


class RandomInvert(RandomApplyTransform, _color.RandomInvert):
    """Black and white exchanged with a probability."""

    transform = of_images(F.invert)


class RandomAutocontrast(RandomApplyTransform, _color.RandomAutocontrast):
    """Every channel stretched from black to white with a probability."""

    transform = of_images(F.autocontrast)


class RandomEqualize(RandomApplyTransform, _color.RandomEqualize):
    """The shades of every channel spread evenly with a probability."""

    transform = of_images(F.equalize)


class RandomPosterize(RandomApplyTransform, _color.RandomPosterize):
    """Only the highest bits of every channel, with a probability."""

    transform = of_images(F.posterize, "bits")


class RandomSolarize(RandomApplyTransform, _color.RandomSolarize):
    """What is at least so bright inverted, with a probability."""

    transform = of_images(F.solarize, "threshold")


class RandomAdjustSharpness(RandomApplyTransform, _color.RandomAdjustSharpness):
    """A sharper or softer image with a probability."""

    transform = of_images(F.adjust_sharpness, "sharpness_factor")
