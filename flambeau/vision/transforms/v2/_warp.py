"""Random rotation, affine, perspective and elastic warps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flambeau.vision.transforms import _warp
from flambeau.vision.transforms._arguments import angles_of
from flambeau.vision.transforms._matrices import perspective_coefficients
from flambeau.vision.transforms.v2 import functional as F
from flambeau.vision.transforms.v2._fill import fill_for, fills_of
from flambeau.vision.transforms.v2._query import query_size
from flambeau.vision.transforms.v2._transform import RandomApplyTransform, Transform
from flambeau.vision.transforms.v2.functional._arguments import Interpolation

__all__ = ["ElasticTransform", "RandomAffine", "RandomPerspective", "RandomRotation"]


class RandomRotation(Transform):
    """Rotate by a random angle.

    Args:
        degrees: Range of the angle, or one number for (-degrees, degrees).
        interpolation: `InterpolationMode` of the new pixels. Default: nearest.
        expand: Whether the result is large enough for all of the image. Default: False.
        center: Centre of rotation, (x, y). Default: that of the image.
        fill: Value of pixels outside of the image. Default: 0.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.RandomRotation((90, 90))(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
        tensor([[[2., 4.],
                 [1., 3.]]])
    """

    get_params = staticmethod(_warp.RandomRotation.get_params)

    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: Interpolation = "nearest",
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill: Any = 0,
    ) -> None:
        super().__init__()
        self.degrees: list[float] = angles_of(degrees, "degrees")
        _need_pair("center", center)
        self.interpolation = interpolation
        self.expand = expand
        self.fill = fill
        self._fill: dict[Any, Any] = fills_of(fill)
        self.center = center

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        return {"angle": self.get_params(self.degrees)}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(
            F.rotate,
            inpt,
            params["angle"],
            self.interpolation,
            self.expand,
            self.center,
            fill_for(self._fill, inpt),
        )


def _need_pair(name: str, value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, (tuple, list)):
        raise TypeError(f"{name} should be a sequence of length 2, got {value!r}.")
    if len(value) != 2:
        raise ValueError(f"{name} should be a sequence of length 2, got {value!r}.")


class RandomAffine(Transform):
    """Rotate, translate, scale and shear at random about the centre.

    Args:
        degrees: Range of the angle, or one number for (-degrees, degrees).
        translate: Largest shift by width and height, as shares. Default: None.
        scale: Range of the scale. Default: None.
        shear: Range of the shear in degrees. Default: None.
        interpolation: `InterpolationMode` of the new pixels. Default: nearest.
        fill: Value of pixels outside of the image. Default: 0.
        center: Centre of rotation, (x, y). Default: that of the image.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.RandomAffine(degrees=10, translate=(0.1, 0.1))(torch.zeros(3, 8, 8)).shape
        torch.Size([3, 8, 8])
    """

    get_params = staticmethod(_warp.RandomAffine.get_params)

    def __init__(
        self,
        degrees: float | Sequence[float],
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: float | Sequence[float] | None = None,
        interpolation: Interpolation = "nearest",
        fill: Any = 0,
        center: Sequence[float] | None = None,
    ) -> None:
        super().__init__()
        self.degrees: list[float] = angles_of(degrees, "degrees")
        for name, pair in (("translate", translate), ("scale", scale), ("center", center)):
            _need_pair(name, pair)
        if translate is not None and not all(0.0 <= share <= 1.0 for share in translate):
            raise ValueError(f"translation values should be between 0 and 1, got {translate}")
        if scale is not None and min(scale) <= 0:
            raise ValueError(f"scale values should be positive, got {scale}")
        self.translate = translate
        self.scale = scale
        self.shear: list[float] | None = (
            None if shear is None else angles_of(shear, "shear", (2, 4))
        )
        self.interpolation = interpolation
        self.fill = fill
        self._fill: dict[Any, Any] = fills_of(fill)
        self.center = center

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        height, width = query_size(flat_inputs)
        size = [width, height]
        drawn = self.get_params(self.degrees, self.translate, self.scale, self.shear, size)
        return {"drawn": drawn}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(
            F.affine,
            inpt,
            *params["drawn"],
            self.interpolation,
            fill_for(self._fill, inpt),
            self.center,
        )


class RandomPerspective(RandomApplyTransform):
    """Distort the perspective with a probability, by moving the corners inwards.

    Args:
        distortion_scale: How far corners may move, from 0 to 1. Default: 0.5.
        p: The probability. Default: 0.5.
        interpolation: `InterpolationMode` of the new pixels. Default: bilinear.
        fill: Value of pixels outside of the image. Default: 0.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.RandomPerspective(p=1.0)(torch.zeros(3, 8, 8)).shape
        torch.Size([3, 8, 8])
    """

    get_params = staticmethod(_warp.RandomPerspective.get_params)

    def __init__(
        self,
        distortion_scale: float = 0.5,
        p: float = 0.5,
        interpolation: Interpolation = "bilinear",
        fill: Any = 0,
    ) -> None:
        super().__init__(p)
        if not 0 <= distortion_scale <= 1:
            raise ValueError(
                f"Argument distortion_scale value should be between 0 and 1, got {distortion_scale}"
            )
        self.distortion_scale = distortion_scale
        self.interpolation = interpolation
        self.fill = fill
        self._fill: dict[Any, Any] = fills_of(fill)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        height, width = query_size(flat_inputs)
        corners, moved = self.get_params(width, height, self.distortion_scale)
        return {"coefficients": perspective_coefficients(corners, moved)}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(
            F.perspective,
            inpt,
            None,
            None,
            self.interpolation,
            fill_for(self._fill, inpt),
            params["coefficients"],
        )


class ElasticTransform(Transform):
    """Displace pixels by a random field of strength ``alpha`` and smoothness ``sigma``.

    Args:
        alpha: Strength of the displacement. Default: 50.
        sigma: Smoothness of the displacement. Default: 5.
        interpolation: `InterpolationMode` of the new pixels. Default: bilinear.
        fill: Value of pixels outside of the image. Default: 0.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.ElasticTransform()(torch.zeros(3, 64, 64)).shape
        torch.Size([3, 64, 64])
    """

    get_params = staticmethod(_warp.ElasticTransform.get_params)

    def __init__(
        self,
        alpha: float | Sequence[float] = 50.0,
        sigma: float | Sequence[float] = 5.0,
        interpolation: Interpolation = "bilinear",
        fill: Any = 0,
    ) -> None:
        super().__init__()
        self.alpha: list[float] = _warp._two_numbers("alpha", alpha)
        self.sigma: list[float] = _warp._two_numbers("sigma", sigma)
        self.interpolation = interpolation
        self.fill = fill
        self._fill: dict[Any, Any] = fills_of(fill)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        size = list(query_size(flat_inputs))
        return {"displacement": self.get_params(self.alpha, self.sigma, size)}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(
            F.elastic,
            inpt,
            params["displacement"],
            self.interpolation,
            fill_for(self._fill, inpt),
        )
