"""Two-stage detectors: regions are proposed, then classified."""

from __future__ import annotations

from typing import Any

from flambeau import Tensor, nn
from flambeau.vision.models.detection._detector import Detector
from flambeau.vision.models.detection._targets import Target
from flambeau.vision.models.detection.image_list import ImageList

__all__ = ["GeneralizedRCNN"]


class GeneralizedRCNN(Detector):
    """A backbone, a region proposal network, and heads that process the regions."""

    def __init__(
        self, backbone: nn.Module, rpn: nn.Module, roi_heads: nn.Module, transform: Any
    ) -> None:
        super().__init__()
        self.transform = transform
        self.backbone = backbone
        self.rpn = rpn
        self.roi_heads = roi_heads

    def _fb_results(
        self, batch: ImageList, targets: list[Target] | None
    ) -> tuple[dict[str, Tensor], list[Target]]:
        features = self.backbone(batch.tensors)
        if isinstance(features, Tensor):
            features = {"0": features}
        proposals, losses = self.rpn(batch, features, targets)
        detections, further = self.roi_heads(features, proposals, batch.image_sizes, targets)
        return {**further, **losses}, detections
