"""Transforms that change every value of a channel alike: for bytes, one lookup table for all.

Such a transform defines ``_value_step()``: a function of images with its arguments, all
of which can be compared. One that can begin a run also has ``_bytes_of(img)``, the bytes
(..., C, H, W) that its step takes in place of an image, or None. Both count only in the class that
defines them, as a subclass may do something else; a transform with hooks is called.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.nn.modules import _global_hooks
from flambeau.vision._pillow import is_pil_image
from flambeau.vision.transforms._pil.convert import bytes_of
from flambeau.vision.transforms._tensor.table import Step, look_up
from flambeau.vision.tv_tensors import Image, Video, wrap

__all__ = ["Step", "by_table", "image_bytes", "in_turn", "normalizing", "pil_bytes"]

_OVERRIDES = (
    "_backward_hooks",
    "_backward_pre_hooks",
    "_forward_hooks",
    "_forward_pre_hooks",
    "forward",
)
_EVERYWHERE = (
    _global_hooks._global_backward_hooks,
    _global_hooks._global_backward_pre_hooks,
    _global_hooks._global_forward_hooks,
    _global_hooks._global_forward_pre_hooks,
)


def in_turn(transforms: Iterable[Callable[[Any], Any]], img: Any) -> Any:
    """Apply transforms in order, runs of value changes in one pass."""
    waiting = list(transforms)
    while waiting:
        run = _run_of(waiting)
        done = _together(run, img) if len(run) > 1 else None
        if done is None:
            img = waiting.pop(0)(img)
        else:
            img = done
            del waiting[: len(run)]
    return img


def pil_bytes(img: Any) -> Tensor | None:
    """The bytes of a PIL image, (bands, height, width), read-only."""
    return bytes_of(img) if is_pil_image(img) else None


def image_bytes(img: Any) -> Tensor | None:
    """The bytes of an image tensor that has channels."""
    if type(img) not in (Tensor, Image, Video) or img.dtype != fb.uint8 or img.ndim < 3:
        return None
    return img.as_subclass(Tensor)  # type: ignore[no-any-return]


def by_table(image: Tensor, *steps: Step) -> Tensor | None:
    """Apply some steps to an image of bytes; None if one must be called to report an error.

    None also if a step expands one channel to several.
    """
    try:
        return look_up(image, *steps)
    except (TypeError, ValueError, RuntimeError):
        return None


def normalizing(function: Callable[..., Any], mean: Any, std: Any) -> Step | None:
    """The step of a function of images, means and deviations; None if they are not numbers."""
    if any(isinstance(value, Tensor) and value.requires_grad for value in (mean, std)):
        return None
    try:
        return function, _numbers(mean), _numbers(std)
    except (TypeError, ValueError):
        return None


def _numbers(value: Any) -> tuple[float, ...]:
    return (value,) if isinstance(value, (int, float)) else tuple(float(each) for each in value)


def _together(run: list[Any], img: Any) -> Any:
    image = run[0]._fb_bytes_of(img)
    steps = [] if image is None else [transform._fb_value_step() for transform in run]
    if image is None or None in steps:
        return None
    values = by_table(image, *steps)
    return None if values is None else wrap(values, like=img)


def _run_of(transforms: list[Any]) -> list[Any]:
    """The first transforms, as long as they only change values."""
    if "_fb_bytes_of" not in vars(type(transforms[0])):
        return []
    return list(itertools.takewhile(_changes_values, transforms))


def _changes_values(transform: Any) -> bool:
    return "_fb_value_step" in vars(type(transform)) and _is_alone(transform)


def _is_alone(transform: Any) -> bool:
    """Whether its class alone decides what a call does."""
    own = vars(transform)
    return not (any(own.get(name) for name in _OVERRIDES) or any(_EVERYWHERE))
