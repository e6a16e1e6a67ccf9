"""The base of the v2 transforms: it finds the parts of a sample to transform."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, ClassVar

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.utils import _pytree
from flambeau.vision._pillow import is_pil_image
from flambeau.vision.transforms._image import InterpolationMode
from flambeau.vision.transforms.v2._query import check_type, has_any
from flambeau.vision.transforms.v2.functional import is_pure_tensor
from flambeau.vision.transforms.v2.functional._dispatch import call_kernel
from flambeau.vision.tv_tensors import Image, Video

__all__ = ["RandomApplyTransform", "Transform", "applying"]

_SHOWN = (bool, int, float, str, tuple, list, Enum)


class Transform(nn.Module):
    """Base class of transforms of samples: any nesting of images, boxes, labels and other values.

    Subclasses define ``transform(inpt, params)``, and ``make_params(flat_inputs)`` for values that
    are drawn once for the whole sample. All PIL images and tv_tensors are transformed;
    of plain tensors only the first, and only if there is no other image.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> class Negative(v2.Transform):
        ...     def transform(self, inpt, params):
        ...         return 1 - inpt
        >>> Negative()(torch.tensor([[[0.25, 1.0]]]))
        tensor([[[0.7500, 0.0000]]])
    """

    _transformed_types: tuple[Any, ...] = (Tensor, is_pil_image)

    def __init__(self) -> None:
        super().__init__()

    def check_inputs(self, flat_inputs: list[Any]) -> None:
        """Raise for a sample that this transform does not support."""

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw the random parameters of one sample."""
        return {}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """Transform one part of a sample."""
        raise NotImplementedError(f"{type(self).__name__} has no method transform(inpt, params)")

    def _call_kernel(self, functional: Callable[..., Any], inpt: Any, *args: Any, **kw: Any) -> Any:
        """Call a functional; tv_tensors that it does not support stay as they are."""
        return call_kernel(functional, inpt, *args, **kw)

    def forward(self, *inputs: Any) -> Any:
        """Transform a sample, given as one argument or as several."""
        sample = inputs if len(inputs) > 1 else inputs[0]
        if isinstance(sample, Tensor):
            return self._fb_transformed([sample])[0]
        flat, structure = _pytree.tree_flatten(sample)
        return _pytree.tree_unflatten(self._fb_transformed(flat), structure)

    def _fb_transformed(self, flat: list[Any]) -> list[Any]:
        self.check_inputs(flat)
        return self._fb_change(flat)

    def _fb_change(self, flat: list[Any]) -> list[Any]:
        chosen = self._needs_transform_list(flat)
        params = self.make_params([each for each, use in zip(flat, chosen, strict=True) if use])
        return [
            self.transform(each, params) if use else each
            for each, use in zip(flat, chosen, strict=True)
        ]

    def _needs_transform_list(self, flat_inputs: list[Any]) -> list[bool]:
        """Return which parts of a sample are transformed."""
        plain_too = not has_any(flat_inputs, Image, Video, is_pil_image)
        chosen = []
        for each in flat_inputs:
            use = check_type(each, self._transformed_types)
            if use and is_pure_tensor(each):
                use, plain_too = plain_too, False
            chosen.append(use)
        return chosen

    __repr__: ClassVar[Callable[..., str]] = nn.Module.__repr__

    def extra_repr(self) -> str:
        """Return the arguments as they stand between the brackets."""
        return ", ".join(
            f"{name}={value.value if isinstance(value, InterpolationMode) else value}"
            for name, value in vars(self).items()
            if not name.startswith("_") and name != "training" and isinstance(value, _SHOWN)
        )


class RandomApplyTransform(Transform):
    """A transform that is applied with a probability."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        if not 0.0 <= p <= 1.0:
            raise ValueError(
                f"`p` should be a floating point value in the interval [0.0, 1.0], got {p}."
            )
        self.p = p

    def _fb_transformed(self, flat: list[Any]) -> list[Any]:
        self.check_inputs(flat)
        if fb.rand(1).item() >= self.p:
            return flat
        return self._fb_change(flat)


def applying(function: Callable[..., Any], *arguments: str) -> Callable[..., Any]:
    """Make a method ``transform`` that calls a functional with the values of some attributes."""

    def transform(self: Any, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(function, inpt, *[getattr(self, name) for name in arguments])

    return transform
