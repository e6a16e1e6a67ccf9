"""Matching of boxes, encoding of box differences, and sampling."""

from __future__ import annotations

import math
from collections.abc import Sequence

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.nn.functional import l1_loss, smooth_l1_loss
from flambeau.vision.ops.box_losses import (
    complete_box_iou_loss,
    distance_box_iou_loss,
    generalized_box_iou_loss,
)
from flambeau.vision.ops.boxes import box_convert
from flambeau.vision.ops.misc import FrozenBatchNorm2d

__all__ = [
    "BalancedPositiveNegativeSampler",
    "BoxCoder",
    "BoxLinearCoder",
    "Matcher",
    "SSDMatcher",
    "encode_boxes",
    "overwrite_eps",
    "retrieve_out_channels",
]


class BalancedPositiveNegativeSampler:
    """Draws rows for each image, a share of them positive (1 and above) if there are enough.

    Rows of 0 are negative, those below are never drawn.
    """

    def __init__(self, batch_size_per_image: int, positive_fraction: float) -> None:
        self.batch_size_per_image = batch_size_per_image
        self.positive_fraction = positive_fraction

    def __call__(self, matched_idxs: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        """Return masks of the positive and the negative rows that were drawn."""
        positives, negatives = [], []
        for labels in matched_idxs:
            wanted = int(self.batch_size_per_image * self.positive_fraction)
            chosen = self._draw(labels >= 1, wanted)
            positives.append(chosen)
            rest = self.batch_size_per_image - int(chosen.sum())
            negatives.append(self._draw(labels == 0, rest))
        return positives, negatives

    @staticmethod
    def _draw(candidates: Tensor, count: int) -> Tensor:
        rows = fb.where(candidates)[0]
        order = fb.randperm(rows.numel(), device=rows.device)[:count]
        mask = fb.zeros_like(candidates, dtype=fb.uint8)
        mask[rows[order]] = 1
        return mask


def encode_boxes(reference_boxes: Tensor, proposals: Tensor, weights: Tensor) -> Tensor:
    """Return boxes (N, 4) encoded relative to proposals: by shift and change of size.

    Shifts are in units of the proposal's size, sizes are logarithms; each is weighted.
    """
    given, wanted = (box_convert(each, "xyxy", "cxcywh") for each in (proposals, reference_boxes))
    move = (wanted[:, :2] - given[:, :2]) / given[:, 2:]
    grow = fb.log(wanted[:, 2:] / given[:, 2:])
    return fb.cat((move, grow), 1) * weights


class BoxCoder:
    """Encode boxes relative to others (https://arxiv.org/abs/1311.2524) and decode them."""

    def __init__(
        self,
        weights: tuple[float, float, float, float],
        bbox_xform_clip: float = math.log(1000.0 / 16),
    ) -> None:
        self.weights = weights
        self.bbox_xform_clip = bbox_xform_clip

    def encode(
        self, reference_boxes: Sequence[Tensor], proposals: Sequence[Tensor]
    ) -> tuple[Tensor, ...]:
        """Return each image's boxes encoded relative to its proposals."""
        together = self.encode_single(fb.cat(list(reference_boxes)), fb.cat(list(proposals)))
        return together.split([len(boxes) for boxes in reference_boxes])

    def encode_single(self, reference_boxes: Tensor, proposals: Tensor) -> Tensor:
        """Return boxes encoded relative to proposals, row by row."""
        weights = fb.as_tensor(
            self.weights, dtype=reference_boxes.dtype, device=reference_boxes.device
        )
        return encode_boxes(reference_boxes, proposals, weights)

    def decode(self, rel_codes: Tensor, boxes: Sequence[Tensor]) -> Tensor:
        """Return boxes (N, classes, 4) decoded from codes (N, 4 · classes) and boxes of images."""
        if not isinstance(boxes, list | tuple):
            raise AssertionError("This function expects boxes of type list or tuple.")
        together = fb.cat(list(boxes))
        if len(together) > 0:
            rel_codes = rel_codes.reshape(len(together), -1)
        result = self.decode_single(rel_codes, together)
        return result.reshape(len(together), -1, 4) if len(together) > 0 else result

    def decode_single(self, rel_codes: Tensor, boxes: Tensor) -> Tensor:
        """Return boxes (N, 4 · classes) decoded from codes (N, 4 · classes) and boxes (N, 4)."""
        boxes = boxes.to(rel_codes.dtype)
        size = boxes[:, None, 2:] - boxes[:, None, :2]
        middle = boxes[:, None, :2] + 0.5 * size
        weights = fb.as_tensor(self.weights, dtype=rel_codes.dtype, device=rel_codes.device)
        codes = rel_codes.reshape(len(rel_codes), rel_codes.shape[-1] // 4, 4) / weights
        # An untrained network may predict boxes that no float can hold.
        half = 0.5 * (codes[..., 2:].clamp(max=self.bbox_xform_clip).exp() * size)
        middle = codes[..., :2] * size + middle
        return fb.cat((middle - half, middle + half), -1).flatten(1)


class BoxLinearCoder:
    """Encode boxes as distances of their sides from the centres of others (arXiv:1904.01355)."""

    def __init__(self, normalize_by_size: bool = True) -> None:
        self.normalize_by_size = normalize_by_size

    def encode(self, reference_boxes: Tensor, proposals: Tensor) -> Tensor:
        """Return the distances to the left, top, right and bottom, in sizes of the proposals."""
        middle, size = self._middles(proposals.to(reference_boxes.dtype))
        codes = fb.cat((middle - reference_boxes[..., :2], reference_boxes[..., 2:] - middle), -1)
        return codes / size if self.normalize_by_size else codes

    def decode(self, rel_codes: Tensor, boxes: Tensor) -> Tensor:
        """Return the boxes with given distances."""
        middle, size = self._middles(boxes.to(rel_codes.dtype))
        codes = rel_codes * size if self.normalize_by_size else rel_codes
        return fb.cat((middle - codes[..., :2], middle + codes[..., 2:]), -1)

    @staticmethod
    def _middles(boxes: Tensor) -> tuple[Tensor, Tensor]:
        """Return the centres of boxes, and their sizes, twice."""
        first, second = boxes[..., :2], boxes[..., 2:]
        size = second - first
        return 0.5 * (first + second), fb.cat((size, size), -1)


class Matcher:
    """Match each prediction with the true box that it overlaps most, if it overlaps enough.

    The result is the index of that box, ``BELOW_LOW_THRESHOLD`` for background, or
    ``BETWEEN_THRESHOLDS`` for neither. With ``allow_low_quality_matches`` each true box
    also gets the predictions that overlap it most, however little.
    """

    BELOW_LOW_THRESHOLD = -1
    BETWEEN_THRESHOLDS = -2

    def __init__(
        self,
        high_threshold: float,
        low_threshold: float,
        allow_low_quality_matches: bool = False,
    ) -> None:
        if low_threshold > high_threshold:
            raise AssertionError("low_threshold should be <= high_threshold")
        self.high_threshold = high_threshold
        self.low_threshold = low_threshold
        self.allow_low_quality_matches = allow_low_quality_matches

    def __call__(self, match_quality_matrix: Tensor) -> Tensor:
        """Return the matches for overlaps (true boxes, predictions)."""
        if match_quality_matrix.numel() == 0:
            missing = "ground-truth" if match_quality_matrix.shape[0] == 0 else "proposal"
            raise ValueError(f"No {missing} boxes available for one of the images during training")
        quality, best = match_quality_matrix.max(dim=0)
        low = quality < self.low_threshold
        between = (quality >= self.low_threshold) & (quality < self.high_threshold)
        matches = best.masked_fill(low, self.BELOW_LOW_THRESHOLD)
        matches.masked_fill_(between, self.BETWEEN_THRESHOLDS)
        if self.allow_low_quality_matches:
            self.set_low_quality_matches_(matches, best, match_quality_matrix)
        return matches

    def set_low_quality_matches_(
        self, matches: Tensor, all_matches: Tensor, match_quality_matrix: Tensor
    ) -> None:
        """Restore the match of predictions that have the highest overlap with some box."""
        most = match_quality_matrix.amax(dim=1, keepdim=True)
        needed = (match_quality_matrix == most).any(dim=0)
        matches[needed] = all_matches[needed]


class SSDMatcher(Matcher):
    """Matcher where each true box also gets the one prediction that overlaps it most."""

    def __init__(self, threshold: float) -> None:
        super().__init__(threshold, threshold, allow_low_quality_matches=False)

    def __call__(self, match_quality_matrix: Tensor) -> Tensor:
        matches = super().__call__(match_quality_matrix)
        best = match_quality_matrix.argmax(dim=1)
        matches[best] = fb.arange(len(best), dtype=fb.int64, device=best.device)
        return matches


def overwrite_eps(model: nn.Module, eps: float) -> None:
    """Set eps of all frozen batch normalisation: some published weights had none."""
    for module in model.modules():
        if isinstance(module, FrozenBatchNorm2d):
            module.eps = eps


def retrieve_out_channels(model: nn.Module, size: tuple[int, int]) -> list[int]:
    """Return the channels of each feature map of a backbone, found by a run on (width, height)."""
    was_training = model.training
    model.eval()
    try:
        with fb.no_grad():
            like = next(model.parameters(), fb.empty(0))
            image = fb.zeros((1, 3, size[1], size[0]), dtype=like.dtype, device=like.device)
            features = model(image)
    finally:
        model.train(was_training)
    maps = [features] if isinstance(features, Tensor) else list(features.values())
    return [each.shape[1] for each in maps]


def _topk_min(input: Tensor, orig_kval: int, axis: int) -> int:
    """Return the requested number, or as many as there are."""
    return min(orig_kval, input.shape[axis])


_OVERLAP_LOSSES = {
    "ciou": complete_box_iou_loss,
    "diou": distance_box_iou_loss,
    "giou": generalized_box_iou_loss,
}


def _box_loss(
    type: str,
    box_coder: BoxCoder,
    anchors_per_image: Tensor,
    matched_gt_boxes_per_image: Tensor,
    bbox_regression_per_image: Tensor,
    cnf: dict[str, float] | None = None,
) -> Tensor:
    """The loss of predicted boxes, by their codes or by their overlap."""
    options = cnf or {}
    if type in ("l1", "smooth_l1"):
        wanted = box_coder.encode_single(matched_gt_boxes_per_image, anchors_per_image)
        if type == "l1":
            return l1_loss(bbox_regression_per_image, wanted, reduction="sum")
        beta = options.get("beta", 1.0)
        return smooth_l1_loss(bbox_regression_per_image, wanted, reduction="sum", beta=beta)
    if type not in _OVERLAP_LOSSES:
        raise AssertionError(f"Unsupported loss: {type}")
    boxes = box_coder.decode_single(bbox_regression_per_image, anchors_per_image)
    return _OVERLAP_LOSSES[type](
        boxes, matched_gt_boxes_per_image, reduction="sum", eps=options.get("eps", 1e-7)
    )
