"""Transforms that treat every value of a channel alike: bytes go through one table for them all.

A transform that does so says it by ``_value_step()``: a function of images with its arguments, all
of which can be compared. One that such a run may begin with also has ``_bytes_of(img)``, the bytes
(..., C, H, W) that its step takes in place of an image, or None. Both are asked of the class that
defines them alone, as a subclass may do something else; what has hooks is called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.nn.modules import _global_hooks
from flambeau.vision._pillow import is_pil_image
from flambeau.vision.transforms._pil.convert import bytes_of
from flambeau.vision.transforms._tensor.table import Step, look_up

__all__ = ["Step", "in_turn", "normalizing", "pil_bytes", "plain_bytes"]

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


def in_turn(transforms: Sequence[Callable[[Any], Any]], img: Any) -> Any:
    """Transforms one after another, runs of changes of values in one go."""
    place = 0
    while place < len(transforms):
        end = place + 1
        if _may_begin(transforms[place]):
            end = _end_of_run(transforms, end)
        done = _together(transforms[place:end], img) if end > place + 1 else None
        if done is None:
            img, end = transforms[place](img), place + 1
        else:
            img = done
        place = end
    return img


def pil_bytes(img: Any) -> Tensor | None:
    """The bytes of a PIL image, (bands, height, width), only to be read."""
    return bytes_of(img) if is_pil_image(img) else None


def plain_bytes(img: Any) -> Tensor | None:
    """A tensor of bytes with channels."""
    is_bytes = type(img) is Tensor and img.dtype is fb.uint8 and img.ndim >= 3
    return img if is_bytes else None


def normalizing(function: Callable[..., Any], mean: Any, std: Any) -> Step | None:
    """The step of a function of images, means and deviations; None if they are no numbers."""
    try:
        return function, _numbers(mean), _numbers(std)
    except TypeError:
        return None


def _numbers(value: Any) -> tuple[float, ...]:
    return (value,) if isinstance(value, (int, float)) else tuple(float(each) for each in value)


def _together(run: Sequence[Any], img: Any) -> Tensor | None:
    image = run[0]._bytes_of(img)
    steps = [transform._value_step() for transform in run] if image is not None else [None]
    if image is None or None in steps:
        return None
    try:
        values = look_up(image, *steps)
    except (TypeError, ValueError, RuntimeError):
        return None  # the transform that is to blame says so when it is called
    has_meaning = isinstance(img, Tensor) and type(img) is not Tensor
    return values.as_subclass(type(img)) if has_meaning else values


def _may_begin(transform: Any) -> bool:
    return "_bytes_of" in vars(type(transform)) and _is_alone(transform)


def _end_of_run(transforms: Sequence[Any], end: int) -> int:
    while (
        end < len(transforms)
        and "_value_step" in vars(type(transforms[end]))
        and _is_alone(transforms[end])
    ):
        end += 1
    return end


def _is_alone(transform: Any) -> bool:
    """Whether nothing but its class decides what a call does."""
    own = vars(transform)
    return not (any(own.get(name) for name in _OVERRIDES) or any(_EVERYWHERE))
