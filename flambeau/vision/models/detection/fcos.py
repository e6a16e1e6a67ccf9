"""FCOS (https://arxiv.org/abs/1904.01355)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.nn.functional import binary_cross_entropy_with_logits
from flambeau.vision.models._api import builder
from flambeau.vision.models._weights import weights_of
from flambeau.vision.models.detection import _utils as det_utils
from flambeau.vision.models.detection._heads import draw_normal
from flambeau.vision.models.detection._parts import check_backbone, check_kind
from flambeau.vision.models.detection._published import COCO_CLASSES, resnet50_fpn
from flambeau.vision.models.detection._single_stage import (
    Outputs,
    PyramidStage,
    levels_of,
    unmatched,
)
from flambeau.vision.models.detection._targets import Target
from flambeau.vision.models.detection.anchor_utils import AnchorGenerator
from flambeau.vision.models.detection.rpn import permute_and_flatten
from flambeau.vision.models.detection.transform import GeneralizedRCNNTransform
from flambeau.vision.models.resnet import ResNet50_Weights
from flambeau.vision.ops.box_losses import generalized_box_iou_loss
from flambeau.vision.ops.boxes import box_area
from flambeau.vision.ops.feature_pyramid_network import LastLevelP6P7
from flambeau.vision.ops.focal_loss import sigmoid_focal_loss

__all__ = ["FCOS", "FCOS_ResNet50_FPN_Weights", "fcos_resnet50_fpn"]

FCOS_ResNet50_FPN_Weights: Any = weights_of("fcos_resnet50_fpn", "detection")

_Norm = Callable[..., nn.Module]


def _rows(layer: Tensor, anchors: int) -> Tensor:
    """Return a layer's predictions for each anchor, (N, anchors, columns)."""
    batch, channels, height, width = layer.shape
    return permute_and_flatten(layer, batch, anchors, channels // anchors, height, width)


def _convolutions(channels: int, count: int, norm_layer: _Norm | None) -> nn.Sequential:
    norm = norm_layer or partial(nn.GroupNorm, 32)
    layers: list[nn.Module] = []
    for _ in range(count):
        layers += [nn.Conv2d(channels, channels, 3, padding=1), norm(channels), nn.ReLU()]
    return nn.Sequential(*layers)


class FCOSClassificationHead(nn.Module):
    """Predict the scores of classes."""

    def __init__(
        self,
        in_channels: int,
        num_anchors: int,
        num_classes: int,
        num_convs: int = 4,
        prior_probability: float = 0.01,
        norm_layer: _Norm | None = None,
    ) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.num_anchors = num_anchors
        self.conv: nn.Sequential = _convolutions(in_channels, num_convs, norm_layer)
        draw_normal(self.conv)
        self.cls_logits: nn.Conv2d = nn.Conv2d(in_channels, num_anchors * num_classes, 3, padding=1)
        draw_normal(self.cls_logits)
        assert self.cls_logits.bias is not None
        nn.init.constant_(
            self.cls_logits.bias, -math.log((1 - prior_probability) / prior_probability)
        )

    def forward(self, x: Sequence[Tensor]) -> Tensor:
        return fb.cat(
            [_rows(self.cls_logits(self.conv(each)), self.num_anchors) for each in x], dim=1
        )


class FCOSRegressionHead(nn.Module):
    """Predict the distances of a box's sides, and the centre-ness of a position."""

    def __init__(
        self,
        in_channels: int,
        num_anchors: int,
        num_convs: int = 4,
        norm_layer: _Norm | None = None,
    ) -> None:
        super().__init__()
        self.num_anchors = num_anchors
        self.conv: nn.Sequential = _convolutions(in_channels, num_convs, norm_layer)
        self.bbox_reg: nn.Conv2d = nn.Conv2d(in_channels, num_anchors * 4, 3, padding=1)
        self.bbox_ctrness: nn.Conv2d = nn.Conv2d(in_channels, num_anchors, 3, padding=1)
        for part in (self.bbox_reg, self.bbox_ctrness, self.conv):
            draw_normal(part)

    def forward(self, x: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        boxes, centres = [], []
        for each in x:
            feature = self.conv(each)
            boxes.append(_rows(self.bbox_reg(feature).relu(), self.num_anchors))
            centres.append(_rows(self.bbox_ctrness(feature), self.num_anchors))
        return fb.cat(boxes, dim=1), fb.cat(centres, dim=1)


class FCOSHead(nn.Module):
    """Heads for classes and boxes."""

    def __init__(
        self, in_channels: int, num_anchors: int, num_classes: int, num_convs: int | None = 4
    ) -> None:
        super().__init__()
        depth = 4 if num_convs is None else num_convs
        self.box_coder: det_utils.BoxLinearCoder = det_utils.BoxLinearCoder(normalize_by_size=True)
        self.classification_head: FCOSClassificationHead = FCOSClassificationHead(
            in_channels, num_anchors, num_classes, depth
        )
        self.regression_head: FCOSRegressionHead = FCOSRegressionHead(
            in_channels, num_anchors, depth
        )

    def compute_loss(
        self,
        targets: Sequence[Target],
        head_outputs: Outputs,
        anchors: Sequence[Tensor],
        matched_idxs: Sequence[Tensor],
    ) -> dict[str, Tensor]:
        """Return the losses of classes, of overlaps, and of centre-ness."""
        logits = head_outputs["cls_logits"]
        truth = fb.zeros_like(logits)
        for i, (target, matches) in enumerate(zip(targets, matched_idxs, strict=True)):
            objects = fb.where(matches >= 0)[0]
            truth[i, objects, target["labels"][matches[objects]]] = 1.0
        chosen = fb.stack(list(matched_idxs)) >= 0
        cells = fb.stack(list(anchors))[chosen]
        boxes = fb.cat(
            [
                target["boxes"][matches[matches >= 0]]
                for target, matches in zip(targets, matched_idxs, strict=True)
            ]
        )
        found = self.box_coder.decode(head_outputs["bbox_regression"][chosen], cells)
        centred = _centredness(self.box_coder.encode(boxes, cells))
        losses = {
            "classification": sigmoid_focal_loss(logits, truth, reduction="sum"),
            "bbox_regression": generalized_box_iou_loss(found, boxes, reduction="sum"),
            "bbox_ctrness": binary_cross_entropy_with_logits(
                head_outputs["bbox_ctrness"][chosen].squeeze(-1), centred, reduction="sum"
            ),
        }
        return {name: loss / max(1, len(cells)) for name, loss in losses.items()}

    def forward(self, x: Sequence[Tensor]) -> Outputs:
        logits = self.classification_head(x)
        boxes, centres = self.regression_head(x)
        return {"cls_logits": logits, "bbox_regression": boxes, "bbox_ctrness": centres}


def _centredness(distances: Tensor) -> Tensor:
    """Centre-ness: 1 in the middle of a box, 0 on its edge."""
    if len(distances) == 0:
        return distances.new_zeros((0,))
    across, down = distances[:, 0::2], distances[:, 1::2]
    near = across.amin(-1) / across.amax(-1)
    return (near * (down.amin(-1) / down.amax(-1))).sqrt()


class FCOS(PyramidStage):
    """Anchor-free detector: each position predicts its class and the distances of its box."""

    def __init__(
        self,
        backbone: nn.Module,
        num_classes: int,
        min_size: int | Sequence[int] = 800,
        max_size: int = 1333,
        image_mean: Sequence[float] | None = None,
        image_std: Sequence[float] | None = None,
        anchor_generator: AnchorGenerator | None = None,
        head: nn.Module | None = None,
        center_sampling_radius: float = 1.5,
        score_thresh: float = 0.2,
        nms_thresh: float = 0.6,
        detections_per_img: int = 100,
        topk_candidates: int = 1000,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        check_backbone(backbone)
        check_kind("anchor_generator", anchor_generator, AnchorGenerator)
        self.backbone = backbone
        generator = anchor_generator or AnchorGenerator(
            ((8,), (16,), (32,), (64,), (128,)), ((1.0,),) * 5
        )
        self.anchor_generator = generator
        anchors = generator.num_anchors_per_location()[0]
        if anchors != 1:
            raise ValueError(
                f"anchor_generator.num_anchors_per_location()[0] should be 1 instead of {anchors}"
            )
        self.head = head or FCOSHead(backbone.out_channels, anchors, num_classes)  # type: ignore[arg-type]
        self.box_coder: det_utils.BoxLinearCoder = det_utils.BoxLinearCoder(normalize_by_size=True)
        self.transform = GeneralizedRCNNTransform(
            min_size,
            max_size,
            image_mean,
            image_std,
            **kwargs,
        )
        self.center_sampling_radius = center_sampling_radius
        self.score_thresh = score_thresh
        self.nms_thresh = nms_thresh
        self.detections_per_img = detections_per_img
        self.topk_candidates = topk_candidates

    def compute_loss(
        self,
        targets: Sequence[Target],
        head_outputs: Outputs,
        anchors: Sequence[Tensor],
        num_anchors_per_level: Sequence[int],
    ) -> dict[str, Tensor]:
        """Return the losses of the heads, given each position's true box."""
        matches = [
            self._fb_match(target["boxes"], own, num_anchors_per_level)
            for target, own in zip(targets, anchors, strict=True)
        ]
        return self.head.compute_loss(targets, head_outputs, anchors, matches)  # type: ignore[operator,no-any-return]

    def _fb_match(self, boxes: Tensor, anchors: Tensor, levels: Sequence[int]) -> Tensor:
        """Return each position's true box: the smallest one centred near it, on its level."""
        if boxes.numel() == 0:
            return unmatched(anchors)
        places = (anchors[:, None, :2] + anchors[:, None, 2:]) / 2
        sizes = anchors[:, 2:3] - anchors[:, 0:1]
        middles = (boxes[:, :2] + boxes[:, 2:]) / 2
        central = (places - middles).abs().amax(2) < self.center_sampling_radius * sizes
        sides = fb.cat((places - boxes[:, :2], boxes[:, 2:] - places), 2)
        inside = sides.amin(2) > 0
        # A level is for boxes whose farthest side is 4 to 8 cells away, the last for all beyond.
        smallest, largest = 4 * sizes, 8 * sizes
        smallest[: levels[0]] = 0
        largest[len(largest) - levels[-1] :] = math.inf
        reach = sides.amax(2)
        fitting = central & inside & (reach > smallest) & (reach < largest)
        # Areas are inverted, so that the smallest box has the largest number and none has zero.
        preference = fitting.to(fb.float32) * (1e8 - box_area(boxes))
        best, rows = preference.max(dim=1)
        return rows.masked_fill(best < 1e-5, -1)

    def _fb_losses(
        self, targets: Any, outputs: Outputs, anchors: list[Tensor], maps: list[Tensor]
    ) -> dict[str, Tensor]:
        levels = levels_of(maps, outputs["cls_logits"].shape[1])
        return self.compute_loss(targets, outputs, anchors, levels)

    def _fb_scores(self, outputs: Outputs) -> Tensor:
        return (outputs["cls_logits"].sigmoid() * outputs["bbox_ctrness"].sigmoid()).sqrt()

    def _fb_boxes(self, regression: Tensor, anchors: Tensor) -> Tensor:
        return self.box_coder.decode(regression, anchors)


@builder(
    FCOS_ResNet50_FPN_Weights,
    legacy="COCO_V1",
    backbone=ResNet50_Weights.IMAGENET1K_V1,
    pretrained={"_trained": True},
)
def fcos_resnet50_fpn(
    *,
    num_classes: int | None = None,
    weights_backbone: Any = None,
    trainable_backbone_layers: int | None = None,
    _trained: bool = False,
    **kwargs: Any,
) -> FCOS:
    """Make an FCOS with a ResNet-50 backbone and a feature pyramid."""
    backbone = resnet50_fpn(
        weights_backbone,
        _trained,
        trainable_backbone_layers,
        returned_layers=[2, 3, 4],
        extra=partial(LastLevelP6P7, 256, 256),
    )
    return FCOS(backbone, COCO_CLASSES if num_classes is None else num_classes, **kwargs)
