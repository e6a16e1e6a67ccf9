"""Layers that change the resolution of images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flambeau.nn import functional as F
from flambeau.nn.modules.module import Module

if TYPE_CHECKING:
    from flambeau import Tensor

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Upsample(Module):
    """Resize signals, images or volumes by interpolation.

    Args:
        size: Size of the output, one int or one per dimension.
        scale_factor: Size of the output by that of the input, one number or one per dimension.
            Exactly one of `size` and `scale_factor` is given.
        mode: `"nearest"` (the default), `"linear"` (3D input), `"bilinear"` or `"bicubic"` (4D), or
            `"trilinear"` (5D).
        align_corners: Whether the corner pixels of input and output coincide, for all modes but
            `"nearest"`. Default: False.
        recompute_scale_factor: Whether to interpolate by the ratio of the rounded sizes instead of
            `scale_factor`. Default: False.

    Shape:
        - Input: (N, C, L), (N, C, H, W) or (N, C, D, H, W).
        - Output: the same number of dimensions, of the new size.

    Example:
        >>> image = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
        >>> nn.Upsample(scale_factor=2)(image)
        tensor([[[[1., 1., 2., 2.],
                  [1., 1., 2., 2.],
                  [3., 3., 4., 4.],
                  [3., 3., 4., 4.]]]])
        >>> nn.Upsample(size=(4, 6), mode="bilinear")(image).shape
        torch.Size([1, 1, 4, 6])

    See also:
        `nn.ConvTranspose2d`, `nn.PixelShuffle`, `nn.functional.interpolate`.
    """

    def __init__(
        self,
        size: int | tuple[int, ...] | None = None,
        scale_factor: float | tuple[float, ...] | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name: str = type(self).__name__
        self.size = size
        self.scale_factor: float | tuple[float, ...] | None
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            self.recompute_scale_factor,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        state.setdefault("recompute_scale_factor", True)
        super().__setstate__(state)

    def extra_repr(self) -> str:
        """The factor or the size, and the mode."""
        if self.scale_factor is not None:
            return f"scale_factor={self.scale_factor!r}, mode={self.mode!r}"
        return f"size={self.size!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Enlarge images by repeating pixels.

    Args:
        size: Size of the output, one int or (height, width).
        scale_factor: Size of the output by that of the input, one number or two.

    Shape:
        - Input: (N, C, H, W).
        - Output: (N, C, H_out, W_out).

    Example:
        >>> nn.UpsamplingNearest2d(scale_factor=2)(torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]]))
        tensor([[[[1., 1., 2., 2.],
                  [1., 1., 2., 2.],
                  [3., 3., 4., 4.],
                  [3., 3., 4., 4.]]]])

    See also:
        `nn.Upsample`, `nn.functional.interpolate`.
    """

    def __init__(
        self,
        size: int | tuple[int, int] | None = None,
        scale_factor: float | tuple[float, float] | None = None,
    ) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Enlarge images by bilinear interpolation with aligned corners.

    Args:
        size: Size of the output, one int or (height, width).
        scale_factor: Size of the output by that of the input, one number or two.

    Shape:
        - Input: (N, C, H, W).
        - Output: (N, C, H_out, W_out).

    Example:
        >>> nn.UpsamplingBilinear2d(scale_factor=2)(torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]]))
        tensor([[[[1.0000, 1.3333, 1.6667, 2.0000],
                  [1.6667, 2.0000, 2.3333, 2.6667],
                  [2.3333, 2.6667, 3.0000, 3.3333],
                  [3.0000, 3.3333, 3.6667, 4.0000]]]])

    See also:
        `nn.Upsample`, `nn.functional.interpolate`.
    """

    def __init__(
        self,
        size: int | tuple[int, int] | None = None,
        scale_factor: float | tuple[float, float] | None = None,
    ) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
