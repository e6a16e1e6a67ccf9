"""The region proposal network (https://arxiv.org/abs/1506.01497)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.nn.functional import binary_cross_entropy_with_logits, smooth_l1_loss
from flambeau.vision.models.detection import _utils as det_utils
from flambeau.vision.models.detection._heads import draw_normal, rename
from flambeau.vision.models.detection._targets import Target
from flambeau.vision.models.detection.anchor_utils import AnchorGenerator
from flambeau.vision.models.detection.image_list import ImageList
from flambeau.vision.ops import boxes as box_ops
from flambeau.vision.ops.misc import Conv2dNormActivation

__all__ = [
    "RPNHead",
    "RegionProposalNetwork",
    "concat_box_prediction_layers",
    "permute_and_flatten",
]


class RPNHead(nn.Module):
    """Predict the objectness and the box of every anchor of every feature map."""

    _version = 2

    def __init__(self, in_channels: int, num_anchors: int, conv_depth: int = 1) -> None:
        super().__init__()
        self.conv: nn.Sequential = nn.Sequential(
            *(
                Conv2dNormActivation(in_channels, in_channels, kernel_size=3, norm_layer=None)
                for _ in range(conv_depth)
            )
        )
        self.cls_logits: nn.Conv2d = nn.Conv2d(in_channels, num_anchors, kernel_size=1)
        self.bbox_pred: nn.Conv2d = nn.Conv2d(in_channels, num_anchors * 4, kernel_size=1)
        draw_normal(self)

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], *args: Any
    ) -> None:
        if local_metadata.get("version", 1) < 2:  # from when there was a single convolution
            rename(state_dict, prefix, {"conv": "conv.0.0"})
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)

    def forward(self, x: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        features = [self.conv(feature) for feature in x]
        return (
            [self.cls_logits(feature) for feature in features],
            [self.bbox_pred(feature) for feature in features],
        )


def permute_and_flatten(layer: Tensor, N: int, A: int, C: int, H: int, W: int) -> Tensor:
    """Return (N, A · C, H, W) as (N, H · W · A, C)."""
    return layer.view(N, -1, C, H, W).permute(0, 3, 4, 1, 2).reshape(N, -1, C)


def concat_box_prediction_layers(
    box_cls: Sequence[Tensor], box_regression: Sequence[Tensor]
) -> tuple[Tensor, Tensor]:
    """Return the scores and the boxes of all maps as rows, in the order of the anchors."""
    flat: tuple[list[Tensor], list[Tensor]] = [], []
    for scores, boxes in zip(box_cls, box_regression, strict=True):
        batch, _, height, width = scores.shape
        anchors = boxes.shape[1] // 4
        classes = scores.shape[1] // anchors
        flat[0].append(permute_and_flatten(scores, batch, anchors, classes, height, width))
        flat[1].append(permute_and_flatten(boxes, batch, anchors, 4, height, width))
    return fb.cat(flat[0], 1).flatten(0, -2), fb.cat(flat[1], 1).reshape(-1, 4)


class RegionProposalNetwork(nn.Module):
    """Proposes boxes that may contain an object.

    Anchors that overlap a true box by ``fg_iou_thresh`` are positive, those below
    ``bg_iou_thresh`` are background. Of the best ``pre_nms_top_n`` of each map, those that overlap
    a better one by ``nms_thresh`` are dropped, and the best ``post_nms_top_n`` are proposed; both
    are dictionaries with a number for "training" and one for "testing".
    """

    def __init__(
        self,
        anchor_generator: AnchorGenerator,
        head: nn.Module,
        fg_iou_thresh: float,
        bg_iou_thresh: float,
        batch_size_per_image: int,
        positive_fraction: float,
        pre_nms_top_n: dict[str, int],
        post_nms_top_n: dict[str, int],
        nms_thresh: float,
        score_thresh: float = 0.0,
    ) -> None:
        super().__init__()
        self.anchor_generator = anchor_generator
        self.head = head
        self.box_coder: det_utils.BoxCoder = det_utils.BoxCoder(weights=(1.0, 1.0, 1.0, 1.0))
        self.box_similarity = box_ops.box_iou
        self.proposal_matcher: det_utils.Matcher = det_utils.Matcher(
            fg_iou_thresh, bg_iou_thresh, allow_low_quality_matches=True
        )
        self.fg_bg_sampler: det_utils.BalancedPositiveNegativeSampler = (
            det_utils.BalancedPositiveNegativeSampler(batch_size_per_image, positive_fraction)
        )
        self._pre_nms_top_n = pre_nms_top_n
        self._post_nms_top_n = post_nms_top_n
        self.nms_thresh = nms_thresh
        self.score_thresh = score_thresh
        self.min_size: float = 1e-3

    def pre_nms_top_n(self) -> int:
        """Return how many boxes of each map are considered."""
        return self._pre_nms_top_n["training" if self.training else "testing"]

    def post_nms_top_n(self) -> int:
        """Return the largest number of proposals."""
        return self._post_nms_top_n["training" if self.training else "testing"]

    def assign_targets_to_anchors(
        self, anchors: Sequence[Tensor], targets: Sequence[Target]
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Return for each anchor 1, 0 for background, -1 for neither; and its true box."""
        labels, matched = [], []
        for own, target in zip(anchors, targets, strict=True):
            boxes = target["boxes"]
            if boxes.numel() == 0:
                labels.append(fb.zeros((len(own),), dtype=fb.float32, device=own.device))
                matched.append(fb.zeros_like(own))
                continue
            matches = self.proposal_matcher(self.box_similarity(boxes, own))
            label = (matches >= 0).float()
            label[matches == self.proposal_matcher.BETWEEN_THRESHOLDS] = -1.0
            labels.append(label)
            matched.append(boxes[matches.clamp(min=0)])
        return labels, matched

    def _get_top_n_idx(self, objectness: Tensor, num_anchors_per_level: Sequence[int]) -> Tensor:
        """Return the best anchors (N, K) of each map, one map after the other."""
        chosen, offset = [], 0
        for scores in objectness.split(list(num_anchors_per_level), 1):
            count = det_utils._topk_min(scores, self.pre_nms_top_n(), 1)
            chosen.append(scores.topk(count, dim=1)[1] + offset)
            offset += scores.shape[1]
        return fb.cat(chosen, dim=1)

    def filter_proposals(
        self,
        proposals: Tensor,
        objectness: Tensor,
        image_shapes: Sequence[tuple[int, int]],
        num_anchors_per_level: Sequence[int],
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Return the proposals of each image, best first, and their scores."""
        images, device = len(proposals), proposals.device
        # Detached, like any other boxes: no gradient flows back through them.
        objectness = objectness.detach().reshape(images, -1)
        levels = fb.cat(
            [
                fb.full((count,), level, dtype=fb.int64, device=device)
                for level, count in enumerate(num_anchors_per_level)
            ]
        )
        levels = levels.reshape(1, -1).expand_as(objectness)
        top = self._get_top_n_idx(objectness, num_anchors_per_level)
        rows = fb.arange(images, device=device)[:, None]
        scores = objectness[rows, top].sigmoid()
        kept_boxes, kept_scores = [], []
        for boxes, score, level, shape in zip(
            proposals[rows, top], scores, levels[rows, top], image_shapes, strict=True
        ):
            boxes = box_ops.clip_boxes_to_image(boxes, shape)
            large = box_ops.remove_small_boxes(boxes, self.min_size)
            boxes, score, level = boxes[large], score[large], level[large]
            likely = fb.where(score >= self.score_thresh)[0]
            boxes, score, level = boxes[likely], score[likely], level[likely]
            keep = box_ops.batched_nms(boxes, score, level, self.nms_thresh)
            keep = keep[: self.post_nms_top_n()]
            kept_boxes.append(boxes[keep])
            kept_scores.append(score[keep])
        return kept_boxes, kept_scores

    def compute_loss(
        self,
        objectness: Tensor,
        pred_bbox_deltas: Tensor,
        labels: Sequence[Tensor],
        regression_targets: Sequence[Tensor],
    ) -> tuple[Tensor, Tensor]:
        """Return the losses of objectness and boxes, over a sample of the anchors."""
        masks = self.fg_bg_sampler(labels)
        positive, negative = (fb.where(fb.cat(mask))[0] for mask in masks)
        sampled = fb.cat((positive, negative))
        truth = fb.cat(list(labels))
        box_loss = (
            smooth_l1_loss(
                pred_bbox_deltas[positive],
                fb.cat(list(regression_targets))[positive],
                beta=1 / 9,
                reduction="sum",
            )
            / sampled.numel()
        )
        scores = objectness.flatten()[sampled]
        return binary_cross_entropy_with_logits(scores, truth[sampled]), box_loss

    def forward(
        self,
        images: ImageList,
        features: Mapping[str, Tensor],
        targets: Sequence[Target] | None = None,
    ) -> tuple[list[Tensor], dict[str, Tensor]]:
        maps = list(features.values())
        objectness, deltas = self.head(maps)
        anchors = self.anchor_generator(images, maps)
        per_level = [each[0].numel() for each in objectness]
        objectness, deltas = concat_box_prediction_layers(objectness, deltas)
        # Proposals are decoded without gradient: the boxes learn from the losses below.
        proposals = self.box_coder.decode(deltas.detach(), anchors).view(len(anchors), -1, 4)
        boxes, _ = self.filter_proposals(proposals, objectness, images.image_sizes, per_level)
        if not self.training:
            return boxes, {}
        if targets is None:
            raise ValueError("targets must not be None in training")
        labels, matched = self.assign_targets_to_anchors(anchors, targets)
        wanted = self.box_coder.encode(matched, anchors)
        objectness_loss, box_loss = self.compute_loss(objectness, deltas, labels, wanted)
        return boxes, {"loss_objectness": objectness_loss, "loss_rpn_box_reg": box_loss}
