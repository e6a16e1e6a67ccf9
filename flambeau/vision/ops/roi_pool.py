"""RoI Pool (https://arxiv.org/abs/1504.08083)."""

from __future__ import annotations

from collections.abc import Sequence

from flambeau import Tensor, nn
from flambeau._C import _roi_pool_argmax
from flambeau.vision.ops._regions import pair_of, rows_of

__all__ = ["RoIPool", "roi_pool"]


def roi_pool(
    input: Tensor,
    boxes: Tensor | Sequence[Tensor],
    output_size: int | Sequence[int],
    spatial_scale: float = 1.0,
) -> Tensor:
    """Return a grid of maxima of each region of images; empty cells are 0."""
    height, width = pair_of(output_size)
    rows = rows_of(boxes).detach()
    argmax = _roi_pool_argmax(input.detach(), rows, spatial_scale, height, width)
    return input.take(argmax.clamp(min=0)).masked_fill(argmax < 0, 0)


class RoIPool(nn.Module):
    """`roi_pool` as a module."""

    def __init__(self, output_size: int | Sequence[int], spatial_scale: float) -> None:
        super().__init__()
        self.output_size = output_size
        self.spatial_scale = spatial_scale

    def forward(self, input: Tensor, rois: Tensor | Sequence[Tensor]) -> Tensor:
        return roi_pool(input, rois, self.output_size, self.spatial_scale)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(output_size={self.output_size}, "
            f"spatial_scale={self.spatial_scale})"
        )
