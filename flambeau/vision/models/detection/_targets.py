"""Checks of the images and targets that a detector is trained with."""

from __future__ import annotations

from collections.abc import Sequence

from flambeau import Tensor

__all__ = ["Target", "check_extent", "check_targets", "sizes_of"]

Target = dict[str, Tensor]


def sizes_of(images: Sequence[Tensor]) -> list[tuple[int, int]]:
    """Return the height and width of each image."""
    sizes = []
    for image in images:
        if image.ndim < 2:
            raise AssertionError(
                "images must have a height and a width as their last dimensions, got one of shape "
                f"{tuple(image.shape)}"
            )
        sizes.append((image.shape[-2], image.shape[-1]))
    return sizes


def check_targets(targets: Sequence[Target] | None) -> None:
    """Raise AssertionError for targets without boxes (N, 4), or None among them."""
    if targets is None:
        raise AssertionError(
            "targets must not be None in training: pass a dictionary with boxes and labels for "
            "each image, or call eval() first"
        )
    for index, target in enumerate(targets):
        boxes = target["boxes"]
        if not isinstance(boxes, Tensor):
            raise AssertionError(
                f"targets[{index}]['boxes'] must be a Tensor of shape (N, 4), got {type(boxes)}"
            )
        if boxes.ndim != 2 or boxes.shape[-1] != 4:
            raise AssertionError(
                f"targets[{index}]['boxes'] must have shape (N, 4), got {tuple(boxes.shape)}"
            )


def check_extent(targets: Sequence[Target] | None) -> None:
    """Raise AssertionError for a box of no positive width or height."""
    for index, target in enumerate(targets or ()):
        boxes = target["boxes"]
        empty = (boxes[:, 2:] <= boxes[:, :2]).any(dim=1)
        if empty.any():
            raise AssertionError(
                f"targets[{index}]['boxes'] must have positive height and width, in the order "
                f"left, top, right, bottom; got {boxes[empty][0].tolist()} once it was scaled"
            )
