"""Parts erased, images mixed, and policies of changes."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.nn.functional import one_hot
from flambeau.utils import _pytree
from flambeau.vision.transforms import _erasing, autoaugment
from flambeau.vision.transforms._image import dimensions
from flambeau.vision.transforms.v2 import functional as F
from flambeau.vision.transforms.v2._transform import RandomApplyTransform, Transform, image_in
from flambeau.vision.tv_tensors import Mask

__all__ = [
    "AugMix",
    "AutoAugment",
    "CutMix",
    "MixUp",
    "RandAugment",
    "RandomErasing",
    "TrivialAugmentWide",
]


class RandomErasing(RandomApplyTransform, _erasing.RandomErasing):
    """A rectangle of a tensor replaced, with a probability, by a value or by noise."""

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        image = image_in(flat_inputs)
        values = self._values(dimensions(image)[0])
        return {"patch": self.get_params(image, self.scale, self.ratio, values)}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.erase(inpt, *params["patch"], self.inplace)


class _Policy(Transform):
    """A policy of the first interface for samples: masks are refused, which it would not move."""

    _of_images: Any

    def check_inputs(self, flat_inputs: list[Any]) -> None:
        if any(isinstance(each, Mask) for each in flat_inputs):
            raise TypeError(f"Inputs of type Mask are not supported by {type(self).__name__}()")

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._of_images.forward(self, inpt)


class AutoAugment(_Policy, autoaugment.AutoAugment):
    """Two changes by one of 25 learned pairs."""

    _of_images = autoaugment.AutoAugment


class RandAugment(_Policy, autoaugment.RandAugment):
    """So many changes drawn evenly, all of one strength."""

    _of_images = autoaugment.RandAugment


class TrivialAugmentWide(_Policy, autoaugment.TrivialAugmentWide):
    """One change of any strength, drawn evenly."""

    _of_images = autoaugment.TrivialAugmentWide


class AugMix(_Policy, autoaugment.AugMix):
    """An image mixed with chains of changes of it."""

    _of_images = autoaugment.AugMix


class _Mix(Transform):
    """Each image of a batch mixed with the one before it, and the labels in the same share."""

    def __init__(self, *, alpha: float = 1.0, num_classes: int | None = None) -> None:
        super().__init__()
        self.alpha = alpha
        self.num_classes = num_classes

    def forward(self, *inputs: Any) -> Any:
        flat, structure = _pytree.tree_flatten(inputs if len(inputs) > 1 else inputs[0])
        batch = next((i for i, e in enumerate(flat) if isinstance(e, Tensor) and e.ndim >= 4), None)
        labels = next(
            (i for i, e in enumerate(flat) if isinstance(e, Tensor) and e.ndim in (1, 2)), None
        )
        if batch is None or labels is None:
            raise ValueError(
                f"{type(self).__name__}: a batch of images (N, C, H, W) and its labels are "
                "expected: apply it after the DataLoader"
            )
        share = self._share()
        flat[batch], share = self._mixed(flat[batch], share)
        flat[labels] = self._mixed_labels(flat[labels], share)
        return _pytree.tree_unflatten(flat, structure)

    def _share(self) -> float:
        """A number by the distribution Beta(alpha, alpha)."""
        first, second = fb._standard_gamma(fb.full((2,), float(self.alpha))).tolist()
        return float(first / (first + second))

    def _mixed_labels(self, labels: Tensor, share: float) -> Tensor:
        if labels.ndim == 1:
            if self.num_classes is None:
                raise ValueError("num_classes must be passed if the labels are index-based (1D)")
            labels = one_hot(labels, self.num_classes)
        labels = labels.float() if not labels.is_floating_point() else labels
        return labels.roll(1, 0).mul(1.0 - share).add(labels.mul(share))

    def _mixed(self, batch: Tensor, share: float) -> tuple[Tensor, float]:
        raise NotImplementedError


class MixUp(_Mix):
    """Weighted means of images (https://arxiv.org/abs/1710.09412)."""

    def _mixed(self, batch: Tensor, share: float) -> tuple[Tensor, float]:
        return batch.roll(1, 0).mul(1.0 - share).add(batch.mul(share)), share


class CutMix(_Mix):
    """Rectangles of one image in another (https://arxiv.org/abs/1905.04899)."""

    def _mixed(self, batch: Tensor, share: float) -> tuple[Tensor, float]:
        height, width = batch.shape[-2:]
        x, y = int(fb.randint(width, (1,)).item()), int(fb.randint(height, (1,)).item())
        half = 0.5 * (1.0 - share) ** 0.5
        across, down = int(half * width), int(half * height)
        left, right = max(x - across, 0), min(x + across, width)
        top, bottom = max(y - down, 0), min(y + down, height)
        mixed = batch.clone()
        mixed[..., top:bottom, left:right] = batch.roll(1, 0)[..., top:bottom, left:right]
        return mixed, 1.0 - (right - left) * (bottom - top) / (width * height)
