"""Random erasing and JPEG compression."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import flambeau as fb
from flambeau.vision.transforms import _erasing
from flambeau.vision.transforms.v2 import functional as F
from flambeau.vision.transforms.v2._query import query_chw
from flambeau.vision.transforms.v2._transform import RandomApplyTransform, Transform
from flambeau.vision.tv_tensors import BoundingBoxes, KeyPoints, Mask

__all__ = ["JPEG", "RandomErasing"]


class RandomErasing(RandomApplyTransform):
    """Erase a random rectangle with a probability, by a value or by noise.

    Args:
        p: The probability. Default: 0.5.
        scale: Range of the rectangle's share of the area. Default: (0.02, 0.33).
        ratio: Range of its height by width. Default: (0.3, 3.3).
        value: What replaces it: a number, one per channel, or `"random"`. Default: 0.
        inplace: Whether to overwrite the tensor. Default: False.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> image = v2.RandomErasing(p=1.0)(torch.ones(3, 8, 8))
        >>> bool((image == 0).any())
        True
    """

    get_params = staticmethod(_erasing.RandomErasing.get_params)

    def __init__(
        self,
        p: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: Any = 0.0,
        inplace: bool = False,
    ) -> None:
        super().__init__(p)
        checked = _erasing.RandomErasing(p, scale, ratio, value, inplace)
        self.scale = checked.scale
        self.ratio = checked.ratio
        self.value: Any = _values(value)
        self.inplace = inplace

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        dimensions = query_chw(flat_inputs)
        if self.value is not None and len(self.value) not in (1, dimensions[0]):
            raise ValueError(
                "If value is a sequence, it should have either a single value or "
                f"{dimensions[0]} (number of input channels), got {len(self.value)}"
            )
        patch = _erasing.random_patch(dimensions, self.scale, self.ratio, self.value)
        return {"patch": patch}

    def _call_kernel(self, functional: Callable[..., Any], inpt: Any, *args: Any, **kw: Any) -> Any:
        if isinstance(inpt, (BoundingBoxes, KeyPoints, Mask)):
            warnings.warn(
                f"{type(self).__name__}() is currently passing through inputs of type "
                f"tv_tensors.{type(inpt).__name__}. This will likely change in the future.",
                stacklevel=2,
            )
        return super()._call_kernel(functional, inpt, *args, **kw)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        if params["patch"] is None:
            return inpt
        return self._call_kernel(F.erase, inpt, *params["patch"], self.inplace)


def _values(value: Any) -> list[float] | None:
    """One value for each channel; None for noise."""
    if isinstance(value, (int, float)):
        return [float(value)]
    return None if isinstance(value, str) else [float(each) for each in value]


class JPEG(Transform):
    """Compress an image of bytes as JPEG with a random quality, and decode it.

    Args:
        quality: Quality from 1 to 100, or its range.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.JPEG(quality=90)(torch.zeros(3, 8, 8, dtype=torch.uint8)).shape
        torch.Size([3, 8, 8])
    """

    def __init__(self, quality: int | Sequence[int]) -> None:
        super().__init__()
        pair = [quality, quality] if isinstance(quality, int) else quality
        if not isinstance(pair, (tuple, list, str)):
            raise TypeError(f"quality should be a sequence of length 2, got {quality!r}.")
        if len(pair) != 2:
            raise ValueError(f"quality should be a sequence of length 2, got {quality!r}.")
        whole = all(isinstance(each, int) for each in pair)
        if not (whole and 1 <= pair[0] <= pair[1] <= 100):
            raise ValueError(f"quality must be an integer from 1 to 100, got quality ={pair}")
        self.quality = pair

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        low, high = self.quality
        return {"quality": int(fb.randint(low, high + 1, ()).item())}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(F.jpeg, inpt, params["quality"])
