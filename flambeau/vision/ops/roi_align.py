"""RoI Align (https://arxiv.org/abs/1703.06870)."""

from __future__ import annotations

from collections.abc import Sequence

from flambeau import Tensor, nn
from flambeau._C import _roi_align
from flambeau.vision.ops._regions import pair_of, rows_of

__all__ = ["RoIAlign", "roi_align"]


def roi_align(
    input: Tensor,
    boxes: Tensor | Sequence[Tensor],
    output_size: int | Sequence[int],
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = False,
) -> Tensor:
    """Return a grid of means of each region of a batch of images.

    ``boxes`` are rows (image, left, top, right, bottom) or one tensor of boxes for every image.
    Each cell is the mean of ``sampling_ratio``² points; with -1, of as many as fit.
    ``aligned`` measures positions from the centre of a pixel instead of its corner.
    """
    rows = rows_of(boxes)
    height, width = pair_of(output_size)
    return _roi_align(
        input, rows.detach(), spatial_scale, height, width, sampling_ratio, aligned, False
    )


class RoIAlign(nn.Module):
    """`roi_align` as a module."""

    def __init__(
        self,
        output_size: int | Sequence[int],
        spatial_scale: float,
        sampling_ratio: int,
        aligned: bool = False,
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.spatial_scale = spatial_scale
        self.sampling_ratio = sampling_ratio
        self.aligned = aligned

    def forward(self, input: Tensor, rois: Tensor | Sequence[Tensor]) -> Tensor:
        return roi_align(
            input, rois, self.output_size, self.spatial_scale, self.sampling_ratio, self.aligned
        )

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(output_size={self.output_size}, "
            f"spatial_scale={self.spatial_scale}, sampling_ratio={self.sampling_ratio}, "
            f"aligned={self.aligned})"
        )
