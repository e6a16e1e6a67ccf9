"""Detectors in one stage: the features say at every place what is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.vision.models.detection import _utils as det_utils
from flambeau.vision.models.detection._targets import (
    Target,
    check_extent,
    check_targets,
    sizes_of,
)
from flambeau.vision.ops import boxes as box_ops

__all__ = [
    "Outputs",
    "PyramidStage",
    "SingleStage",
    "best_of",
    "check_detector",
    "levels_of",
    "matches_of",
    "unmatched",
]

Outputs = dict[str, Tensor]


class SingleStage(nn.Module):
    """A backbone, anchors all over its feature maps, and a head that judges them.

    In training the result is a dictionary of losses, otherwise one of detections for each image.
    """

    transform: Any
    backbone: nn.Module
    head: nn.Module
    anchor_generator: nn.Module
    nms_thresh: float
    detections_per_img: int

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
        maps = [features] if isinstance(features, Tensor) else list(features.values())
        outputs = self.head(maps)
        anchors = self.anchor_generator(batch, maps)
        detections: list[Target] = []
        losses: dict[str, Tensor] = {}
        if self.training:
            losses = self._losses(scaled, outputs, anchors, maps)
        else:
            detections = self._detections(outputs, anchors, maps, batch.image_sizes)
            self.transform.postprocess(detections, batch.image_sizes, original_sizes)
        return self.eager_outputs(losses, detections)

    def _losses(
        self, targets: Any, outputs: Outputs, anchors: list[Tensor], maps: list[Tensor]
    ) -> dict[str, Tensor]:
        raise NotImplementedError

    def _detections(
        self,
        outputs: Outputs,
        anchors: list[Tensor],
        maps: list[Tensor],
        image_shapes: list[tuple[int, int]],
    ) -> list[Target]:
        raise NotImplementedError

    def _separate(self, boxes: Tensor, scores: Tensor, labels: Tensor) -> Target:
        """The best of the candidates of an image that do not overlap better ones of their class."""
        keep = box_ops.batched_nms(boxes, scores, labels, self.nms_thresh)
        keep = keep[: self.detections_per_img]
        return {"boxes": boxes[keep], "scores": scores[keep], "labels": labels[keep]}


class PyramidStage(SingleStage):
    """The same with scores of classes and one box for every anchor of a pyramid of features."""

    score_thresh: float
    topk_candidates: int

    def _scores(self, outputs: Outputs) -> Tensor:
        """The scores (anchors, classes) that outputs of one level stand for."""
        raise NotImplementedError

    def _boxes(self, regression: Tensor, anchors: Tensor) -> Tensor:
        """The boxes that outputs of some anchors stand for."""
        raise NotImplementedError

    def _detections(
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
        """Return what is found in each image, from the outputs and anchors of each level."""
        detections = []
        for i, (own, shape) in enumerate(zip(anchors, image_shapes, strict=True)):
            candidates = []
            for level, cells in enumerate(own):
                outputs = {name: values[level][i] for name, values in head_outputs.items()}
                scores = self._scores(outputs)
                values, place = best_of(scores.flatten(), self.score_thresh, self.topk_candidates)
                row = place // scores.shape[-1]
                boxes = self._boxes(outputs["bbox_regression"][row], cells[row])
                boxes = box_ops.clip_boxes_to_image(boxes, shape)
                candidates.append((boxes, values, place % scores.shape[-1]))
            parts = (fb.cat(each) for each in zip(*candidates, strict=True))
            detections.append(self._separate(*parts))
        return detections


def unmatched(anchors: Tensor) -> Tensor:
    """The matches of anchors in an image without objects."""
    return fb.full((len(anchors),), -1, dtype=fb.int64, device=anchors.device)


def matches_of(
    matcher: det_utils.Matcher, targets: Sequence[Target], anchors: Sequence[Tensor]
) -> list[Tensor]:
    """The row of each anchor's true box, by how much they overlap; negative if it has none."""
    return [
        unmatched(own)
        if target["boxes"].numel() == 0
        else matcher(box_ops.box_iou(target["boxes"], own))
        for target, own in zip(targets, anchors, strict=True)
    ]


def levels_of(maps: Sequence[Tensor], count: int) -> list[int]:
    """How many of all anchors belong to each feature map."""
    pixels = [feature.shape[2] * feature.shape[3] for feature in maps]
    return [each * (count // sum(pixels)) for each in pixels]


def best_of(scores: Tensor, threshold: float, most: int) -> tuple[Tensor, Tensor]:
    """The best elements of scores that exceed a threshold, and where they are."""
    likely = fb.where(scores > threshold)[0]
    values, order = scores[likely].topk(det_utils._topk_min(likely, most, 0))
    return values, likely[order]


def check_detector(backbone: nn.Module, anchor_generator: object, kind: type) -> None:
    """ValueError and TypeError for parts that do not fit together."""
    if not hasattr(backbone, "out_channels"):
        raise ValueError(
            "backbone should contain an attribute out_channels specifying the number of output "
            "channels (assumed to be the same for all the levels)"
        )
    if anchor_generator is not None and not isinstance(anchor_generator, kind):
        raise TypeError(
            f"anchor_generator should be of type {kind.__name__} or None instead of "
            f"{type(anchor_generator)}"
        )
