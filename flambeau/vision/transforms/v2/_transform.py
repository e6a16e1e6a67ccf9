"""What all transforms of the second interface do: find the images in a sample."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import Enum
from typing import Any, ClassVar

import flambeau as fb
from flambeau import nn
from flambeau.utils import _pytree
from flambeau.vision._pillow import is_pil_image
from flambeau.vision.transforms._image import InterpolationMode
from flambeau.vision.transforms.v2.functional import is_pure_tensor
from flambeau.vision.tv_tensors import Image, TVTensor, Video

__all__ = ["RandomApplyTransform", "Transform", "image_in", "of_images"]

_SHOWN = (bool, int, float, str, tuple, list, Enum)


def image_in(inputs: list[Any]) -> Any:
    """The first image among the parts of a sample."""
    for each in inputs:
        if is_pil_image(each) or isinstance(each, (Image, Video)) or is_pure_tensor(each):
            return each
    raise TypeError(
        "no image was found in the sample: a PIL image, a tensor or a tv_tensor is expected, got "
        f"{[type(each).__name__ for each in inputs]}"
    )


class Transform(nn.Module):
    """A transform of samples: any nesting of images, labels and other things.

    Subclasses write ``transform(inpt, params)``, and ``make_params(flat_inputs)`` where something
    is drawn once for the whole sample. All PIL images and tensors with a meaning are transformed;
    of plain tensors only the first, and only if there is no other image.
    """

    _shown_first: tuple[str, ...] = ()

    def check_inputs(self, flat_inputs: list[Any]) -> None:
        """Refuse a sample that this transform cannot work on."""

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw what one sample needs."""
        return {}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """Transform one image."""
        raise NotImplementedError

    def forward(self, *inputs: Any) -> Any:
        flat, structure = _pytree.tree_flatten(inputs if len(inputs) > 1 else inputs[0])
        self.check_inputs(flat)
        chosen = _to_transform(flat)
        params = self.make_params([each for each, use in zip(flat, chosen, strict=True) if use])
        results = [
            self.transform(each, params) if use else each
            for each, use in zip(flat, chosen, strict=True)
        ]
        return _pytree.tree_unflatten(results, structure)

    __repr__: ClassVar[Callable[..., str]] = nn.Module.__repr__

    def extra_repr(self) -> str:
        """Return the arguments as they stand between the brackets."""
        attributes = vars(self)
        first = [*self._shown_first, *inspect.signature(type(self).__init__).parameters]
        shown = {
            name: attributes[name]
            for name in dict.fromkeys([*first, *attributes])
            if name in attributes and not name.startswith("_") and name != "training"
        }
        return ", ".join(
            f"{name}={value.value if isinstance(value, InterpolationMode) else value}"
            for name, value in shown.items()
            if isinstance(value, _SHOWN)
        )


def _to_transform(flat: list[Any]) -> list[bool]:
    kinds = [is_pil_image(each) or isinstance(each, TVTensor) for each in flat]
    has_image = any(is_pil_image(each) or isinstance(each, (Image, Video)) for each in flat)
    if not has_image:
        first = next((i for i, each in enumerate(flat) if is_pure_tensor(each)), None)
        if first is not None:
            kinds[first] = True
    return kinds


class RandomApplyTransform(Transform):
    """A transform that happens with a probability."""

    p: float
    _shown_first = ("p",)

    def forward(self, *inputs: Any) -> Any:
        if fb.rand(1).item() >= self.p:
            return inputs if len(inputs) > 1 else inputs[0]
        return super().forward(*inputs)


def of_images(function: Callable[..., Any], *arguments: str) -> Callable[..., Any]:
    """A method ``transform`` that calls a function with the values of some attributes."""

    def transform(self: Any, inpt: Any, params: dict[str, Any]) -> Any:
        return function(inpt, *(getattr(self, name) for name in arguments))

    return transform
