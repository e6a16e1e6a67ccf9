"""Steps common to all detectors: preparing images and restoring the size of detections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flambeau import Tensor, nn
from flambeau.vision.models.detection._targets import (
    Target,
    check_extent,
    check_targets,
    sizes_of,
)
from flambeau.vision.models.detection.image_list import ImageList

__all__ = ["Detector"]


class Detector(nn.Module):
    """Detector for a list of images of any size.

    In training the result is a dictionary of losses, otherwise a list with the detections of each
    image.
    """

    transform: Any

    def eager_outputs(
        self, losses: dict[str, Tensor], detections: list[Target]
    ) -> dict[str, Tensor] | list[Target]:
        """Return the losses in training, otherwise the detections."""
        return losses if self.training else detections

    def forward(
        self, images: Sequence[Tensor], targets: Sequence[Target] | None = None
    ) -> dict[str, Tensor] | list[Target]:
        if self.training:
            check_targets(targets)
        original_sizes = sizes_of(images)
        batch, scaled = self.transform(images, targets)
        check_extent(scaled)
        losses, detections = self._fb_results(batch, scaled)
        detections = self.transform.postprocess(detections, batch.image_sizes, original_sizes)
        return self.eager_outputs(losses, detections)

    def _fb_results(
        self, batch: ImageList, targets: list[Target] | None
    ) -> tuple[dict[str, Tensor], list[Target]]:
        """Return losses, empty except in training, and detections, empty in training."""
        raise NotImplementedError
