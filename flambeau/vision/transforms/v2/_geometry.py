"""Resizing, cropping, flipping and padding."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from flambeau.vision.transforms import _geometry
from flambeau.vision.transforms._arguments import size_of
from flambeau.vision.transforms._random import below
from flambeau.vision.transforms.v2 import functional as F
from flambeau.vision.transforms.v2._fill import fill_for, fills_of
from flambeau.vision.transforms.v2._query import has_any, query_size
from flambeau.vision.transforms.v2._transform import RandomApplyTransform, Transform, applying
from flambeau.vision.transforms.v2.functional._arguments import Interpolation, sides_of
from flambeau.vision.tv_tensors import BoundingBoxes, KeyPoints, Mask

__all__ = [
    "CenterCrop",
    "FiveCrop",
    "Pad",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "RandomVerticalFlip",
    "Resize",
    "TenCrop",
]

_TWO_SIDES = "Please provide only two dimensions (h, w) for size"
_PAD_MODES = ("constant", "edge", "reflect", "symmetric")


class RandomHorizontalFlip(RandomApplyTransform):
    """Flip left to right with a probability.

    Args:
        p: The probability. Default: 0.5.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.RandomHorizontalFlip(p=1.0)(torch.tensor([[[1.0, 2.0]]]))
        tensor([[[2., 1.]]])
    """

    transform = applying(F.horizontal_flip)


class RandomVerticalFlip(RandomApplyTransform):
    """Flip upside down with a probability.

    Args:
        p: The probability. Default: 0.5.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.RandomVerticalFlip(p=1.0)(torch.tensor([[[1.0], [2.0]]])).flatten()
        tensor([2., 1.])
    """

    transform = applying(F.vertical_flip)


class Resize(Transform):
    """Resize to (height, width), or the shorter side to one number.

    With None for the size, the longer side is ``max_size``.

    Args:
        size: (height, width), one int for the shorter side, or None for `max_size` alone.
        interpolation: `InterpolationMode` of the new pixels. Default: bilinear.
        max_size: Largest length of the longer side, where `size` is one int or None. Default: None.
        antialias: Whether to smooth a tensor that is made smaller. Default: True.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.Resize((4, 6))(torch.zeros(3, 8, 8)).shape
        torch.Size([3, 4, 6])
    """

    def __init__(
        self,
        size: int | Sequence[int] | None,
        interpolation: Interpolation = "bilinear",
        max_size: int | None = None,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.size: list[int] | None = _resized(size, max_size)
        self.interpolation = interpolation
        self.max_size = max_size
        self.antialias = antialias

    transform = applying(F.resize, "size", "interpolation", "max_size", "antialias")


def _resized(size: Any, max_size: Any) -> list[int] | None:
    if size is None:
        if not isinstance(max_size, int):
            raise ValueError(
                f"max_size must be an integer when size is None, but got {max_size} instead."
            )
        return None
    if isinstance(size, int):
        return [size]
    if isinstance(size, (list, tuple)) and len(size) in (1, 2):
        return list(size)
    raise ValueError(
        "size can be an integer, a sequence of one or two integers, or None, but got "
        f"{size} instead."
    )


class CenterCrop(Transform):
    """Crop the centre; a smaller image is padded with 0.

    Args:
        size: (height, width), or one int for a square.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.CenterCrop(2)(torch.arange(16.0).view(1, 4, 4))
        tensor([[[ 5.,  6.],
                 [ 9., 10.]]])
    """

    def __init__(self, size: int | Sequence[int]) -> None:
        super().__init__()
        self.size: tuple[int, int] = size_of(size, _TWO_SIDES)

    transform = applying(F.center_crop, "size")


class _SeveralCrops(Transform):
    """Crops of one image, each an image of its own."""

    def check_inputs(self, flat_inputs: list[Any]) -> None:
        if has_any(flat_inputs, BoundingBoxes, Mask, KeyPoints):
            raise TypeError(
                f"BoundingBoxes'es, KeyPoints'es and Mask's are not supported by "
                f"{type(self).__name__}()"
            )


class FiveCrop(_SeveralCrops):
    """Crop the four corners and the centre of an image.

    Args:
        size: (height, width), or one int for a square.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> crops = v2.FiveCrop(4)(torch.zeros(3, 8, 8))
        >>> len(crops), crops[0].shape
        (5, torch.Size([3, 4, 4]))
    """

    def __init__(self, size: int | Sequence[int]) -> None:
        super().__init__()
        self.size: tuple[int, int] = size_of(size, _TWO_SIDES)

    transform = applying(F.five_crop, "size")


class TenCrop(_SeveralCrops):
    """`FiveCrop` of an image and of its mirror image.

    Args:
        size: (height, width), or one int for a square.
        vertical_flip: Whether the mirror image is upside down. Default: False.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> crops = v2.TenCrop(4)(torch.zeros(3, 8, 8))
        >>> len(crops), crops[0].shape
        (10, torch.Size([3, 4, 4]))
    """

    def __init__(self, size: int | Sequence[int], vertical_flip: bool = False) -> None:
        super().__init__()
        self.size: tuple[int, int] = size_of(size, _TWO_SIDES)
        self.vertical_flip = vertical_flip

    transform = applying(F.ten_crop, "size", "vertical_flip")


class Pad(Transform):
    """Pad on all sides.

    Args:
        padding: Widths: one int, (left and right, top and bottom), or four ints.
        fill: Value of the padding. Default: 0.
        padding_mode: `"constant"` (the default), `"edge"`, `"reflect"` or `"symmetric"`.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.Pad(1)(torch.ones(1, 1, 2))
        tensor([[[0., 0., 0., 0.],
                 [0., 1., 1., 0.],
                 [0., 0., 0., 0.]]])
    """

    def __init__(
        self,
        padding: int | Sequence[int],
        fill: Any = 0,
        padding_mode: str = "constant",
    ) -> None:
        super().__init__()
        _check_padding(padding)
        _check_mode(padding_mode)
        self.padding: int | list[int] = padding if isinstance(padding, int) else list(padding)
        self.fill = fill
        self._fill: dict[Any, Any] = fills_of(fill)
        self.padding_mode = padding_mode

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        fill = fill_for(self._fill, inpt)
        return self._call_kernel(F.pad, inpt, self.padding, fill, self.padding_mode)


def _check_padding(padding: Any) -> None:
    fits = isinstance(padding, (tuple, list)) and len(padding) in (1, 2, 4)
    if not isinstance(padding, int) and not fits:
        raise ValueError(
            f"Padding must be an int or a 1, 2, or 4 element of tuple or list, got {padding}."
        )


def _check_mode(padding_mode: str) -> None:
    if padding_mode not in _PAD_MODES:
        raise ValueError(
            f"Padding mode should be either {', '.join(_PAD_MODES)}, got {padding_mode!r}"
        )


class RandomCrop(Transform):
    """Crop a rectangle of a given size at a random position.

    Args:
        size: (height, width), or one int for a square.
        padding: Widths to pad by first: one int, (left and right, top and bottom), or four ints.
            Default: None.
        pad_if_needed: Whether to pad an image that is too small. Default: False.
        fill: Value of the padding. Default: 0.
        padding_mode: `"constant"` (the default), `"edge"`, `"reflect"` or `"symmetric"`.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.RandomCrop(4, padding=1)(torch.zeros(3, 8, 8)).shape
        torch.Size([3, 4, 4])
    """

    get_params = staticmethod(_geometry.RandomCrop.get_params)

    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: Any = 0,
        padding_mode: str = "constant",
    ) -> None:
        super().__init__()
        self.size: tuple[int, int] = size_of(size, _TWO_SIDES)
        if padding is not None:
            _check_padding(padding)
        _check_mode(padding_mode)
        self.padding: list[int] | None = None if padding is None else sides_of(padding)
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self._fill: dict[Any, Any] = fills_of(fill)
        self.padding_mode = padding_mode

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        height, width = query_size(flat_inputs)
        rows, columns = self.size
        sides = self._fb_sides(height, width)
        padded = height + sides[1] + sides[3], width + sides[0] + sides[2]
        if padded[0] < rows or padded[1] < columns:
            raise ValueError(
                f"Required crop size {(rows, columns)} is larger than "
                f"{'padded ' if any(sides) else ''}input image size {padded}."
            )
        top = below(padded[0] - rows + 1) if padded[0] > rows else 0
        left = below(padded[1] - columns + 1) if padded[1] > columns else 0
        return {"sides": sides, "place": (top, left, rows, columns), "padded": padded}

    def _fb_sides(self, height: int, width: int) -> list[int]:
        left, top, right, bottom = self.padding or (0, 0, 0, 0)
        if self.pad_if_needed:
            down = max(self.size[0] - (height + top + bottom), 0)
            across = max(self.size[1] - (width + left + right), 0)
            left, top, right, bottom = left + across, top + down, right + across, bottom + down
        return [left, top, right, bottom]

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        if any(params["sides"]):
            fill = fill_for(self._fill, inpt)
            inpt = self._call_kernel(F.pad, inpt, params["sides"], fill, self.padding_mode)
        if params["padded"] != self.size:
            inpt = self._call_kernel(F.crop, inpt, *params["place"])
        return inpt


class RandomResizedCrop(Transform):
    """Crop a random part, and resize it.

    Args:
        size: Size of the result: (height, width), or one int for a square.
        scale: Range of the part's share of the area. Default: (0.08, 1).
        ratio: Range of width by height. Default: (3/4, 4/3).
        interpolation: `InterpolationMode` of the new pixels. Default: bilinear.
        antialias: Whether to smooth a tensor that is made smaller. Default: True.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.RandomResizedCrop(4)(torch.zeros(3, 8, 8)).shape
        torch.Size([3, 4, 4])
    """

    get_params = staticmethod(_geometry.RandomResizedCrop.get_params)

    def __init__(
        self,
        size: int | Sequence[int],
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Interpolation = "bilinear",
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.size: tuple[int, int] = size_of(size, _TWO_SIDES)
        for name, pair in (("Scale", scale), ("Ratio", ratio)):
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise TypeError(f"{name} should be a sequence of two floats, got {pair!r}.")
        if scale[0] > scale[1] or ratio[0] > ratio[1]:
            warnings.warn("Scale and ratio should be of kind (min, max)", stacklevel=2)
        self.scale = scale
        self.ratio = ratio
        self.interpolation = interpolation
        self.antialias = antialias

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        height, width = query_size(flat_inputs)
        return {"place": _geometry.random_place(height, width, self.scale, self.ratio)}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(
            F.resized_crop, inpt, *params["place"], self.size, self.interpolation, self.antialias
        )
