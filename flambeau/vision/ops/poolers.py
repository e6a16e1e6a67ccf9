"""Pooling of regions from the feature map that fits their size (arXiv:1612.03144)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.vision.ops._regions import pair_of, rows_of
from flambeau.vision.ops.boxes import box_area
from flambeau.vision.ops.roi_align import roi_align

__all__ = ["MultiScaleRoIAlign"]


class MultiScaleRoIAlign(nn.Module):
    """`roi_align` of each box in the pyramid level that fits its size.

    A box of ``canonical_scale`` pixels belongs to the level ``canonical_level``, one of half that
    side to the level before it.
    """

    def __init__(
        self,
        featmap_names: Sequence[str],
        output_size: int | Sequence[int],
        sampling_ratio: int,
        *,
        canonical_scale: int = 224,
        canonical_level: int = 4,
    ) -> None:
        super().__init__()
        self.featmap_names: list[str] = list(featmap_names)
        self.output_size: tuple[int, int] = pair_of(output_size)
        self.sampling_ratio = sampling_ratio
        self.canonical_scale = canonical_scale
        self.canonical_level = canonical_level

    def forward(
        self,
        x: dict[str, Tensor],
        boxes: list[Tensor],
        image_shapes: list[tuple[int, int]],
    ) -> Tensor:
        maps = [x[name] for name in x if name in self.featmap_names]
        if not maps or not image_shapes:
            raise ValueError(
                f"feature maps {self.featmap_names} and shapes of images are needed, got maps "
                f"{list(x)} and shapes {image_shapes}"
            )
        scales = [_scale(each, image_shapes) for each in maps]
        rows = rows_of(boxes)
        if len(maps) == 1:
            return roi_align(maps[0], rows, self.output_size, scales[0], self.sampling_ratio)
        levels = self._fb_levels(fb.cat(boxes), scales)
        chosen = [fb.argwhere(levels == level).flatten() for level in range(len(maps))]
        parts = [
            roi_align(each, rows[own], self.output_size, scale, self.sampling_ratio)
            for each, own, scale in zip(maps, chosen, scales, strict=True)
        ]
        lost = fb.argwhere(levels < 0).flatten()
        parts.append(parts[0].new_zeros((len(lost), *parts[0].shape[1:])))
        # Computed level by level, then put back in the order of the boxes.
        return fb.cat(parts)[fb.cat([*chosen, lost]).argsort()]

    def _fb_levels(self, boxes: Tensor, scales: list[float]) -> Tensor:
        """The level of each box, -1 if its size is NaN."""
        first, last = (-math.log2(scale) for scale in (scales[0], scales[-1]))
        sides = box_area(boxes).sqrt()
        # Slightly more, so that a box of exactly the canonical size is in its own level.
        wanted = fb.floor(self.canonical_level + fb.log2(sides / self.canonical_scale) + 1e-6)
        return (wanted.clamp(first, last) - first).nan_to_num(nan=-1.0).to(fb.int64)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(featmap_names={self.featmap_names}, "
            f"output_size={self.output_size}, sampling_ratio={self.sampling_ratio})"
        )


def _scale(feature: Tensor, image_shapes: list[tuple[int, int]]) -> float:
    """The power of two by which a map is smaller than the largest image."""
    height = max(shape[0] for shape in image_shapes)
    return float(2.0 ** round(math.log2(feature.shape[-2] / height)))
