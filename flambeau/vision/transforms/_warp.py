"""Random rotation, shear and elastic deformation of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.vision.transforms import functional as F
from flambeau.vision.transforms._arguments import angles_of
from flambeau.vision.transforms._image import (
    Fill,
    Image,
    InterpolationMode,
    dimensions,
    interpolation_of,
)
from flambeau.vision.transforms._random import below, chance, uniform

__all__ = ["ElasticTransform", "RandomAffine", "RandomPerspective", "RandomRotation"]


def _checked_fill(fill: Any) -> Any:
    if fill is None:
        return 0
    if not isinstance(fill, (Sequence, int, float)):
        raise TypeError(f"Fill should be either a sequence or a number, got {fill!r}")
    return fill


def _fill_for(img: Image, fill: Any) -> Fill:
    """One value for every channel of a tensor; a PIL image takes the value as it is."""
    if not isinstance(img, Tensor):
        return fill  # type: ignore[no-any-return]
    channels = dimensions(img)[0]
    values = [float(fill)] * channels if isinstance(fill, (int, float)) else fill
    return [float(value) for value in values]


class RandomRotation(nn.Module):
    """Rotate an image by a random angle.

    Args:
        degrees: Range of the angle, or one number for (-degrees, degrees).
        interpolation: `InterpolationMode` of the new pixels. Default: nearest.
        expand: Whether the result is large enough for all of the image. Default: False.
        center: Centre of rotation, (x, y). Default: that of the image.
        fill: Value of pixels outside of the image. Default: 0.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.RandomRotation(10)(torch.rand(3, 8, 8)).shape
        torch.Size([3, 8, 8])
    """

    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: InterpolationMode | int = InterpolationMode.NEAREST,
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill: Fill = 0,
    ) -> None:
        super().__init__()
        self.degrees: list[float] = angles_of(degrees, "degrees")
        if center is not None and len(center) != 2:
            raise ValueError(f"center should be a sequence of length 2, got {center}")
        self.center = center
        self.interpolation: InterpolationMode = interpolation_of(interpolation)
        self.expand = expand
        self.fill: Any = _checked_fill(fill)

    @staticmethod
    def get_params(degrees: Sequence[float]) -> float:
        """Draw an angle."""
        return uniform(degrees[0], degrees[1])

    def forward(self, img: Image) -> Image:
        angle = self.get_params(self.degrees)
        fill = _fill_for(img, self.fill)
        return F.rotate(img, angle, self.interpolation, self.expand, self.center, fill)

    def __repr__(self) -> str:
        center = "" if self.center is None else f", center={self.center}"
        fill = "" if self.fill is None else f", fill={self.fill}"
        return (
            f"{type(self).__name__}(degrees={self.degrees}, "
            f"interpolation={self.interpolation.value}, expand={self.expand}{center}{fill})"
        )


class RandomAffine(nn.Module):
    """Rotate, move, scale and shear an image at random.

    Args:
        degrees: Range of the angle, or one number for (-degrees, degrees).
        translate: Largest shift by width and height, as shares. Default: None.
        scale: Range of the scale. Default: None.
        shear: Range of the shear in degrees. Default: None.
        interpolation: `InterpolationMode` of the new pixels. Default: nearest.
        fill: Value of pixels outside of the image. Default: 0.
        center: Centre of rotation, (x, y). Default: that of the image.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.RandomAffine(10, translate=(0.1, 0.1))(torch.rand(3, 16, 16)).shape
        torch.Size([3, 16, 16])
    """

    def __init__(
        self,
        degrees: float | Sequence[float],
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: float | Sequence[float] | None = None,
        interpolation: InterpolationMode | int = InterpolationMode.NEAREST,
        fill: Fill = 0,
        center: Sequence[float] | None = None,
    ) -> None:
        super().__init__()
        self.degrees: list[float] = angles_of(degrees, "degrees")
        for name, pair in (("translate", translate), ("scale", scale), ("center", center)):
            if pair is not None and len(pair) != 2:
                raise ValueError(f"{name} should be a sequence of length 2, got {pair}")
        if translate is not None and not all(0.0 <= share <= 1.0 for share in translate):
            raise ValueError(f"translation values should be between 0 and 1, got {translate}")
        if scale is not None and min(scale) <= 0:
            raise ValueError(f"scale values should be positive, got {scale}")
        self.translate = translate
        self.scale = scale
        self.shear: list[float] | None = (
            None if shear is None else angles_of(shear, "shear", (2, 4))
        )
        self.interpolation: InterpolationMode = interpolation_of(interpolation)
        self.fill: Any = _checked_fill(fill)
        self.center = center

    @staticmethod
    def get_params(
        degrees: Sequence[float],
        translate: Sequence[float] | None,
        scale_ranges: Sequence[float] | None,
        shears: Sequence[float] | None,
        img_size: Sequence[int],
    ) -> tuple[float, tuple[int, int], float, tuple[float, float]]:
        """Draw the angle, the translation (x, y), the scale and the two shears."""
        angle = uniform(degrees[0], degrees[1])
        way, scale, shear = (0, 0), 1.0, (0.0, 0.0)
        if translate is not None:
            farthest = [share * side for share, side in zip(translate, img_size, strict=True)]
            way = (
                round(uniform(-farthest[0], farthest[0])),
                round(uniform(-farthest[1], farthest[1])),
            )
        if scale_ranges is not None:
            scale = uniform(scale_ranges[0], scale_ranges[1])
        if shears is not None:
            along_x = uniform(shears[0], shears[1])
            shear = (along_x, uniform(shears[2], shears[3]) if len(shears) == 4 else 0.0)
        return angle, way, scale, shear

    def forward(self, img: Image) -> Image:
        _, height, width = dimensions(img)
        params = self.get_params(
            self.degrees, self.translate, self.scale, self.shear, [width, height]
        )
        fill = _fill_for(img, self.fill)
        return F.affine(
            img, *params, interpolation=self.interpolation, fill=fill, center=self.center
        )

    def __repr__(self) -> str:
        options: dict[str, Any] = {"degrees": self.degrees}
        for name in ("translate", "scale", "shear"):
            if getattr(self, name) is not None:
                options[name] = getattr(self, name)
        if self.interpolation is not InterpolationMode.NEAREST:
            options["interpolation"] = self.interpolation.value
        if self.fill != 0:
            options["fill"] = self.fill
        if self.center is not None:
            options["center"] = self.center
        return f"{type(self).__name__}({', '.join(f'{k}={v}' for k, v in options.items())})"


class RandomPerspective(nn.Module):
    """Distort the perspective of an image with a probability.

    Args:
        distortion_scale: How far corners may move, from 0 to 1. Default: 0.5.
        p: The probability. Default: 0.5.
        interpolation: `InterpolationMode` of the new pixels. Default: bilinear.
        fill: Value of pixels outside of the image. Default: 0.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.RandomPerspective()(torch.rand(3, 16, 16)).shape
        torch.Size([3, 16, 16])
    """

    def __init__(
        self,
        distortion_scale: float = 0.5,
        p: float = 0.5,
        interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
        fill: Fill = 0,
    ) -> None:
        super().__init__()
        self.p = p
        self.interpolation: InterpolationMode = interpolation_of(interpolation)
        self.distortion_scale = distortion_scale
        self.fill: Any = _checked_fill(fill)

    @staticmethod
    def get_params(
        width: int, height: int, distortion_scale: float
    ) -> tuple[list[list[int]], list[list[int]]]:
        """Draw where the four corners go: top left, top right, bottom right, bottom left."""
        across = int(distortion_scale * (width // 2)) + 1
        down = int(distortion_scale * (height // 2)) + 1
        corners = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
        moved = []
        for x, y in corners:
            column = below(across) if x == 0 else width - across + below(across)
            row = below(down) if y == 0 else height - down + below(down)
            moved.append([column, row])
        return corners, moved

    def forward(self, img: Image) -> Image:
        fill = _fill_for(img, self.fill)
        if not chance(self.p):
            return img
        _, height, width = dimensions(img)
        corners, moved = self.get_params(width, height, self.distortion_scale)
        return F.perspective(img, corners, moved, self.interpolation, fill)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p})"


class ElasticTransform(nn.Module):
    """Displace pixels by a smooth random field.

    Args:
        alpha: Strength of the displacement. Default: 50.
        sigma: Smoothness of the displacement. Default: 5.
        interpolation: `InterpolationMode` of the new pixels. Default: bilinear.
        fill: Value of pixels outside of the image. Default: 0.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.ElasticTransform()(torch.rand(3, 64, 64)).shape
        torch.Size([3, 64, 64])
    """

    def __init__(
        self,
        alpha: float | Sequence[float] = 50.0,
        sigma: float | Sequence[float] = 5.0,
        interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
        fill: Fill = 0,
    ) -> None:
        super().__init__()
        self.alpha: list[float] = _two_numbers("alpha", alpha)
        self.sigma: list[float] = _two_numbers("sigma", sigma)
        self.interpolation: InterpolationMode = interpolation_of(interpolation)
        fill = _checked_fill(fill)
        self.fill: list[float] = (
            [float(fill)] if isinstance(fill, (int, float)) else [float(v) for v in fill]
        )

    @staticmethod
    def get_params(alpha: Sequence[float], sigma: Sequence[float], size: Sequence[int]) -> Tensor:
        """Draw how far every pixel moves along x and y, (1, H, W, 2)."""
        ways = []
        for strength, deviation, side in zip(alpha, sigma, reversed(size), strict=True):
            way = fb.rand([1, 1, *size]) * 2 - 1
            if deviation > 0.0:
                window = int(8 * deviation + 1) | 1
                way = F.gaussian_blur(way, [window, window], sigma)
            ways.append(way * strength / side)
        return fb.cat(ways, 1).permute([0, 2, 3, 1])

    def forward(self, tensor: Image) -> Image:
        _, height, width = dimensions(tensor)
        displacement = self.get_params(self.alpha, self.sigma, [height, width])
        return F.elastic_transform(tensor, displacement, self.interpolation, self.fill)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(alpha={self.alpha}, sigma={self.sigma}, "
            f"interpolation={self.interpolation}, fill={self.fill})"
        )


def _two_numbers(name: str, value: Any) -> list[float]:
    if isinstance(value, (int, float)):
        return [float(value), float(value)]
    if not isinstance(value, Sequence):
        raise TypeError(f"{name} should be float or a sequence of floats. Got {type(value)}")
    if len(value) not in (1, 2):
        raise ValueError(f"If {name} is a sequence its length should be 1 or 2. Got {len(value)}")
    if not all(isinstance(number, (int, float)) for number in value):
        raise TypeError(f"{name} should be a sequence of floats. Got {value!r}")
    return [float(value[0]), float(value[-1])]
