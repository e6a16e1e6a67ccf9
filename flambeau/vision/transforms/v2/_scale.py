"""Random sizes, and random placement on a larger canvas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau.vision.transforms.v2 import functional as F
from flambeau.vision.transforms.v2._fill import fill_for, fills_of
from flambeau.vision.transforms.v2._query import query_size
from flambeau.vision.transforms.v2._transform import RandomApplyTransform, Transform
from flambeau.vision.transforms.v2.functional._arguments import Interpolation

__all__ = ["RandomResize", "RandomShortestSize", "RandomZoomOut", "ScaleJitter"]


class _Scaled(Transform):
    """Resize an image to a random size."""

    interpolation: Interpolation
    antialias: bool | None

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(
            F.resize, inpt, params["size"], self.interpolation, antialias=self.antialias
        )


class RandomResize(_Scaled):
    """Resize the shorter side of an image to a random length.

    Args:
        min_size: Smallest length.
        max_size: Length that is never reached: the largest is one less.
        interpolation: `InterpolationMode` of the new pixels. Default: bilinear.
        antialias: Whether to smooth a tensor that is made smaller. Default: True.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> image = v2.RandomResize(4, 7)(torch.zeros(3, 8, 8))
        >>> 4 <= image.shape[-1] < 7
        True
    """

    def __init__(
        self,
        min_size: int,
        max_size: int,
        interpolation: Interpolation = "bilinear",
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.min_size = min_size
        self.max_size = max_size
        self.interpolation = interpolation
        self.antialias = antialias

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        return {"size": [int(fb.randint(self.min_size, self.max_size, ()).item())]}


class RandomShortestSize(_Scaled):
    """Resize the shorter side to one of some lengths, with a limit for the longer one.

    Args:
        min_size: The lengths, or one of them.
        max_size: Largest length of the longer side. Default: None.
        interpolation: `InterpolationMode` of the new pixels. Default: bilinear.
        antialias: Whether to smooth a tensor that is made smaller. Default: True.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.RandomShortestSize([4])(torch.zeros(3, 8, 16)).shape
        torch.Size([3, 4, 8])
    """

    def __init__(
        self,
        min_size: int | Sequence[int],
        max_size: int | None = None,
        interpolation: Interpolation = "bilinear",
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.min_size: list[int] = [min_size] if isinstance(min_size, int) else list(min_size)
        self.max_size = max_size
        self.interpolation = interpolation
        self.antialias = antialias

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        height, width = query_size(flat_inputs)
        shorter = self.min_size[int(fb.randint(len(self.min_size), ()).item())]
        factor = shorter / min(height, width)
        if self.max_size is not None:
            factor = min(factor, self.max_size / max(height, width))
        return {"size": [int(height * factor), int(width * factor)]}


class ScaleJitter(_Scaled):
    """Fit an image into a target size, scaled by a random factor.

    Args:
        target_size: Height and width to fit into.
        scale_range: Range of the factor. Default: (0.1, 2).
        interpolation: `InterpolationMode` of the new pixels. Default: bilinear.
        antialias: Whether to smooth a tensor that is made smaller. Default: True.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.ScaleJitter((16, 16), scale_range=(1.0, 1.0))(torch.zeros(3, 8, 8)).shape
        torch.Size([3, 16, 16])
    """

    def __init__(
        self,
        target_size: tuple[int, int],
        scale_range: tuple[float, float] = (0.1, 2.0),
        interpolation: Interpolation = "bilinear",
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.target_size = target_size
        self.scale_range = scale_range
        self.interpolation = interpolation
        self.antialias = antialias

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        height, width = query_size(flat_inputs)
        low, high = self.scale_range
        scale = low + float(fb.rand(1).item()) * (high - low)
        # The target is (width, height), unlike all other sizes.
        factor = min(self.target_size[1] / height, self.target_size[0] / width) * scale
        return {"size": [int(height * factor), int(width * factor)]}


class RandomZoomOut(RandomApplyTransform):
    """Place an image at random on a larger canvas, with a probability.

    Args:
        fill: Value of the canvas. Default: 0.
        side_range: Range of the canvas's side by the image's. Default: (1, 4).
        p: The probability. Default: 0.5.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> image = v2.RandomZoomOut(p=1.0)(torch.zeros(3, 8, 8))
        >>> image.shape[-1] >= 8
        True
    """

    def __init__(
        self, fill: Any = 0, side_range: Sequence[float] = (1.0, 4.0), p: float = 0.5
    ) -> None:
        super().__init__(p)
        self.fill = fill
        self._fill: dict[Any, Any] = fills_of(fill)
        if not isinstance(side_range, (tuple, list)) or len(side_range) != 2:
            raise TypeError(f"side_range should be a sequence of length 2, got {side_range!r}.")
        if not 1.0 <= side_range[0] <= side_range[1]:
            raise ValueError(f"Invalid side range provided {side_range}.")
        self.side_range = side_range

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        height, width = query_size(flat_inputs)
        low, high = self.side_range
        share = low + float(fb.rand(1).item()) * (high - low)
        rows, columns = int(height * share), int(width * share)
        across, down = fb.rand(2).tolist()
        left, top = int((columns - width) * across), int((rows - height) * down)
        return {"sides": [left, top, columns - left - width, rows - top - height]}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(F.pad, inpt, params["sides"], fill_for(self._fill, inpt))
