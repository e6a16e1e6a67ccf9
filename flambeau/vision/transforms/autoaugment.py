"""AutoAugment and its successors: operations drawn from a set, learned or at random."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.vision.transforms import _policies
from flambeau.vision.transforms import functional as F
from flambeau.vision.transforms._image import Fill, Image, InterpolationMode, dimensions
from flambeau.vision.transforms._pil.convert import through_tensor
from flambeau.vision.transforms._random import below

__all__ = ["AugMix", "AutoAugment", "AutoAugmentPolicy", "RandAugment", "TrivialAugmentWide"]

# Of every operation: its magnitudes (one number if it has none), and whether it has two signs.
Space = dict[str, tuple[Tensor, bool]]
_ENHANCEMENTS = ("Brightness", "Color", "Contrast", "Sharpness")
NO_STRENGTH = (fb.tensor(0.0), False)


class AutoAugmentPolicy(Enum):
    """The data set that a policy was learned on."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


def _space(bins: int, shear: float, ways: Sequence[float], degrees: float) -> Space:
    """Geometric operations, from none to the strongest."""
    return {
        "ShearX": (fb.linspace(0.0, shear, bins), True),
        "ShearY": (fb.linspace(0.0, shear, bins), True),
        "TranslateX": (fb.linspace(0.0, ways[0], bins), True),
        "TranslateY": (fb.linspace(0.0, ways[1], bins), True),
        "Rotate": (fb.linspace(0.0, degrees, bins), True),
    }


def _enhancements(bins: int, strongest: float) -> Space:
    return {name: (fb.linspace(0.0, strongest, bins), True) for name in _ENHANCEMENTS}


def _tones(bins: int, bits: int, fewer: int) -> Space:
    """Tonal operations: posterise to `fewer` bits less than `bits`, solarise from none to all."""
    steps = (fb.arange(bins) / ((bins - 1) / fewer)).round().int()
    return {
        "Posterize": (bits - steps, False),
        "Solarize": (fb.linspace(255.0, 0.0, bins), False),
        "AutoContrast": NO_STRENGTH,
        "Equalize": NO_STRENGTH,
    }


def apply_change(
    functions: Any,
    img: Image,
    name: str,
    strength: float,
    interpolation: InterpolationMode,
    fill: Fill,
) -> Image:
    """Apply one operation of one magnitude, with the functions of one of the two interfaces."""
    if name.startswith(("Shear", "Translate")):
        return _shift(functions, img, name, strength, interpolation, fill)
    if name == "Rotate":
        return functions.rotate(img, strength, interpolation=interpolation, fill=fill)
    if name == "Posterize":
        return functions.posterize(img, int(strength))
    if name == "Solarize":
        return functions.solarize(img, strength)
    if name in _FACTORS:
        return getattr(functions, _FACTORS[name])(img, 1.0 + strength)
    return img if name == "Identity" else getattr(functions, name.lower())(img)


_FACTORS = {
    "Brightness": "adjust_brightness",
    "Color": "adjust_saturation",
    "Contrast": "adjust_contrast",
    "Sharpness": "adjust_sharpness",
}


def _shift(
    functions: Any,
    img: Image,
    name: str,
    strength: float,
    interpolation: InterpolationMode,
    fill: Fill,
) -> Image:
    pair = [strength, 0.0] if name.endswith("X") else [0.0, strength]
    if name.startswith("Shear"):
        shear = [math.degrees(math.atan(share)) for share in pair]
        # About the corner, as the published policies were found.
        corner = [0.0, 0.0]
        return functions.affine(img, 0.0, [0, 0], 1.0, shear, interpolation, fill, center=corner)
    way = [int(length) for length in pair]
    return functions.affine(img, 0.0, way, 1.0, [0.0, 0.0], interpolation, fill)


class _Augment(nn.Module):
    """Common parts of the four: interpolation and fill."""

    def __init__(
        self, interpolation: InterpolationMode, fill: float | Sequence[float] | None
    ) -> None:
        super().__init__()
        self.interpolation = interpolation
        self.fill = fill

    def _fb_fill_for(self, img: Image) -> Fill:
        if not isinstance(img, Tensor) or self.fill is None:
            return self.fill
        if isinstance(self.fill, (int, float)):
            return [float(self.fill)] * dimensions(img)[0]
        return [float(value) for value in self.fill]

    def _fb_shown(self, *names: str) -> str:
        options = ", ".join(f"{name}={getattr(self, name)}" for name in names)
        return f"{type(self).__name__}({options})"


def _directed(strength: float, signed: bool) -> float:
    """Half of the time the other sign, if there are two."""
    return -strength if signed and below(2) else strength


class AutoAugment(_Augment):
    """Apply one of 25 learned pairs of operations.

    Args:
        policy: Data that the pairs were learned on. Default: `AutoAugmentPolicy.IMAGENET`.
        interpolation: `InterpolationMode` of the new pixels. Default: nearest.
        fill: Value of pixels outside of the image. Default: None, for 0.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.AutoAugment()(torch.zeros(3, 16, 16, dtype=torch.uint8)).shape
        torch.Size([3, 16, 16])
    """

    def __init__(
        self,
        policy: AutoAugmentPolicy = AutoAugmentPolicy.IMAGENET,
        interpolation: InterpolationMode = InterpolationMode.NEAREST,
        fill: float | Sequence[float] | None = None,
    ) -> None:
        super().__init__(interpolation, fill)
        if not isinstance(policy, AutoAugmentPolicy):
            raise ValueError(f"The provided policy {policy} is not recognized.")
        self.policy = policy
        self.policies: _policies.Policy = getattr(_policies, policy.name)

    @staticmethod
    def get_params(transform_num: int) -> tuple[int, Tensor, Tensor]:
        """Draw the pair, two numbers that decide whether each is applied, and two signs."""
        return below(transform_num), fb.rand((2,)), fb.randint(2, (2,))

    def forward(self, img: Image) -> Image:
        fill = self._fb_fill_for(img)
        _, height, width = dimensions(img)
        space = large_space(10, height, width) | {"Invert": NO_STRENGTH}
        which, chances, directions = self.get_params(len(self.policies))
        for position, (name, probability, level) in enumerate(self.policies[which]):
            if chances[position].item() > probability:
                continue
            strengths, signed = space[name]
            strength = 0.0 if level is None else float(strengths[level].item())
            if signed and directions[position].item() == 0:
                strength = -strength
            img = apply_change(F, img, name, strength, self.interpolation, fill)
        return img

    def __repr__(self) -> str:
        return self._fb_shown("policy", "fill")


def large_space(bins: int, height: int, width: int) -> Space:
    """The operations of `AutoAugment` and `RandAugment`."""
    ways = (150.0 / 331.0 * width, 150.0 / 331.0 * height)
    return _space(bins, 0.3, ways, 30.0) | _enhancements(bins, 0.9) | _tones(bins, 8, 4)


def wide_space(bins: int) -> Space:
    """The operations of `TrivialAugmentWide`."""
    places = _space(bins, 0.99, (32.0, 32.0), 135.0)
    return {"Identity": NO_STRENGTH} | places | _enhancements(bins, 0.99) | _tones(bins, 8, 6)


def mixing_space(height: int, width: int, all_ops: bool) -> Space:
    """The operations of `AugMix`, with or without those on colours."""
    space = _space(10, 0.3, (width / 3.0, height / 3.0), 30.0) | _tones(10, 4, 4)
    return space | _enhancements(10, 0.9) if all_ops else space


class RandAugment(_Augment):
    """Apply several random operations of one magnitude.

    Args:
        num_ops: Number of operations. Default: 2.
        magnitude: Magnitude. Default: 9.
        num_magnitude_bins: Number of magnitudes. Default: 31.
        interpolation: `InterpolationMode` of the new pixels. Default: nearest.
        fill: Value of pixels outside of the image. Default: None, for 0.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.RandAugment()(torch.zeros(3, 16, 16, dtype=torch.uint8)).shape
        torch.Size([3, 16, 16])
    """

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: InterpolationMode = InterpolationMode.NEAREST,
        fill: float | Sequence[float] | None = None,
    ) -> None:
        super().__init__(interpolation, fill)
        self.num_ops = num_ops
        self.magnitude = magnitude
        self.num_magnitude_bins = num_magnitude_bins

    def forward(self, img: Image) -> Image:
        fill = self._fb_fill_for(img)
        _, height, width = dimensions(img)
        space = {"Identity": NO_STRENGTH} | large_space(self.num_magnitude_bins, height, width)
        for _ in range(self.num_ops):
            name = list(space)[below(len(space))]
            strengths, signed = space[name]
            strength = float(strengths[self.magnitude].item()) if strengths.ndim else 0.0
            img = apply_change(F, img, name, _directed(strength, signed), self.interpolation, fill)
        return img

    def __repr__(self) -> str:
        return self._fb_shown("num_ops", "magnitude", "num_magnitude_bins", "interpolation", "fill")


class TrivialAugmentWide(_Augment):
    """Apply one random operation of random magnitude.

    Args:
        num_magnitude_bins: Number of magnitudes. Default: 31.
        interpolation: `InterpolationMode` of the new pixels. Default: nearest.
        fill: Value of pixels outside of the image. Default: None, for 0.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.TrivialAugmentWide()(torch.zeros(3, 16, 16, dtype=torch.uint8)).shape
        torch.Size([3, 16, 16])
    """

    def __init__(
        self,
        num_magnitude_bins: int = 31,
        interpolation: InterpolationMode = InterpolationMode.NEAREST,
        fill: float | Sequence[float] | None = None,
    ) -> None:
        super().__init__(interpolation, fill)
        self.num_magnitude_bins = num_magnitude_bins

    def forward(self, img: Image) -> Image:
        fill = self._fb_fill_for(img)
        space = wide_space(self.num_magnitude_bins)
        name = list(space)[below(len(space))]
        strengths, signed = space[name]
        strength = float(strengths[below(len(strengths))].item()) if strengths.ndim else 0.0
        return apply_change(F, img, name, _directed(strength, signed), self.interpolation, fill)

    def __repr__(self) -> str:
        return self._fb_shown("num_magnitude_bins", "interpolation", "fill")


def mixed(
    image: Tensor, ndim: int, alpha: float, width: int, chain: Callable[[Tensor], Tensor]
) -> Tensor:
    """Mix an image, as a batch of `ndim` dimensions, with the results of some chains."""
    batch = image.view(*[1] * max(ndim - image.ndim, 0), *image.shape)
    each = (batch.shape[0], *[1] * (batch.ndim - 1))
    # How much of each image stays, and how the chains share the rest.
    mixing = dirichlet(alpha, batch.shape[0], 2)
    weights = dirichlet(alpha, batch.shape[0], width) * mixing[:, 1:]
    result = mixing[:, 0].view(each) * batch
    for number in range(width):
        result += weights[:, number].view(each) * chain(batch)
    return result.view(image.shape).to(image.dtype)


class AugMix(_Augment):
    """Mix an image with chains of random operations on it.

    Args:
        severity: Strength, 1 to 10. Default: 3.
        mixture_width: Number of chains. Default: 3.
        chain_depth: Operations in a chain; below 1, random from 1 to 3. Default: -1.
        alpha: Parameter of the mixing weights. Default: 1.
        all_ops: Whether brightness, contrast, colour and sharpness change too. Default: True.
        interpolation: `InterpolationMode` of the new pixels. Default: bilinear.
        fill: Value of pixels outside of the image. Default: None, for 0.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.AugMix()(torch.zeros(3, 16, 16, dtype=torch.uint8)).shape
        torch.Size([3, 16, 16])
    """

    def __init__(
        self,
        severity: int = 3,
        mixture_width: int = 3,
        chain_depth: int = -1,
        alpha: float = 1.0,
        all_ops: bool = True,
        interpolation: InterpolationMode = InterpolationMode.BILINEAR,
        fill: float | Sequence[float] | None = None,
    ) -> None:
        super().__init__(interpolation, fill)
        if not 1 <= severity <= 10:
            raise ValueError(f"The severity must be between [1, 10]. Got {severity} instead.")
        self.severity = severity
        self.mixture_width = mixture_width
        self.chain_depth = chain_depth
        self.alpha = alpha
        self.all_ops = all_ops

    def forward(self, img: Image) -> Image:
        if not isinstance(img, Tensor):
            dimensions(img)
            return through_tensor(img, self.forward)
        fill = self._fb_fill_for(img)
        _, height, width = dimensions(img)
        space = mixing_space(height, width, self.all_ops)
        chain = partial(self._fb_chain, space=space, fill=fill)
        return mixed(img, 4, self.alpha, self.mixture_width, chain)

    def _fb_chain(self, batch: Tensor, space: Space, fill: Fill) -> Tensor:
        depth = self.chain_depth if self.chain_depth > 0 else 1 + below(3)
        for _ in range(depth):
            name = list(space)[below(len(space))]
            strengths, signed = space[name]
            strength = float(strengths[below(self.severity)].item()) if strengths.ndim else 0.0
            batch = apply_change(
                F, batch, name, _directed(strength, signed), self.interpolation, fill
            )
        return batch

    def __repr__(self) -> str:
        return self._fb_shown(
            "severity",
            "mixture_width",
            "chain_depth",
            "alpha",
            "all_ops",
            "interpolation",
            "fill",
        )


def dirichlet(alpha: float, count: int, parts: int) -> Tensor:
    """Draw weights that sum to 1, `count` times."""
    return fb._sample_dirichlet(fb.full((count, parts), float(alpha)))
