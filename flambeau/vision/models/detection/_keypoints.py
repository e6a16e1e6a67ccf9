"""Keypoints as maxima of heatmaps (https://arxiv.org/abs/1703.06870)."""

from __future__ import annotations

from collections.abc import Sequence

import flambeau as fb
from flambeau import Tensor
from flambeau.nn.functional import cross_entropy, interpolate

__all__ = [
    "heatmaps_to_keypoints",
    "keypointrcnn_inference",
    "keypointrcnn_loss",
    "keypoints_to_heatmap",
]


def keypoints_to_heatmap(
    keypoints: Tensor, rois: Tensor, heatmap_size: int
) -> tuple[Tensor, Tensor]:
    """Return the heatmap pixel (N, K) of each point (N, K, 3) in its region.

    The second result is 1 for points that are visible and inside of their region.
    """
    corner, size = rois[:, None, :2], rois[:, None, 2:] - rois[:, None, :2]
    points = keypoints[..., :2]
    pixels = ((points - corner) * (heatmap_size / size)).floor().to(fb.int64)
    # A point on the right or lower edge of a region belongs to its last pixel.
    on_edge = points == rois[:, None, 2:]
    pixels = pixels.masked_fill(on_edge, heatmap_size - 1)
    inside = ((pixels >= 0) & (pixels < heatmap_size)).all(-1)
    valid = (inside & (keypoints[..., 2] > 0)).long()
    return (pixels[..., 1] * heatmap_size + pixels[..., 0]) * valid, valid


def heatmaps_to_keypoints(maps: Tensor, rois: Tensor) -> tuple[Tensor, Tensor]:
    """Return the points (N, K, 3) of images at the maxima of heatmaps, and their scores (N, K)."""
    corners = rois[:, :2]
    sizes = (rois[:, 2:] - corners).clamp(min=1)
    count, kinds = maps.shape[:2]
    points = fb.ones((count, kinds, 3), dtype=fb.float32, device=maps.device)
    scores = fb.zeros((count, kinds), dtype=fb.float32, device=maps.device)
    for i, (corner, size) in enumerate(zip(corners, sizes, strict=True)):
        width, height = (int(side) for side in size.ceil().tolist())
        scaled = interpolate(maps[i][None], size=(height, width), mode="bicubic")[0].flatten(1)
        scores[i], place = scaled.max(dim=1)
        across, down = (place % width + 0.5), (place // width + 0.5)
        correction = size / fb.tensor([width, height], device=size.device)
        points[i, :, :2] = fb.stack((across, down), 1) * correction + corner
    return points, scores


def keypointrcnn_loss(
    keypoint_logits: Tensor,
    proposals: Sequence[Tensor],
    gt_keypoints: Sequence[Tensor],
    keypoint_matched_idxs: Sequence[Tensor],
) -> Tensor:
    """Return the heatmap loss of the visible points."""
    count, kinds, size, width = keypoint_logits.shape
    if size != width:
        raise ValueError(
            f"keypoint_logits should be square, got a height of {size} and a width of {width}"
        )
    pairs = [
        keypoints_to_heatmap(points[i], boxes, size)
        for boxes, points, i in zip(proposals, gt_keypoints, keypoint_matched_idxs, strict=True)
    ]
    targets = fb.cat([places.flatten() for places, _ in pairs])
    visible = fb.where(fb.cat([valid.flatten() for _, valid in pairs]))[0]
    if keypoint_logits.numel() == 0 or len(visible) == 0:  # no mean, but connected to the weights
        return keypoint_logits.sum() * 0
    logits = keypoint_logits.view(count * kinds, size * size)
    return cross_entropy(logits[visible], targets[visible])


def keypointrcnn_inference(x: Tensor, boxes: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """Return the keypoints of each image's boxes, and their scores."""
    points, scores = [], []
    for maps, own in zip(x.split([len(each) for each in boxes]), boxes, strict=True):
        places, heat = heatmaps_to_keypoints(maps, own)
        points.append(places)
        scores.append(heat)
    return points, scores
