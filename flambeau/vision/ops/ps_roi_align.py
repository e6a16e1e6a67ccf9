"""Position-sensitive RoI Align (https://arxiv.org/abs/1711.07264)."""

from __future__ import annotations

from collections.abc import Sequence

from flambeau import Tensor, nn
from flambeau._C import _roi_align
from flambeau.vision.ops._regions import pair_of, rows_of

__all__ = ["PSRoIAlign", "ps_roi_align"]


def ps_roi_align(
    input: Tensor,
    boxes: Tensor | Sequence[Tensor],
    output_size: int | Sequence[int],
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
) -> Tensor:
    """Return a grid of means of each region, each cell from its own channel.

    The input has height · width times as many channels as the result; otherwise this is `roi_align`
    with ``aligned``.
    """
    rows = rows_of(boxes).detach()
    height, width = pair_of(output_size)
    return _roi_align(input, rows, spatial_scale, height, width, sampling_ratio, True, True)


class PSRoIAlign(nn.Module):
    """`ps_roi_align` as a module."""

    def __init__(
        self, output_size: int | Sequence[int], spatial_scale: float, sampling_ratio: int
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.spatial_scale = spatial_scale
        self.sampling_ratio = sampling_ratio

    def forward(self, input: Tensor, rois: Tensor | Sequence[Tensor]) -> Tensor:
        return ps_roi_align(input, rois, self.output_size, self.spatial_scale, self.sampling_ratio)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(output_size={self.output_size}, "
            f"spatial_scale={self.spatial_scale}, sampling_ratio={self.sampling_ratio})"
        )
