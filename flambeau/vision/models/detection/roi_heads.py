"""Heads for proposed regions: classes, boxes, masks and keypoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.nn.functional import cross_entropy, smooth_l1_loss
from flambeau.vision.models.detection import _utils as det_utils
from flambeau.vision.models.detection._keypoints import (
    heatmaps_to_keypoints as heatmaps_to_keypoints,
)
from flambeau.vision.models.detection._keypoints import (
    keypointrcnn_inference,
    keypointrcnn_loss,
)
from flambeau.vision.models.detection._keypoints import keypoints_to_heatmap as keypoints_to_heatmap
from flambeau.vision.models.detection._masks import expand_boxes as expand_boxes
from flambeau.vision.models.detection._masks import expand_masks as expand_masks
from flambeau.vision.models.detection._masks import maskrcnn_inference, maskrcnn_loss
from flambeau.vision.models.detection._masks import paste_mask_in_image as paste_mask_in_image
from flambeau.vision.models.detection._masks import paste_masks_in_image as paste_masks_in_image
from flambeau.vision.models.detection._masks import project_masks_on_boxes as project_masks_on_boxes
from flambeau.vision.models.detection._targets import Target
from flambeau.vision.ops import boxes as box_ops

__all__ = ["RoIHeads", "fastrcnn_loss"]

_Losses = dict[str, Tensor]
_FLOATS = (fb.float32, fb.float64, fb.float16)


def fastrcnn_loss(
    class_logits: Tensor,
    box_regression: Tensor,
    labels: Sequence[Tensor],
    regression_targets: Sequence[Tensor],
) -> tuple[Tensor, Tensor]:
    """Return the class loss, and the box loss of each object's true class."""
    classes, wanted = fb.cat(list(labels)), fb.cat(list(regression_targets))
    objects = fb.where(classes > 0)[0]
    boxes = box_regression.reshape(len(box_regression), -1, 4)[objects, classes[objects]]
    box_loss = smooth_l1_loss(boxes, wanted[objects], beta=1 / 9, reduction="sum")
    return cross_entropy(class_logits, classes), box_loss / classes.numel()


class RoIHeads(nn.Module):
    """Processes proposed regions, and trains on a sample of them.

    In training, proposals that overlap a true box by ``fg_iou_thresh`` get its class, and a fixed
    number is sampled for each image. In evaluation, those with a score above ``score_thresh`` are
    detections, except those that overlap a better one by ``nms_thresh``. The components for masks
    and keypoints are optional.
    """

    def __init__(
        self,
        box_roi_pool: nn.Module,
        box_head: nn.Module,
        box_predictor: nn.Module,
        fg_iou_thresh: float,
        bg_iou_thresh: float,
        batch_size_per_image: int,
        positive_fraction: float,
        bbox_reg_weights: tuple[float, float, float, float] | None,
        score_thresh: float,
        nms_thresh: float,
        detections_per_img: int,
        mask_roi_pool: Any = None,
        mask_head: Any = None,
        mask_predictor: Any = None,
        keypoint_roi_pool: Any = None,
        keypoint_head: Any = None,
        keypoint_predictor: Any = None,
    ) -> None:
        super().__init__()
        self.box_similarity = box_ops.box_iou
        self.proposal_matcher: det_utils.Matcher = det_utils.Matcher(fg_iou_thresh, bg_iou_thresh)
        self.fg_bg_sampler: det_utils.BalancedPositiveNegativeSampler = (
            det_utils.BalancedPositiveNegativeSampler(batch_size_per_image, positive_fraction)
        )
        self.box_coder: det_utils.BoxCoder = det_utils.BoxCoder(
            bbox_reg_weights or (10.0, 10.0, 5.0, 5.0)
        )
        self.box_roi_pool = box_roi_pool
        self.box_head = box_head
        self.box_predictor = box_predictor
        self.score_thresh = score_thresh
        self.nms_thresh = nms_thresh
        self.detections_per_img = detections_per_img
        self.mask_roi_pool = mask_roi_pool
        self.mask_head = mask_head
        self.mask_predictor = mask_predictor
        self.keypoint_roi_pool = keypoint_roi_pool
        self.keypoint_head = keypoint_head
        self.keypoint_predictor = keypoint_predictor

    def has_mask(self) -> bool:
        """Return whether all components for masks are there."""
        return None not in (self.mask_roi_pool, self.mask_head, self.mask_predictor)

    def has_keypoint(self) -> bool:
        """Return whether all components for keypoints are there."""
        parts = (self.keypoint_roi_pool, self.keypoint_head, self.keypoint_predictor)
        return None not in parts

    # --- training: sampled proposals and their targets

    def assign_targets_to_proposals(
        self,
        proposals: Sequence[Tensor],
        gt_boxes: Sequence[Tensor],
        gt_labels: Sequence[Tensor],
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Return the index of each proposal's true box, and its class: 0 background, -1 neither."""
        matched, labels = [], []
        for own, boxes, classes in zip(proposals, gt_boxes, gt_labels, strict=True):
            if boxes.numel() == 0:
                nothing = fb.zeros((len(own),), dtype=fb.int64, device=own.device)
                matched.append(nothing)
                labels.append(nothing.clone())
                continue
            matches = self.proposal_matcher(self.box_similarity(boxes, own))
            row = matches.clamp(min=0)
            label = classes[row].to(fb.int64)
            label[matches == self.proposal_matcher.BELOW_LOW_THRESHOLD] = 0
            label[matches == self.proposal_matcher.BETWEEN_THRESHOLDS] = -1
            matched.append(row)
            labels.append(label)
        return matched, labels

    def subsample(self, labels: Sequence[Tensor]) -> list[Tensor]:
        """Return the indices of each image's sampled proposals."""
        masks = self.fg_bg_sampler(labels)
        return [fb.where(pos | neg)[0] for pos, neg in zip(*masks, strict=True)]

    def add_gt_proposals(
        self, proposals: Sequence[Tensor], gt_boxes: Sequence[Tensor]
    ) -> list[Tensor]:
        """Return the proposals of each image, followed by its true boxes."""
        return [fb.cat(pair) for pair in zip(proposals, gt_boxes, strict=True)]

    def check_targets(self, targets: Sequence[Target] | None) -> None:
        """Raise ValueError for targets without boxes, labels or masks."""
        if targets is None:
            raise ValueError("targets must not be None in training")
        needed = ["boxes", "labels"] + (["masks"] if self.has_mask() else [])
        for name in needed:
            if not all(name in target for target in targets):
                raise ValueError(f"targets must have the key {name!r} for every image")

    def select_training_samples(
        self, proposals: Sequence[Tensor], targets: Sequence[Target] | None
    ) -> tuple[list[Tensor], list[Tensor], list[Tensor], tuple[Tensor, ...]]:
        """Return sampled proposals, indices of their true boxes, their classes and codes."""
        self.check_targets(targets)
        assert targets is not None
        dtype = proposals[0].dtype
        gt_boxes = [target["boxes"].to(dtype) for target in targets]
        gt_labels = [target["labels"] for target in targets]
        candidates = self.add_gt_proposals(proposals, gt_boxes)
        matched, labels = self.assign_targets_to_proposals(candidates, gt_boxes, gt_labels)
        wanted = []
        for i, chosen in enumerate(self.subsample(labels)):
            candidates[i] = candidates[i][chosen]
            labels[i] = labels[i][chosen]
            matched[i] = matched[i][chosen]
            # An image without objects gets a dummy box, which no loss uses.
            boxes = gt_boxes[i] if gt_boxes[i].numel() > 0 else candidates[i].new_zeros((1, 4))
            wanted.append(boxes[matched[i]])
        return candidates, matched, labels, self.box_coder.encode(wanted, candidates)

    # --- inference

    def postprocess_detections(
        self,
        class_logits: Tensor,
        box_regression: Tensor,
        proposals: Sequence[Tensor],
        image_shapes: Sequence[tuple[int, int]],
    ) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        """Return the boxes, scores and classes detected in each image, best first."""
        counts = [len(boxes) for boxes in proposals]
        boxes_of = self.box_coder.decode(box_regression, proposals).split(counts)
        scores_of = class_logits.softmax(-1).split(counts)
        found: tuple[list[Tensor], list[Tensor], list[Tensor]] = [], [], []
        for boxes, scores, shape in zip(boxes_of, scores_of, image_shapes, strict=True):
            boxes = box_ops.clip_boxes_to_image(boxes, shape)
            labels = fb.arange(scores.shape[-1], device=scores.device).expand_as(scores)
            # Every class except the background has a box of its own.
            boxes = boxes[:, 1:].reshape(-1, 4)
            scores, labels = scores[:, 1:].flatten(), labels[:, 1:].flatten()
            likely = fb.where(scores > self.score_thresh)[0]
            boxes, scores, labels = boxes[likely], scores[likely], labels[likely]
            large = box_ops.remove_small_boxes(boxes, min_size=1e-2)
            boxes, scores, labels = boxes[large], scores[large], labels[large]
            keep = box_ops.batched_nms(boxes, scores, labels, self.nms_thresh)
            keep = keep[: self.detections_per_img]
            for results, own in zip(found, (boxes, scores, labels), strict=True):
                results.append(own[keep])
        return found

    # --- both

    def forward(
        self,
        features: Mapping[str, Tensor],
        proposals: Sequence[Tensor],
        image_shapes: Sequence[tuple[int, int]],
        targets: Sequence[Target] | None = None,
    ) -> tuple[list[Target], _Losses]:
        self._fb_check_types(targets)
        result: list[Target] = []
        losses: _Losses = {}
        matched: list[Tensor] = []
        labels: list[Tensor] = []
        wanted: Sequence[Tensor] = []
        if self.training:
            proposals, matched, labels, wanted = self.select_training_samples(proposals, targets)
        seen = self.box_head(self.box_roi_pool(features, proposals, image_shapes))
        class_logits, box_regression = self.box_predictor(seen)
        if self.training:
            class_loss, box_loss = fastrcnn_loss(class_logits, box_regression, labels, wanted)
            losses = {"loss_classifier": class_loss, "loss_box_reg": box_loss}
        else:
            found = self.postprocess_detections(
                class_logits, box_regression, proposals, image_shapes
            )
            names = ("boxes", "labels", "scores")
            in_order = (found[0], found[2], found[1])
            result = [dict(zip(names, own, strict=True)) for own in zip(*in_order, strict=True)]
        if not (self.has_mask() or self.has_keypoint()):
            return result, losses
        # Masks and keypoints are trained on the positive proposals.
        rows: list[Tensor] = []
        if self.training:
            objects = [fb.where(label > 0)[0] for label in labels]
            regions = [boxes[chosen] for boxes, chosen in zip(proposals, objects, strict=True)]
            rows = [row[chosen] for row, chosen in zip(matched, objects, strict=True)]
        else:
            regions = [own["boxes"] for own in result]
        if self.has_mask():
            losses.update(self._fb_masks(features, regions, image_shapes, result, rows, targets))
        if self.has_keypoint():
            losses.update(
                self._fb_keypoints(features, regions, image_shapes, result, rows, targets)
            )
        return result, losses

    def _fb_masks(
        self,
        features: Mapping[str, Tensor],
        regions: list[Tensor],
        shapes: Sequence[tuple[int, int]],
        result: list[Target],
        rows: list[Tensor],
        targets: Any,
    ) -> _Losses:
        """Add masks to the result, or return their loss."""
        logits = self.mask_predictor(self.mask_head(self.mask_roi_pool(features, regions, shapes)))
        if self.training:
            masks, labels = ([target[name] for target in targets] for name in ("masks", "labels"))
            return {"loss_mask": maskrcnn_loss(logits, regions, masks, labels, rows)}
        found = maskrcnn_inference(logits, [own["labels"] for own in result])
        for own, mask in zip(result, found, strict=True):
            own["masks"] = mask
        return {}

    def _fb_keypoints(
        self,
        features: Mapping[str, Tensor],
        regions: list[Tensor],
        shapes: Sequence[tuple[int, int]],
        result: list[Target],
        rows: list[Tensor],
        targets: Any,
    ) -> _Losses:
        """Add keypoints to the result, or return their loss."""
        seen = self.keypoint_head(self.keypoint_roi_pool(features, regions, shapes))
        logits = self.keypoint_predictor(seen)
        if self.training:
            truth = [target["keypoints"] for target in targets]
            return {"loss_keypoint": keypointrcnn_loss(logits, regions, truth, rows)}
        points = keypointrcnn_inference(logits, regions)
        for own, places, scores in zip(result, *points, strict=True):
            own["keypoints"] = places
            own["keypoints_scores"] = scores
        return {}

    def _fb_check_types(self, targets: Sequence[Target] | None) -> None:
        allowed = {"boxes": _FLOATS, "labels": (fb.int64,)}
        if self.has_keypoint():
            allowed["keypoints"] = (fb.float32,)
        for index, target in enumerate(targets or ()):
            for name, dtypes in allowed.items():
                if target[name].dtype not in dtypes:
                    raise TypeError(
                        f"targets[{index}]['{name}'] must be of dtype "
                        f"{' or '.join(map(str, dtypes))}, got {target[name].dtype}"
                    )
