"""AutoAugment and its successors: operations drawn from a set, learned or at random."""

from __future__ import annotations

from functools import partial
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.utils import _pytree
from flambeau.vision._pillow import is_pil_image
from flambeau.vision.transforms import _policies, autoaugment
from flambeau.vision.transforms._image import dimensions, max_value
from flambeau.vision.transforms.autoaugment import NO_STRENGTH, AutoAugmentPolicy, Space
from flambeau.vision.transforms.v2 import functional as F
from flambeau.vision.transforms.v2._fill import fill_for, fills_of
from flambeau.vision.transforms.v2._query import IMAGES, check_type
from flambeau.vision.transforms.v2._transform import Transform
from flambeau.vision.transforms.v2.functional import is_pure_tensor
from flambeau.vision.transforms.v2.functional._arguments import Interpolation
from flambeau.vision.tv_tensors import BoundingBoxes, KeyPoints, Mask, Video

__all__ = ["AugMix", "AutoAugment", "RandAugment", "TrivialAugmentWide"]


def _draw(count: int) -> int:
    return int(fb.randint(count, ()).item())


def _directed(strength: float, signed: bool) -> float:
    """Half of the time the other sign, if there are two."""
    return -strength if signed and fb.rand(()).item() <= 0.5 else strength


class _Policy(Transform):
    """A transform that applies randomly drawn operations to the one image of a sample."""

    def __init__(self, interpolation: Interpolation, fill: Any) -> None:
        super().__init__()
        self.interpolation = interpolation
        self.fill = fill
        self._fill: dict[Any, Any] = fills_of(fill)

    def forward(self, *inputs: Any) -> Any:
        flat, structure = _pytree.tree_flatten(inputs if len(inputs) > 1 else inputs[0])
        for each in flat:
            if isinstance(each, (BoundingBoxes, KeyPoints, Mask)):
                raise TypeError(
                    f"Inputs of type {type(each).__name__} are not supported by "
                    f"{type(self).__name__}()"
                )
        which = self._fb_the_image(flat)
        flat[which] = self._fb_augmented(flat[which])
        return _pytree.tree_unflatten(flat, structure)

    def _fb_the_image(self, flat: list[Any]) -> int:
        chosen = self._needs_transform_list(flat)
        found = [i for i, each in enumerate(flat) if chosen[i] and check_type(each, IMAGES)]
        if not found:
            raise TypeError("Found no image in the sample.")
        if len(found) > 1:
            raise TypeError(
                "Auto augment transformations are only properly defined for a single image or "
                f"video, but found {len(found)}."
            )
        return found[0]

    def _fb_augmented(self, image: Any) -> Any:
        raise NotImplementedError

    def _fb_applied(self, image: Any, name: str, strength: float) -> Any:
        if name == "Solarize":
            strength *= max_value(image.dtype) if isinstance(image, Tensor) else 255.0
        fill = fill_for(self._fill, image)
        mode: Any = self.interpolation
        return autoaugment.apply_change(F, image, name, strength, mode, fill)

    def _fb_drawn(self, space: Space) -> tuple[str, Tensor, bool]:
        """One operation: its name, its magnitudes, and whether it has two signs."""
        name = list(space)[_draw(len(space))]
        strengths, signed = space[name]
        if name == "Solarize":
            strengths = _mixing_weights(strengths.shape[0])
        return name, strengths, signed


def _mixing_weights(bins: int) -> Tensor:
    """Thresholds relative to white, which is not 255 for every dtype."""
    return fb.linspace(1.0, 0.0, bins)


class AutoAugment(_Policy):
    """Apply one of 25 learned pairs of operations.

    Args:
        policy: Data that the pairs were learned on. Default: `AutoAugmentPolicy.IMAGENET`.
        interpolation: `InterpolationMode` of the new pixels. Default: nearest.
        fill: Value of pixels outside of the image. Default: None, for 0.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.AutoAugment()(torch.zeros(3, 8, 8, dtype=torch.uint8)).shape
        torch.Size([3, 8, 8])
    """

    get_params = staticmethod(autoaugment.AutoAugment.get_params)

    def __init__(
        self,
        policy: AutoAugmentPolicy = AutoAugmentPolicy.IMAGENET,
        interpolation: Interpolation = "nearest",
        fill: Any = None,
    ) -> None:
        super().__init__(interpolation, fill)
        if not isinstance(policy, AutoAugmentPolicy):
            raise ValueError(f"The provided policy {policy} is not recognized.")
        self.policy = policy
        self._policies: _policies.Policy = getattr(_policies, policy.name)

    def _fb_augmented(self, image: Any) -> Any:
        _, height, width = dimensions(image)
        space = autoaugment.large_space(10, height, width) | {
            "Invert": NO_STRENGTH,
            "Solarize": (_mixing_weights(10), False),
        }
        for name, probability, level in self._policies[_draw(len(self._policies))]:
            if not fb.rand(()).item() <= probability:
                continue
            strengths, signed = space[name]
            strength = 0.0
            if strengths.ndim and level is not None:
                strength = _directed(float(strengths[level].item()), signed)
            image = self._fb_applied(image, name, strength)
        return image


class RandAugment(_Policy):
    """Apply several random operations of one magnitude (https://arxiv.org/abs/1909.13719).

    Args:
        num_ops: Number of operations. Default: 2.
        magnitude: Magnitude. Default: 9.
        num_magnitude_bins: Number of magnitudes. Default: 31.
        interpolation: `InterpolationMode` of the new pixels. Default: nearest.
        fill: Value of pixels outside of the image. Default: None, for 0.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.RandAugment(num_ops=1)(torch.zeros(3, 8, 8, dtype=torch.uint8)).shape
        torch.Size([3, 8, 8])
    """

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: Interpolation = "nearest",
        fill: Any = None,
    ) -> None:
        super().__init__(interpolation, fill)
        if not isinstance(num_ops, int) or num_ops < 0:
            raise ValueError(
                f"num_ops should be a non-negative integer, but got {num_ops} instead."
            )
        self.num_ops = num_ops
        self.magnitude = magnitude
        self.num_magnitude_bins = num_magnitude_bins

    def _fb_augmented(self, image: Any) -> Any:
        _, height, width = dimensions(image)
        large = autoaugment.large_space(self.num_magnitude_bins, height, width)
        space = {"Identity": NO_STRENGTH} | large
        for _ in range(self.num_ops):
            name, strengths, signed = self._fb_drawn(space)
            strength = 0.0
            if strengths.ndim:
                strength = _directed(float(strengths[self.magnitude].item()), signed)
            image = self._fb_applied(image, name, strength)
        return image


class TrivialAugmentWide(_Policy):
    """Apply one random operation of random magnitude (https://arxiv.org/abs/2103.10158).

    Args:
        num_magnitude_bins: Number of magnitudes. Default: 31.
        interpolation: `InterpolationMode` of the new pixels. Default: nearest.
        fill: Value of pixels outside of the image. Default: None, for 0.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.TrivialAugmentWide()(torch.zeros(3, 8, 8, dtype=torch.uint8)).shape
        torch.Size([3, 8, 8])
    """

    def __init__(
        self,
        num_magnitude_bins: int = 31,
        interpolation: Interpolation = "nearest",
        fill: Any = None,
    ) -> None:
        super().__init__(interpolation, fill)
        self.num_magnitude_bins = num_magnitude_bins

    def _fb_augmented(self, image: Any) -> Any:
        name, strengths, signed = self._fb_drawn(autoaugment.wide_space(self.num_magnitude_bins))
        strength = 0.0
        if strengths.ndim:
            level = _draw(self.num_magnitude_bins)
            strength = _directed(float(strengths[level].item()), signed)
        return self._fb_applied(image, name, strength)


class AugMix(_Policy):
    """Mix an image with chains of random operations on it (https://arxiv.org/abs/1912.02781).

    Args:
        severity: Strength, 1 to 10. Default: 3.
        mixture_width: Number of chains. Default: 3.
        chain_depth: Operations in a chain; below 1, random from 1 to 3. Default: -1.
        alpha: Parameter of the mixing weights. Default: 1.
        all_ops: Whether brightness, contrast, colour and sharpness change too. Default: True.
        interpolation: `InterpolationMode` of the new pixels. Default: bilinear.
        fill: Value of pixels outside of the image. Default: None, for 0.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.AugMix()(torch.zeros(3, 8, 8, dtype=torch.uint8)).shape
        torch.Size([3, 8, 8])
    """

    def __init__(
        self,
        severity: int = 3,
        mixture_width: int = 3,
        chain_depth: int = -1,
        alpha: float = 1.0,
        all_ops: bool = True,
        interpolation: Interpolation = "bilinear",
        fill: Any = None,
    ) -> None:
        super().__init__(interpolation, fill)
        if not 1 <= severity <= 10:
            raise ValueError(f"The severity must be between [1, 10]. Got {severity} instead.")
        self.severity = severity
        self.mixture_width = mixture_width
        self.chain_depth = chain_depth
        self.alpha = alpha
        self.all_ops = all_ops

    def _fb_augmented(self, image: Any) -> Any:
        if is_pil_image(image):
            mixed = self._fb_mixed(F.pil_to_tensor(image), 4)
            return F.to_pil_image(mixed, image.mode)
        mixed = self._fb_mixed(image.as_subclass(Tensor), 5 if isinstance(image, Video) else 4)
        return mixed if is_pure_tensor(image) else type(image).wrap(mixed, image)

    def _fb_mixed(self, image: Tensor, ndim: int) -> Tensor:
        height, width = image.shape[-2:]
        space = autoaugment.mixing_space(height, width, self.all_ops)
        chain = partial(self._fb_chain, space=space)
        return autoaugment.mixed(image, ndim, self.alpha, self.mixture_width, chain)

    def _fb_chain(self, batch: Tensor, space: Space) -> Tensor:
        depth = self.chain_depth if self.chain_depth > 0 else 1 + _draw(3)
        for _ in range(depth):
            name, strengths, signed = self._fb_drawn(space)
            strength = 0.0
            if strengths.ndim:
                level = _draw(self.severity)
                strength = _directed(float(strengths[level].item()), signed)
            batch = self._fb_applied(batch, name, strength)
        return batch
