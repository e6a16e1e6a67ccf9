"""Images at other resolutions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from flambeau._C.nn.functional import (
    affine_grid,
    channel_shuffle,
    grid_sample,
    interpolate,
    native_channel_shuffle,
    pixel_shuffle,
    pixel_unshuffle,
)
from flambeau._core.overriding import overridable

if TYPE_CHECKING:
    from flambeau import Tensor

__all__ = [
    "affine_grid",
    "channel_shuffle",
    "grid_sample",
    "interpolate",
    "native_channel_shuffle",
    "pixel_shuffle",
    "pixel_unshuffle",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]


def _warn(name: str) -> None:
    warnings.warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=3,
    )


@overridable
def upsample(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """Old name of `interpolate`.

    Args:
        input: (N, C, *).
        size: Size of the output.
        scale_factor: Size of the output by that of the input, instead of `size`.
        mode: As of `interpolate`. Default: `"nearest"`.
        align_corners: As of `interpolate`. Default: None.

    Example:
        >>> import warnings
        >>> warnings.simplefilter("ignore")  # deprecated, so it warns
        >>> F.upsample(torch.ones(1, 1, 2), scale_factor=2)
        tensor([[[1., 1., 1., 1.]]])
    """
    _warn("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


@overridable
def upsample_nearest(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """Old name of `interpolate` in the mode nearest.

    Args:
        input: (N, C, *).
        size: Size of the output.
        scale_factor: Size of the output by that of the input, instead of `size`.

    Example:
        >>> import warnings
        >>> warnings.simplefilter("ignore")  # deprecated, so it warns
        >>> F.upsample_nearest(torch.ones(1, 1, 2, 2), scale_factor=2).shape
        torch.Size([1, 1, 4, 4])
    """
    _warn("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


@overridable
def upsample_bilinear(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """Old name of `interpolate` in the mode bilinear, with aligned corners.

    Args:
        input: (N, C, *).
        size: Size of the output.
        scale_factor: Size of the output by that of the input, instead of `size`.

    Example:
        >>> import warnings
        >>> warnings.simplefilter("ignore")  # deprecated, so it warns
        >>> F.upsample_bilinear(torch.ones(1, 1, 2, 2), scale_factor=2).shape
        torch.Size([1, 1, 4, 4])
    """
    _warn("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
