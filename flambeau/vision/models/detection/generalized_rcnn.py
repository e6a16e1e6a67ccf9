"""Detectors in two stages: regions are proposed, then looked into."""

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

__all__ = ["GeneralizedRCNN"]


class GeneralizedRCNN(nn.Module):
    """A backbone, a network that proposes regions, and what is made of them.

    In training the result is a dictionary of losses, otherwise one of detections for each image.
    """

    def __init__(
        self, backbone: nn.Module, rpn: nn.Module, roi_heads: nn.Module, transform: Any
    ) -> None:
        super().__init__()
        self.transform: Any = transform
        self.backbone = backbone
        self.rpn = rpn
        self.roi_heads = roi_heads

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
        features = self.backbone(batch.tensors)
        if isinstance(features, Tensor):
            features = {"0": features}
        proposals, losses = self.rpn(batch, features, scaled)
        detections, further = self.roi_heads(features, proposals, batch.image_sizes, scaled)
        detections = self.transform.postprocess(detections, batch.image_sizes, original_sizes)
        return self.eager_outputs({**further, **losses}, detections)
