"""Masks of regions (https://arxiv.org/abs/1703.06870): their loss, and pasting into images."""

from __future__ import annotations

from collections.abc import Sequence

import flambeau as fb
from flambeau import Tensor
from flambeau.nn.functional import binary_cross_entropy_with_logits, interpolate, pad
from flambeau.vision.ops.roi_align import roi_align

__all__ = [
    "expand_boxes",
    "expand_masks",
    "maskrcnn_inference",
    "maskrcnn_loss",
    "paste_mask_in_image",
    "paste_masks_in_image",
    "project_masks_on_boxes",
]


def maskrcnn_inference(x: Tensor, labels: Sequence[Tensor]) -> list[Tensor]:
    """Return for each image the mask probabilities (N, 1, M, M) of each box's class."""
    classes = fb.cat(list(labels))
    rows = fb.arange(len(x), device=classes.device)
    masks = x.sigmoid()[rows, classes][:, None]
    return list(masks.split([len(each) for each in labels]))


def project_masks_on_boxes(gt_masks: Tensor, boxes: Tensor, matched_idxs: Tensor, M: int) -> Tensor:
    """Return the true masks (N, M, M) cropped to boxes, each of its matched object."""
    rows = fb.cat((matched_idxs[:, None].to(boxes), boxes), dim=1)
    return roi_align(gt_masks[:, None].to(rows), rows, (M, M), 1.0)[:, 0]


def maskrcnn_loss(
    mask_logits: Tensor,
    proposals: Sequence[Tensor],
    gt_masks: Sequence[Tensor],
    gt_labels: Sequence[Tensor],
    mask_matched_idxs: Sequence[Tensor],
) -> Tensor:
    """Return the mask loss of each region's true class."""
    size = mask_logits.shape[-1]
    labels = fb.cat([own[i] for own, i in zip(gt_labels, mask_matched_idxs, strict=True)])
    targets = fb.cat(
        [
            project_masks_on_boxes(masks, boxes, i, size)
            for masks, boxes, i in zip(gt_masks, proposals, mask_matched_idxs, strict=True)
        ]
    )
    if targets.numel() == 0:  # no mean, but connected to the weights
        return mask_logits.sum() * 0
    rows = fb.arange(len(labels), device=labels.device)
    return binary_cross_entropy_with_logits(mask_logits[rows, labels], targets)


def expand_boxes(boxes: Tensor, scale: float) -> Tensor:
    """Return boxes (N, 4) enlarged about their centres."""
    middle = (boxes[:, 2:] + boxes[:, :2]) * 0.5
    half = (boxes[:, 2:] - boxes[:, :2]) * 0.5 * scale
    return fb.cat((middle - half, middle + half), 1)


def expand_masks(mask: Tensor, padding: int) -> tuple[Tensor, float]:
    """Return masks padded with empty pixels, and the factor by which they grew."""
    size = mask.shape[-1]
    return pad(mask, (padding,) * 4), float(size + 2 * padding) / size


def paste_mask_in_image(mask: Tensor, box: Tensor, im_h: int, im_w: int) -> Tensor:
    """Return an image with a mask pasted into a box of whole pixels, and zeros elsewhere."""
    left, top, right, bottom = (int(side) for side in box.tolist())
    width, height = max(right - left + 1, 1), max(bottom - top + 1, 1)
    scaled = interpolate(
        mask[None, None], size=(height, width), mode="bilinear", align_corners=False
    )
    image = fb.zeros((im_h, im_w), dtype=mask.dtype, device=mask.device)
    x, y = max(left, 0), max(top, 0)
    x_end, y_end = min(right + 1, im_w), min(bottom + 1, im_h)
    if x < x_end and y < y_end:
        image[y:y_end, x:x_end] = scaled[0, 0, y - top : y_end - top, x - left : x_end - left]
    return image


def paste_masks_in_image(
    masks: Tensor, boxes: Tensor, img_shape: Sequence[int], padding: int = 1
) -> Tensor:
    """Return images (N, 1, H, W) with a mask (1, M, M) pasted into each box."""
    # The empty border lets a mask fade out where image pixels are larger than mask pixels.
    masks, scale = expand_masks(masks, padding)
    whole = expand_boxes(boxes, scale).to(fb.int64)
    height, width = img_shape
    images = [
        paste_mask_in_image(mask[0], box, height, width)
        for mask, box in zip(masks, whole, strict=True)
    ]
    return fb.stack(images)[:, None] if images else masks.new_empty((0, 1, height, width))
