"""Layers that exchange channels and pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flambeau.nn import functional as F
from flambeau.nn.modules.module import Module

if TYPE_CHECKING:
    from flambeau import Tensor

__all__ = ["PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Module):
    """Turn groups of channels into blocks of pixels: an image r times larger with C / r^2 channels.

    Args:
        upscale_factor: r.

    Shape:
        - Input: (*, C r^2, H, W).
        - Output: (*, C, H r, W r).

    Example:
        >>> nn.PixelShuffle(2)(torch.randn(1, 8, 3, 3)).shape
        torch.Size([1, 2, 6, 6])
        >>> nn.PixelShuffle(2)(torch.arange(4.0).reshape(4, 1, 1))
        tensor([[[0., 1.],
                 [2., 3.]]])

    See also:
        `nn.PixelUnshuffle`, its inverse; `nn.functional.pixel_shuffle`.
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        """The factor."""
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Turn blocks of pixels into channels: an image r times smaller with C r^2 channels.

    Args:
        downscale_factor: r.

    Shape:
        - Input: (*, C, H r, W r).
        - Output: (*, C r^2, H, W).

    Example:
        >>> nn.PixelUnshuffle(2)(torch.randn(1, 2, 6, 6)).shape
        torch.Size([1, 8, 3, 3])

    See also:
        `nn.PixelShuffle`, its inverse; `nn.functional.pixel_unshuffle`.
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        """The factor."""
        return f"downscale_factor={self.downscale_factor}"
