"""One-stage detectors, which predict boxes at every position of their feature maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.vision.models.detection import _utils as det_utils
from flambeau.vision.models.detection._detector import Detector
from flambeau.vision.models.detection._targets import Target
from flambeau.vision.models.detection.image_list import ImageList
from flambeau.vision.ops import boxes as box_ops

__all__ = [
    "Outputs",
    "PyramidStage",
    "SingleStage",
    "best_of",
    "levels_of",
    "matches_of",
    "unmatched",
]

Outputs = dict[str, Tensor]


class SingleStage(Detector):
    """A backbone, anchors all over its feature maps, and a head that scores them."""

    backbone: nn.Module
    head: nn.Module
    anchor_generator: nn.Module
    nms_thresh: float
    detections_per_img: int

    def _fb_results(
        self, batch: ImageList, targets: list[Target] | None
    ) -> tuple[dict[str, Tensor], list[Target]]:
        features = self.backbone(batch.tensors)
        maps = [features] if isinstance(features, Tensor) else list(features.values())
        outputs = self.head(maps)
        anchors = self.anchor_generator(batch, maps)
        if self.training:
            return self._fb_losses(targets, outputs, anchors, maps), []
        return {}, self._fb_detections(outputs, anchors, maps, batch.image_sizes)

    def _fb_losses(
        self, targets: Any, outputs: Outputs, anchors: list[Tensor], maps: list[Tensor]
    ) -> dict[str, Tensor]:
        raise NotImplementedError

    def _fb_detections(
        self,
        outputs: Outputs,
        anchors: list[Tensor],
        maps: list[Tensor],
        image_shapes: list[tuple[int, int]],
    ) -> list[Target]:
        raise NotImplementedError

    def _fb_separate(self, boxes: Tensor, scores: Tensor, labels: Tensor) -> Target:
        """Return the best candidates of an image, after non-maximum suppression per class."""
        keep = box_ops.batched_nms(boxes, scores, labels, self.nms_thresh)
        keep = keep[: self.detections_per_img]
        return {"boxes": boxes[keep], "scores": scores[keep], "labels": labels[keep]}


class PyramidStage(SingleStage):
    """One-stage detector with class scores and one box for every anchor of a feature pyramid."""

    score_thresh: float
    topk_candidates: int

    def _fb_scores(self, outputs: Outputs) -> Tensor:
        """Return the scores (anchors, classes) from the outputs of one level."""
        raise NotImplementedError

    def _fb_boxes(self, regression: Tensor, anchors: Tensor) -> Tensor:
        """Return the boxes from the outputs of some anchors."""
        raise NotImplementedError

    def _fb_detections(
        self,
        outputs: Outputs,
        anchors: list[Tensor],
        maps: list[Tensor],
        image_shapes: list[tuple[int, int]],
    ) -> list[Target]:
        counts = levels_of(maps, outputs["cls_logits"].shape[1])
        split = {name: list(values.split(counts, dim=1)) for name, values in outputs.items()}
        levels = [list(own.split(counts)) for own in anchors]
        return self.postprocess_detections(split, levels, image_shapes)

    def postprocess_detections(
        self,
        head_outputs: dict[str, list[Tensor]],
        anchors: list[list[Tensor]],
        image_shapes: list[tuple[int, int]],
    ) -> list[Target]:
        """Return the detections of each image, from the outputs and anchors of each level."""
        detections = []
        for i, (own, shape) in enumerate(zip(anchors, image_shapes, strict=True)):
            candidates = []
            for level, cells in enumerate(own):
                outputs = {name: values[level][i] for name, values in head_outputs.items()}
                scores = self._fb_scores(outputs)
                values, place = best_of(scores.flatten(), self.score_thresh, self.topk_candidates)
                row = place // scores.shape[-1]
                boxes = self._fb_boxes(outputs["bbox_regression"][row], cells[row])
                boxes = box_ops.clip_boxes_to_image(boxes, shape)
                candidates.append((boxes, values, place % scores.shape[-1]))
            parts = (fb.cat(each) for each in zip(*candidates, strict=True))
            detections.append(self._fb_separate(*parts))
        return detections


def unmatched(anchors: Tensor) -> Tensor:
    """The matches of anchors in an image without objects."""
    return fb.full((len(anchors),), -1, dtype=fb.int64, device=anchors.device)


def matches_of(
    matcher: det_utils.Matcher, targets: Sequence[Target], anchors: Sequence[Tensor]
) -> list[Tensor]:
    """Return the index of each anchor's true box, by overlap; negative if it has none."""
    return [
        unmatched(own)
        if target["boxes"].numel() == 0
        else matcher(box_ops.box_iou(target["boxes"], own))
        for target, own in zip(targets, anchors, strict=True)
    ]


def levels_of(maps: Sequence[Tensor], count: int) -> list[int]:
    """Return the number of anchors of each feature map."""
    pixels = [feature.shape[2] * feature.shape[3] for feature in maps]
    return [each * (count // sum(pixels)) for each in pixels]


def best_of(scores: Tensor, threshold: float, most: int) -> tuple[Tensor, Tensor]:
    """Return the best elements of scores that exceed a threshold, and their indices."""
    likely = fb.where(scores > threshold)[0]
    values, order = scores[likely].topk(det_utils._topk_min(likely, most, 0))
    return values, likely[order]
