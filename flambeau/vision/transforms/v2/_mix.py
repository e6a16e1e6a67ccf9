"""Mixing of the images of a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.nn.functional import one_hot
from flambeau.utils import _pytree
from flambeau.vision._pillow import is_pil_image
from flambeau.vision.transforms._random import below
from flambeau.vision.transforms.v2._query import has_any, query_size
from flambeau.vision.transforms.v2._sanitize import labels_finder
from flambeau.vision.transforms.v2._transform import Transform
from flambeau.vision.transforms.v2.functional import is_pure_tensor
from flambeau.vision.tv_tensors import BoundingBoxes, Image, KeyPoints, Mask, Video

__all__ = ["CutMix", "MixUp"]


class _Mix(Transform):
    """Mix each image of a batch with the one before it, and the labels in the same proportion."""

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        num_classes: int | None = None,
        labels_getter: Callable[[Any], Any] | str | None = "default",
    ) -> None:
        super().__init__()
        self.alpha = float(alpha)
        if self.alpha <= 0:
            raise ValueError(f"alpha must be positive, got {alpha}")
        self.num_classes = num_classes
        self._labels_getter: Callable[[Any], Any] = labels_finder(labels_getter)

    def forward(self, *inputs: Any) -> Any:
        sample = inputs if len(inputs) > 1 else inputs[0]
        flat, structure = _pytree.tree_flatten(sample)
        if has_any(flat, is_pil_image, BoundingBoxes, Mask, KeyPoints):
            raise ValueError(
                f"{type(self).__name__}() does not support PIL images, bounding boxes, keypoints "
                "and masks."
            )
        labels = self._fb_checked_labels(self._labels_getter(sample))
        chosen = self._needs_transform_list(flat)
        images = [e for e, use in zip(flat, chosen, strict=True) if use and e is not labels]
        for image in images:
            self._fb_check_image(image, labels.shape[0])
        params = {"labels": labels, **self.make_params(images)}
        results = [
            self.transform(each, params) if use or each is labels else each
            for each, use in zip(flat, chosen, strict=True)
        ]
        return _pytree.tree_unflatten(results, structure)

    def _fb_checked_labels(self, labels: Any) -> Tensor:
        if not isinstance(labels, Tensor):
            raise ValueError(f"The labels must be a tensor, but got {type(labels)} instead.")
        if labels.ndim not in (1, 2):
            raise ValueError(
                "labels should be index based with shape (batch_size,) or probability based with "
                f"shape (batch_size, num_classes), but got a tensor of shape "
                f"{tuple(labels.shape)} instead."
            )
        if labels.ndim == 1 and self.num_classes is None:
            raise ValueError("num_classes must be passed if the labels are index-based (1D)")
        if labels.ndim == 2 and self.num_classes not in (None, labels.shape[-1]):
            raise ValueError(
                "When passing 2D labels, the number of elements in last dimension must match "
                f"num_classes: {labels.shape[-1]} != {self.num_classes}. You can leave "
                "num_classes to None."
            )
        return labels

    def _fb_check_image(self, image: Tensor, batch_size: int) -> None:
        wanted = 5 if isinstance(image, Video) else 4
        if image.ndim != wanted:
            raise ValueError(
                f"Expected a batched input with {wanted} dims, but got {image.ndim} dimensions "
                "instead: mix after the DataLoader."
            )
        if image.shape[0] != batch_size:
            raise ValueError(
                "The batch size of the image or video does not match the batch size of the "
                f"labels: {image.shape[0]} != {batch_size}."
            )

    def _fb_share(self) -> float:
        """Draw a number from Beta(alpha, alpha)."""
        return float(fb._sample_dirichlet(fb.full((1, 2), self.alpha))[0, 0].item())

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        if inpt is params["labels"]:
            return self._fb_mixed_labels(inpt, params["share"])
        if not (is_pure_tensor(inpt) or isinstance(inpt, (Image, Video))):
            return inpt
        mixed = self._fb_mixed(inpt.as_subclass(Tensor), params)
        return mixed if is_pure_tensor(inpt) else type(inpt).wrap(mixed, inpt)

    def _fb_mixed_labels(self, labels: Tensor, share: float) -> Tensor:
        if labels.ndim == 1:
            labels = one_hot(labels, self.num_classes or -1)
        labels = labels if labels.is_floating_point() else labels.float()
        return labels.roll(1, 0).mul(1.0 - share).add(labels.mul(share))

    def _fb_mixed(self, batch: Tensor, params: dict[str, Any]) -> Tensor:
        raise NotImplementedError


class MixUp(_Mix):
    """Mix images by weighted means (https://arxiv.org/abs/1710.09412).

    Args:
        alpha: Parameter of the Beta distribution that the weights are drawn from. Default: 1.
        num_classes: Number of classes, for labels that are class indices. Default: None, labels are
            one-hot vectors already.
        labels_getter: Function of the batch that returns the labels. Default: 'default', the second
            part of the batch, or the entry whose key contains "label".

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> images, labels = torch.zeros(4, 3, 8, 8), torch.tensor([0, 1, 2, 0])
        >>> images, labels = v2.MixUp(num_classes=3)(images, labels)
        >>> images.shape, labels.shape
        (torch.Size([4, 3, 8, 8]), torch.Size([4, 3]))
    """

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        return {"share": self._fb_share()}

    def _fb_mixed(self, batch: Tensor, params: dict[str, Any]) -> Tensor:
        share = params["share"]
        return batch.roll(1, 0).mul(1.0 - share).add(batch.mul(share))


class CutMix(_Mix):
    """Paste rectangles of one image into another (https://arxiv.org/abs/1905.04899).

    Args:
        alpha: Parameter of the Beta distribution that the sizes are drawn from. Default: 1.
        num_classes: Number of classes, for labels that are class indices. Default: None, labels are
            one-hot vectors already.
        labels_getter: Function of the batch that returns the labels. Default: 'default', the second
            part of the batch, or the entry whose key contains "label".

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> images, labels = torch.zeros(4, 3, 8, 8), torch.tensor([0, 1, 2, 0])
        >>> images, labels = v2.CutMix(num_classes=3)(images, labels)
        >>> images.shape, labels.shape
        (torch.Size([4, 3, 8, 8]), torch.Size([4, 3]))
    """

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        share = self._fb_share()
        height, width = query_size(flat_inputs)
        x, y = below(width), below(height)
        half = 0.5 * (1.0 - share) ** 0.5
        across, down = int(half * width), int(half * height)
        left, right = max(x - across, 0), min(x + across, width)
        top, bottom = max(y - down, 0), min(y + down, height)
        kept = 1.0 - (right - left) * (bottom - top) / (width * height)
        return {"box": (top, bottom, left, right), "share": kept}

    def _fb_mixed(self, batch: Tensor, params: dict[str, Any]) -> Tensor:
        top, bottom, left, right = params["box"]
        mixed = batch.clone()
        mixed[..., top:bottom, left:right] = batch.roll(1, 0)[..., top:bottom, left:right]
        return mixed
