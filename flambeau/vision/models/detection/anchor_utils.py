"""Anchor boxes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.vision.models.detection.image_list import ImageList

__all__ = ["AnchorGenerator", "DefaultBoxGenerator"]

_Numbers = Sequence[float]


class AnchorGenerator(nn.Module):
    """Anchors of every size and aspect ratio (height / width) at each position of each feature map.

    ``sizes`` and ``aspect_ratios`` have one tuple for each map (https://arxiv.org/abs/1506.01497).
    """

    def __init__(
        self,
        sizes: Sequence[Any] = ((128, 256, 512),),
        aspect_ratios: Sequence[Any] = ((0.5, 1.0, 2.0),),
    ) -> None:
        super().__init__()
        if not isinstance(sizes[0], list | tuple):
            sizes = tuple((size,) for size in sizes)
        if not isinstance(aspect_ratios[0], list | tuple):
            aspect_ratios = (aspect_ratios,) * len(sizes)
        self.sizes = sizes
        self.aspect_ratios = aspect_ratios
        self.cell_anchors: list[Tensor] = [
            self.generate_anchors(size, ratio)
            for size, ratio in zip(sizes, aspect_ratios, strict=False)
        ]

    def generate_anchors(
        self,
        scales: _Numbers,
        aspect_ratios: _Numbers,
        dtype: fb.dtype = fb.float32,
        device: Any = "cpu",
    ) -> Tensor:
        """Return anchors around zero: all scales of the first ratio, then of the second etc."""
        sides = fb.as_tensor(scales, dtype=dtype, device=device)
        tall = fb.as_tensor(aspect_ratios, dtype=dtype, device=device).sqrt()[:, None]
        heights, widths = (tall * sides).flatten(), (1 / tall * sides).flatten()
        return (fb.stack((-widths, -heights, widths, heights), 1) / 2).round()

    def set_cell_anchors(self, dtype: fb.dtype, device: Any) -> None:
        """Convert the anchors around zero to a dtype and a device."""
        self.cell_anchors = [cell.to(dtype=dtype, device=device) for cell in self.cell_anchors]

    def num_anchors_per_location(self) -> list[int]:
        """Return the number of anchors per position of each map."""
        return [
            len(size) * len(ratio)
            for size, ratio in zip(self.sizes, self.aspect_ratios, strict=False)
        ]

    def grid_anchors(
        self, grid_sizes: Sequence[Sequence[int]], strides: Sequence[Sequence[Any]]
    ) -> list[Tensor]:
        """Return the anchors of each map, whose positions are (down, across) pixels apart."""
        if not len(grid_sizes) == len(strides) == len(self.cell_anchors):
            raise ValueError(
                "sizes and aspect_ratios must have a tuple for each feature map; the number of "
                f"feature maps is {len(grid_sizes)}, that of tuples {len(self.cell_anchors)}"
            )
        anchors = []
        for (rows, columns), (down, across), cell in zip(
            grid_sizes, strides, self.cell_anchors, strict=True
        ):
            y = fb.arange(rows, dtype=fb.int32, device=cell.device) * down
            x = fb.arange(columns, dtype=fb.int32, device=cell.device) * across
            places = _places(y, x)
            corners = fb.cat((places, places), 1)
            anchors.append((corners[:, None] + cell).reshape(-1, 4))
        return anchors

    def forward(self, image_list: ImageList, feature_maps: Sequence[Tensor]) -> list[Tensor]:
        """Return the anchors of all maps, once for each image."""
        height, width = image_list.tensors.shape[-2:]
        grids = [tuple(feature.shape[-2:]) for feature in feature_maps]
        strides = [(height // rows, width // columns) for rows, columns in grids]
        self.set_cell_anchors(feature_maps[0].dtype, feature_maps[0].device)
        anchors = fb.cat(self.grid_anchors(grids, strides))
        return [anchors] * len(image_list.image_sizes)


def _places(y: Tensor, x: Tensor) -> Tensor:
    """Return all pairs (x, y), row by row."""
    down, across = fb.meshgrid(y, x, indexing="ij")
    return fb.stack((across.flatten(), down.flatten()), 1)


class DefaultBoxGenerator(nn.Module):
    """Default boxes of SSD (https://arxiv.org/abs/1512.02325), relative to the image size.

    Each map has a square of its scale, one between its scale and the next, and two boxes for each
    of its ratios. Without ``scales`` they go evenly from ``min_ratio`` to ``max_ratio``; ``steps``
    are the pixels between positions, by default computed from the size of the map.
    """

    def __init__(
        self,
        aspect_ratios: Sequence[_Numbers],
        min_ratio: float = 0.15,
        max_ratio: float = 0.9,
        scales: Sequence[float] | None = None,
        steps: Sequence[int] | None = None,
        clip: bool = True,
    ) -> None:
        super().__init__()
        if steps is not None and len(aspect_ratios) != len(steps):
            raise ValueError(
                f"steps must be as many as aspect_ratios, got {len(steps)} and {len(aspect_ratios)}"
            )
        maps = len(aspect_ratios)
        if scales is None and maps > 1:
            span = max_ratio - min_ratio
            scales = [min_ratio + span * k / (maps - 1.0) for k in range(maps)] + [1.0]
        self.aspect_ratios = aspect_ratios
        self.steps = steps
        self.clip = clip
        self.scales: Sequence[float] = [min_ratio, max_ratio] if scales is None else scales
        self._wh_pairs: list[Tensor] = self._generate_wh_pairs(maps)

    def _generate_wh_pairs(self, num_outputs: int) -> list[Tensor]:
        """Return widths and heights, relative to the image, of the boxes of each map."""
        pairs = []
        for k in range(num_outputs):
            scale, next_scale = self.scales[k], self.scales[k + 1]
            between = math.sqrt(scale * next_scale)
            sides = [(scale, scale), (between, between)]
            for ratio in self.aspect_ratios[k]:
                root = math.sqrt(ratio)
                sides += [(scale * root, scale / root), (scale / root, scale * root)]
            pairs.append(fb.as_tensor(sides, dtype=fb.float32))
        return pairs

    def num_anchors_per_location(self) -> list[int]:
        """Return the number of boxes per position of each map."""
        return [2 + 2 * len(ratios) for ratios in self.aspect_ratios]

    def _grid_default_boxes(
        self,
        grid_sizes: Sequence[Sequence[int]],
        image_size: Sequence[int],
        dtype: fb.dtype = fb.float32,
    ) -> Tensor:
        """Return centres and sizes of all boxes, relative to the image."""
        boxes = []
        for k, (rows, columns) in enumerate(grid_sizes):
            down, across = float(rows), float(columns)
            if self.steps is not None:
                down, across = (side / self.steps[k] for side in image_size)
            y = (fb.arange(rows).to(dtype) + 0.5) / down
            x = (fb.arange(columns).to(dtype) + 0.5) / across
            places = _places(y, x)
            sides = self._wh_pairs[k].clamp(0, 1) if self.clip else self._wh_pairs[k]
            boxes.append(
                fb.cat((places.repeat_interleave(len(sides), 0), sides.repeat(len(places), 1)), 1)
            )
        return fb.cat(boxes)

    def forward(self, image_list: ImageList, feature_maps: Sequence[Tensor]) -> list[Tensor]:
        """Return boxes in pixels, once for each image."""
        height, width = image_list.tensors.shape[-2:]
        like = feature_maps[0]
        grids = [tuple(feature.shape[-2:]) for feature in feature_maps]
        parts = self._grid_default_boxes(grids, (height, width), like.dtype).to(like.device)
        middles, halves = parts[:, :2], 0.5 * parts[:, 2:]
        size = fb.tensor([width, height], device=like.device)
        boxes = fb.cat(((middles - halves) * size, (middles + halves) * size), 1)
        return [boxes] * len(image_list.image_sizes)

    def __repr__(self) -> str:
        names = ("aspect_ratios", "clip", "scales", "steps")
        return f"{type(self).__name__}({', '.join(f'{n}={getattr(self, n)}' for n in names)})"
