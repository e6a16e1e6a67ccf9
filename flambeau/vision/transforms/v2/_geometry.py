"""Sizes, crops, flips, margins and bends; what is drawn, is drawn as in the first interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau.vision.transforms import _geometry, _warp
from flambeau.vision.transforms._image import (
    InterpolationMode,
    dimensions,
    interpolation_of,
)
from flambeau.vision.transforms._warp import _fill_for
from flambeau.vision.transforms.v2 import functional as F
from flambeau.vision.transforms.v2._transform import (
    RandomApplyTransform,
    Transform,
    image_in,
    of_images,
)

__all__ = [
    "CenterCrop",
    "ElasticTransform",
    "FiveCrop",
    "Pad",
    "RandomAffine",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomPerspective",
    "RandomResize",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomShortestSize",
    "RandomVerticalFlip",
    "RandomZoomOut",
    "Resize",
    "ScaleJitter",
    "TenCrop",
]


class Resize(Transform, _geometry.Resize):
    """An image of (height, width), or with a shorter side of one number."""

    def __init__(
        self,
        size: int | Sequence[int],
        interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
        max_size: int | None = None,
        antialias: bool | None = True,
    ) -> None:
        super().__init__(size, interpolation, max_size, antialias)
        self.size: list[int] = [size] if isinstance(size, int) else list(size)

    transform = of_images(F.resize, "size", "interpolation", "max_size", "antialias")


class CenterCrop(Transform, _geometry.CenterCrop):
    """The middle of an image."""

    transform = of_images(F.center_crop, "size")


class Pad(Transform, _geometry.Pad):
    """An image with margins."""

    def __init__(
        self,
        padding: int | Sequence[int],
        fill: float | Sequence[float] = 0,
        padding_mode: str = "constant",
    ) -> None:
        super().__init__(padding, fill, padding_mode)
        self.padding: int | list[int] = padding if isinstance(padding, int) else list(padding)

    transform = of_images(F.pad, "padding", "fill", "padding_mode")


class FiveCrop(Transform, _geometry.FiveCrop):
    """The four corners and the middle of an image."""

    transform = of_images(F.five_crop, "size")


class TenCrop(Transform, _geometry.TenCrop):
    """Five crops of an image and five of its mirror image."""

    transform = of_images(F.ten_crop, "size", "vertical_flip")


class RandomHorizontalFlip(RandomApplyTransform, _geometry.RandomHorizontalFlip):
    """Left and right exchanged with a probability."""

    transform = of_images(F.horizontal_flip)


class RandomVerticalFlip(RandomApplyTransform, _geometry.RandomVerticalFlip):
    """Top and bottom exchanged with a probability."""

    transform = of_images(F.vertical_flip)


class RandomCrop(Transform, _geometry.RandomCrop):
    """A rectangle of a given size anywhere in an image."""

    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: float | Sequence[float] = 0,
        padding_mode: str = "constant",
    ) -> None:
        super().__init__(size, padding, pad_if_needed, fill, padding_mode)
        if padding is not None:
            sides = [padding] if isinstance(padding, int) else list(padding)
            self.padding: list[int] = sides * (4 // len(sides))

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        image = self._padded(image_in(flat_inputs))
        return {"place": self.get_params(image, self.size)}

    def _padded(self, inpt: Any) -> Any:
        if self.padding is not None:
            inpt = F.pad(inpt, self.padding, self.fill, self.padding_mode)
        if self.pad_if_needed:
            _, height, width = dimensions(inpt)
            across, down = max(self.size[1] - width, 0), max(self.size[0] - height, 0)
            if across or down:
                inpt = F.pad(inpt, [across, down], self.fill, self.padding_mode)
        return inpt

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.crop(self._padded(inpt), *params["place"])


class RandomResizedCrop(Transform, _geometry.RandomResizedCrop):
    """A rectangle of a random share and shape of an image, scaled to a given size."""

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        return {"place": self.get_params(image_in(flat_inputs), self.scale, self.ratio)}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.resized_crop(inpt, *params["place"], self.size, self.interpolation, self.antialias)


class RandomRotation(Transform, _warp.RandomRotation):
    """An image turned by a random angle."""

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        return {"angle": self.get_params(self.degrees)}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        fill = _fill_for(inpt, self.fill)
        return F.rotate(inpt, params["angle"], self.interpolation, self.expand, self.center, fill)


class RandomAffine(Transform, _warp.RandomAffine):
    """An image turned, moved, scaled and sheared at random about its middle."""

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        _, height, width = dimensions(image_in(flat_inputs))
        size = [width, height]
        drawn = self.get_params(self.degrees, self.translate, self.scale, self.shear, size)
        return {"drawn": drawn}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        fill = _fill_for(inpt, self.fill)
        return F.affine(
            inpt,
            *params["drawn"],
            interpolation=self.interpolation,
            fill=fill,
            center=self.center,
        )


class RandomPerspective(RandomApplyTransform, _warp.RandomPerspective):
    """An image with its corners moved inwards at random, with a probability."""

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        _, height, width = dimensions(image_in(flat_inputs))
        return {"corners": self.get_params(width, height, self.distortion_scale)}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        fill = _fill_for(inpt, self.fill)
        return F.perspective(inpt, *params["corners"], self.interpolation, fill)


class ElasticTransform(Transform, _warp.ElasticTransform):
    """An image seen through moving water."""

    def __init__(
        self,
        alpha: float | Sequence[float] = 50.0,
        sigma: float | Sequence[float] = 5.0,
        interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
        fill: Any = 0,
    ) -> None:
        super().__init__(alpha, sigma, interpolation, fill)
        self.fill = fill

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        _, height, width = dimensions(image_in(flat_inputs))
        return {"displacement": self.get_params(self.alpha, self.sigma, [height, width])}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        fill = _fill_for(inpt, self.fill)
        return F.elastic(inpt, params["displacement"], self.interpolation, fill)


class _Scaled(Transform):
    """An image scaled to a random size."""

    def __init__(self, interpolation: InterpolationMode | int, antialias: bool | None) -> None:
        super().__init__()
        self.interpolation: InterpolationMode = interpolation_of(interpolation)
        self.antialias = antialias

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.resize(inpt, params["size"], self.interpolation, antialias=self.antialias)


class RandomResize(_Scaled):
    """An image whose shorter side has a random length."""

    def __init__(
        self,
        min_size: int,
        max_size: int,
        interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
        antialias: bool | None = True,
    ) -> None:
        super().__init__(interpolation, antialias)
        self.min_size = min_size
        self.max_size = max_size

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        return {"size": [int(fb.randint(self.min_size, self.max_size, ()).item())]}


class RandomShortestSize(_Scaled):
    """An image whose shorter side has one of some lengths, the longer one a limit."""

    def __init__(
        self,
        min_size: int | Sequence[int],
        max_size: int | None = None,
        interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
        antialias: bool | None = True,
    ) -> None:
        super().__init__(interpolation, antialias)
        self.min_size: list[int] = [min_size] if isinstance(min_size, int) else list(min_size)
        self.max_size = max_size

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        _, height, width = dimensions(image_in(flat_inputs))
        shorter = self.min_size[int(fb.randint(len(self.min_size), ()).item())]
        factor = shorter / min(height, width)
        if self.max_size is not None:
            factor = min(factor, self.max_size / max(height, width))
        return {"size": [int(height * factor), int(width * factor)]}


class ScaleJitter(_Scaled):
    """An image fitted into a target size and scaled by a random factor."""

    def __init__(
        self,
        target_size: tuple[int, int],
        scale_range: tuple[float, float] = (0.1, 2.0),
        interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
        antialias: bool | None = True,
    ) -> None:
        super().__init__(interpolation, antialias)
        self.target_size = target_size
        self.scale_range = scale_range

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        _, height, width = dimensions(image_in(flat_inputs))
        low, high = self.scale_range
        scale = low + float(fb.rand(1).item()) * (high - low)
        # The target is (width, height), unlike all other sizes.
        factor = min(self.target_size[1] / height, self.target_size[0] / width) * scale
        return {"size": [int(height * factor), int(width * factor)]}


class RandomZoomOut(RandomApplyTransform):
    """An image somewhere in a larger canvas, with a probability."""

    def __init__(
        self, fill: Any = 0, side_range: Sequence[float] = (1.0, 4.0), p: float = 0.5
    ) -> None:
        super().__init__()
        if not 1.0 <= side_range[0] <= side_range[1]:
            raise ValueError(f"Invalid canvas side range provided {side_range}.")
        self.p = p
        self.fill = fill
        self.side_range = side_range

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        _, height, width = dimensions(image_in(flat_inputs))
        low, high = self.side_range
        share = low + float(fb.rand(1).item()) * (high - low)
        rows, columns = int(height * share), int(width * share)
        across, down = fb.rand(2).tolist()
        left, top = int((columns - width) * across), int((rows - height) * down)
        return {"sides": [left, top, columns - left - width, rows - top - height]}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.pad(inpt, params["sides"], self.fill)
