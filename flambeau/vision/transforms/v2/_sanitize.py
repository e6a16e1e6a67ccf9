"""Removal of degenerate boxes and points, with the labels that belong to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flambeau import Tensor
from flambeau.utils import _pytree
from flambeau.vision.transforms.v2 import functional as F
from flambeau.vision.transforms.v2._query import get_bounding_boxes, get_keypoints
from flambeau.vision.transforms.v2._transform import Transform
from flambeau.vision.tv_tensors import BoundingBoxes, KeyPoints, Mask

__all__ = ["SanitizeBoundingBoxes", "SanitizeKeyPoints", "labels_finder"]

_Getter = Callable[[Any], Any]


def labels_finder(labels_getter: Any) -> _Getter:
    """Return the function that finds the labels in a sample."""
    if labels_getter == "default":
        return _labels_in
    if labels_getter is None:
        return _no_labels
    if callable(labels_getter):
        return labels_getter  # type: ignore[no-any-return]
    raise ValueError(
        f"labels_getter should either be 'default', a callable, or None, but got {labels_getter}."
    )


def _no_labels(inputs: Any) -> None:
    """Return no labels."""


def _labels_in(inputs: Any) -> Tensor:
    """Return the second part of a sample, or the labels in its dictionary."""
    part = inputs[1] if isinstance(inputs, (tuple, list)) and len(inputs) > 1 else inputs
    if part is not inputs and isinstance(part, Tensor):
        return part
    if not isinstance(part, Mapping):
        raise ValueError(
            "When using the default labels_getter, the input passed to forward must be a "
            "dictionary or a two-tuple whose second item is a dictionary or a tensor, but got "
            f"{type(inputs)} instead."
        )
    names = [key for key in part if isinstance(key, str)]
    called = [key for key in names if key.lower() == "labels"]
    called += [key for key in names if "label" in key.lower()]
    if not called:
        raise ValueError(
            "Could not infer where the labels are in the sample. Try passing a callable as the "
            "labels_getter parameter? If there are no labels in the sample by design, pass "
            "labels_getter=None."
        )
    return part[called[0]]  # type: ignore[no-any-return]


class _Sanitize(Transform):
    """A transform that removes some rows of some tensors of a sample."""

    _labels_getter: _Getter

    def _fb_labels(self, sample: Any, count: int, what: str) -> list[Tensor]:
        """The labels of a sample, one row for each box or group of points."""
        found = self._labels_getter(sample)
        labels = [] if found is None else [*found] if isinstance(found, (tuple, list)) else [found]
        for each in labels:
            if not isinstance(each, Tensor):
                raise ValueError(
                    "The labels in the input to forward() must be a tensor or None, got "
                    f"{type(each)} instead."
                )
            if each.shape[0] != count:
                raise ValueError(
                    f"Number of {what} ({count}) must match the number of labels: found labels "
                    f"with shape={tuple(each.shape)}."
                )
        return labels

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        chosen = any(inpt is each for each in params["labels"])
        if not (chosen or params["also"](inpt)):
            return inpt
        kept = inpt.as_subclass(Tensor)[params["valid"]]
        return type(inpt).wrap(kept, inpt) if hasattr(inpt, "wrap") else kept


class SanitizeBoundingBoxes(_Sanitize):
    """Remove boxes that are too small or partly outside of their image.

    Their labels, found by ``labels_getter``, are removed too, and their masks (N, H, W).

    Args:
        min_size: Smallest side of a box that stays, in pixels. Default: 1.
        min_area: Smallest area of a box that stays, in pixels. Default: 1.
        labels_getter: Function of the sample that returns the labels, or None for no labels.
            Default: 'default', the entry whose key contains "label".

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> from flambeau.vision import tv_tensors
        >>> boxes = tv_tensors.BoundingBoxes(
        ...     [[2, 2, 6, 6], [3, 3, 3, 3]], format="XYXY", canvas_size=(8, 8)
        ... )
        >>> sample = {"boxes": boxes, "labels": torch.tensor([5, 7])}
        >>> v2.SanitizeBoundingBoxes()(sample)["labels"]
        tensor([5])
    """

    def __init__(
        self,
        min_size: float = 1.0,
        min_area: float = 1.0,
        labels_getter: Any = "default",
    ) -> None:
        super().__init__()
        for name, value in (("min_size", min_size), ("min_area", min_area)):
            if value < 1:
                raise ValueError(f"{name} must be >= 1, got {value}.")
        self.min_size = min_size
        self.min_area = min_area
        self.labels_getter = labels_getter
        self._labels_getter = labels_finder(labels_getter)

    def forward(self, *inputs: Any) -> Any:
        sample = inputs if len(inputs) > 1 else inputs[0]
        flat, structure = _pytree.tree_flatten(sample)
        boxes = get_bounding_boxes(flat)
        labels = self._fb_labels(sample, boxes.shape[0], "boxes")
        _, valid = F.sanitize_bounding_boxes(boxes, min_size=self.min_size, min_area=self.min_area)

        def is_of_boxes(inpt: Any) -> bool:
            if isinstance(inpt, Mask):
                return inpt.ndim == 3 and inpt.shape[0] == valid.shape[0]
            return isinstance(inpt, BoundingBoxes)

        params = {"labels": labels, "valid": valid, "also": is_of_boxes}
        return _pytree.tree_unflatten([self.transform(e, params) for e in flat], structure)


class SanitizeKeyPoints(_Sanitize):
    """Remove points, or groups of points, that are partly outside of their image.

    Their labels, found by ``labels_getter``, are removed too.

    Args:
        labels_getter: Function of the sample that returns the labels, or 'default' for the entry
            whose key contains "label". Default: None, there are no labels.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> from flambeau.vision import tv_tensors
        >>> points = tv_tensors.KeyPoints([[3, 3], [3, 12]], canvas_size=(8, 8))
        >>> v2.SanitizeKeyPoints()({"points": points})["points"].tolist()
        [[3, 3]]
    """

    def __init__(self, labels_getter: Any = None) -> None:
        super().__init__()
        self.labels_getter = labels_getter
        self._labels_getter = labels_finder(labels_getter)

    def forward(self, *inputs: Any) -> Any:
        sample = inputs if len(inputs) > 1 else inputs[0]
        flat, structure = _pytree.tree_flatten(sample)
        points = get_keypoints(flat)
        labels = self._fb_labels(sample, points.shape[0], "keypoints")
        _, valid = F.sanitize_keypoints(points)
        params = {
            "labels": labels,
            "valid": valid,
            "also": lambda inpt: isinstance(inpt, KeyPoints),
        }
        return _pytree.tree_unflatten([self.transform(e, params) for e in flat], structure)
