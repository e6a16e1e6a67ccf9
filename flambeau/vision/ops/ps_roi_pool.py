"""Position-sensitive RoI Pool (https://arxiv.org/abs/1605.06409)."""

from __future__ import annotations

from collections.abc import Sequence

from flambeau import Tensor, nn
from flambeau._C import _ps_roi_pool
from flambeau.vision.ops._regions import pair_of, rows_of

__all__ = ["PSRoIPool", "ps_roi_pool"]


def ps_roi_pool(
    input: Tensor,
    boxes: Tensor | Sequence[Tensor],
    output_size: int | Sequence[int],
    spatial_scale: float = 1.0,
) -> Tensor:
    """Return a grid of means over whole pixels of each region, each cell from its own channel.

    The input has height · width times as many channels as the result; empty cells are 0. As in
    torchvision the last row and column of an image are left out.
    """
    height, width = pair_of(output_size)
    return _ps_roi_pool(input, rows_of(boxes).detach(), spatial_scale, height, width)


class PSRoIPool(nn.Module):
    """`ps_roi_pool` as a module."""

    def __init__(self, output_size: int | Sequence[int], spatial_scale: float) -> None:
        super().__init__()
        self.output_size = output_size
        self.spatial_scale = spatial_scale

    def forward(self, input: Tensor, rois: Tensor | Sequence[Tensor]) -> Tensor:
        return ps_roi_pool(input, rois, self.output_size, self.spatial_scale)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(output_size={self.output_size}, "
            f"spatial_scale={self.spatial_scale})"
        )
