"""Pixel coordinates, and sampling at them."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.nn import functional as F

__all__ = ["grid_sample", "make_coords_grid", "upsample_flow"]


def grid_sample(
    img: Tensor, absolute_grid: Tensor, mode: str = "bilinear", align_corners: bool | None = None
) -> Tensor:
    """Sample at positions given in pixels, (x, y) in the last dimension."""
    height, width = img.shape[-2:]
    x, y = absolute_grid.unbind(-1)
    x = 2 * x / (width - 1) - 1
    if height > 1:  # images of one row come from stereo matching, which has no y
        y = 2 * y / (height - 1) - 1
    return F.grid_sample(img, fb.stack((x, y), -1), mode=mode, align_corners=align_corners)


def make_coords_grid(batch_size: int, h: int, w: int, device: Any = "cpu") -> Tensor:
    """Return the coordinates (x, y) of every pixel, (batch, 2, h, w)."""
    y, x = fb.meshgrid(fb.arange(h, device=device), fb.arange(w, device=device), indexing="ij")
    return fb.stack((x, y)).float().repeat(batch_size, 1, 1, 1)


def upsample_flow(flow: Tensor, up_mask: Tensor | None = None, factor: int = 8) -> Tensor:
    """Return a flow upsampled by ``factor``.

    With a mask, the flow of each new pixel is a mean over 3 x 3 old ones, weighted by it.
    """
    batch, channels, height, width = flow.shape
    size = (height * factor, width * factor)
    if up_mask is None:
        return factor * F.interpolate(flow, size=size, mode="bilinear", align_corners=True)
    weights = up_mask.view(batch, 1, 9, factor, factor, height, width).softmax(dim=2)
    around = F.unfold(factor * flow, kernel_size=3, padding=1)
    mean = (weights * around.view(batch, channels, 9, 1, 1, height, width)).sum(dim=2)
    return mean.permute(0, 1, 4, 2, 5, 3).reshape(batch, channels, *size)
