"""RetinaNet (https://arxiv.org/abs/1708.02002)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.vision.models._api import builder
from flambeau.vision.models._weights import weights_of
from flambeau.vision.models.detection import _utils as det_utils
from flambeau.vision.models.detection._heads import draw_normal, rename
from flambeau.vision.models.detection._parts import check_backbone, check_kind
from flambeau.vision.models.detection._published import COCO_CLASSES, resnet50_fpn, without_eps
from flambeau.vision.models.detection._single_stage import (
    Outputs,
    PyramidStage,
    matches_of,
)
from flambeau.vision.models.detection._targets import Target
from flambeau.vision.models.detection.anchor_utils import AnchorGenerator
from flambeau.vision.models.detection.rpn import permute_and_flatten
from flambeau.vision.models.detection.transform import GeneralizedRCNNTransform
from flambeau.vision.models.resnet import ResNet50_Weights
from flambeau.vision.ops.feature_pyramid_network import LastLevelP6P7
from flambeau.vision.ops.focal_loss import sigmoid_focal_loss
from flambeau.vision.ops.misc import Conv2dNormActivation

__all__ = [
    "RetinaNet",
    "RetinaNet_ResNet50_FPN_V2_Weights",
    "RetinaNet_ResNet50_FPN_Weights",
    "retinanet_resnet50_fpn",
    "retinanet_resnet50_fpn_v2",
]

RetinaNet_ResNet50_FPN_Weights: Any = weights_of("retinanet_resnet50_fpn", "detection")
RetinaNet_ResNet50_FPN_V2_Weights: Any = weights_of("retinanet_resnet50_fpn_v2", "detection")

_Norm = Callable[..., nn.Module]
_DEPTH = 4


def _default_anchorgen() -> AnchorGenerator:
    """Three sizes for each level, a third of an octave apart."""
    sizes = tuple(
        tuple(int(size * 2 ** (third / 3)) for third in range(3))
        for size in (32, 64, 128, 256, 512)
    )
    return AnchorGenerator(sizes, ((0.5, 1.0, 2.0),) * len(sizes))


class _Head(nn.Module):
    """Convolutions over every level, with a final layer that subclasses add."""

    _version = 2

    def __init__(self, in_channels: int, norm_layer: _Norm | None) -> None:
        super().__init__()
        self.conv: nn.Sequential = nn.Sequential(
            *(
                Conv2dNormActivation(in_channels, in_channels, norm_layer=norm_layer)
                for _ in range(_DEPTH)
            )
        )

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], *args: Any
    ) -> None:
        if local_metadata.get("version", 1) < 2:  # from before layers were in blocks
            rename(state_dict, prefix, {f"conv.{2 * i}": f"conv.{i}.0" for i in range(_DEPTH)})
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)

    def _fb_rows(self, x: Sequence[Tensor], layer: nn.Module, columns: int) -> Tensor:
        """Return a layer's predictions for each anchor of all levels, (N, anchors, columns)."""
        levels = []
        for feature in x:
            result = layer(self.conv(feature))
            batch, channels, height, width = result.shape
            anchors = channels // columns
            levels.append(permute_and_flatten(result, batch, anchors, columns, height, width))
        return fb.cat(levels, dim=1)


class RetinaNetClassificationHead(_Head):
    """Predict the scores of classes."""

    def __init__(
        self,
        in_channels: int,
        num_anchors: int,
        num_classes: int,
        prior_probability: float = 0.01,
        norm_layer: _Norm | None = None,
    ) -> None:
        super().__init__(in_channels, norm_layer)
        draw_normal(self.conv)
        self.cls_logits: nn.Conv2d = nn.Conv2d(in_channels, num_anchors * num_classes, 3, padding=1)
        draw_normal(self.cls_logits)
        assert self.cls_logits.bias is not None
        # At first nearly everything is background: else its loss would drown out all others.
        nn.init.constant_(
            self.cls_logits.bias, -math.log((1 - prior_probability) / prior_probability)
        )
        self.num_classes = num_classes
        self.num_anchors = num_anchors
        self.BETWEEN_THRESHOLDS: int = det_utils.Matcher.BETWEEN_THRESHOLDS

    def compute_loss(
        self,
        targets: Sequence[Target],
        head_outputs: Outputs,
        matched_idxs: Sequence[Tensor],
    ) -> Tensor:
        """Return the focal loss of all anchors that are clearly object or background."""
        losses = []
        for target, logits, matches in zip(
            targets, head_outputs["cls_logits"], matched_idxs, strict=True
        ):
            objects = fb.where(matches >= 0)[0]
            truth = fb.zeros_like(logits)
            truth[objects, target["labels"][matches[objects]]] = 1.0
            clear = matches != self.BETWEEN_THRESHOLDS
            loss = sigmoid_focal_loss(logits[clear], truth[clear], reduction="sum")
            losses.append(loss / max(1, len(objects)))
        return fb.stack(losses).sum() / len(targets)

    def forward(self, x: Sequence[Tensor]) -> Tensor:
        return self._fb_rows(x, self.cls_logits, self.num_classes)


class RetinaNetRegressionHead(_Head):
    """Predict boxes relative to anchors."""

    def __init__(self, in_channels: int, num_anchors: int, norm_layer: _Norm | None = None) -> None:
        super().__init__(in_channels, norm_layer)
        self.bbox_reg: nn.Conv2d = nn.Conv2d(in_channels, num_anchors * 4, 3, padding=1)
        draw_normal(self.bbox_reg)
        draw_normal(self.conv)
        self.box_coder: det_utils.BoxCoder = det_utils.BoxCoder(weights=(1.0, 1.0, 1.0, 1.0))
        self._loss_type: str = "l1"

    def compute_loss(
        self,
        targets: Sequence[Target],
        head_outputs: Outputs,
        anchors: Sequence[Tensor],
        matched_idxs: Sequence[Tensor],
    ) -> Tensor:
        """Return the box loss of anchors that matched an object."""
        losses = []
        for target, regression, own, matches in zip(
            targets, head_outputs["bbox_regression"], anchors, matched_idxs, strict=True
        ):
            objects = fb.where(matches >= 0)[0]
            loss = det_utils._box_loss(
                self._loss_type,
                self.box_coder,
                own[objects],
                target["boxes"][matches[objects]],
                regression[objects],
            )
            losses.append(loss / max(1, len(objects)))
        return fb.stack(losses).sum() / max(1, len(targets))

    def forward(self, x: Sequence[Tensor]) -> Tensor:
        return self._fb_rows(x, self.bbox_reg, 4)


class RetinaNetHead(nn.Module):
    """Heads for classes and boxes."""

    def __init__(
        self,
        in_channels: int,
        num_anchors: int,
        num_classes: int,
        norm_layer: _Norm | None = None,
    ) -> None:
        super().__init__()
        self.classification_head: RetinaNetClassificationHead = RetinaNetClassificationHead(
            in_channels, num_anchors, num_classes, norm_layer=norm_layer
        )
        self.regression_head: RetinaNetRegressionHead = RetinaNetRegressionHead(
            in_channels, num_anchors, norm_layer=norm_layer
        )

    def compute_loss(
        self,
        targets: Sequence[Target],
        head_outputs: Outputs,
        anchors: Sequence[Tensor],
        matched_idxs: Sequence[Tensor],
    ) -> dict[str, Tensor]:
        """Return the losses of both heads."""
        return {
            "classification": self.classification_head.compute_loss(
                targets, head_outputs, matched_idxs
            ),
            "bbox_regression": self.regression_head.compute_loss(
                targets, head_outputs, anchors, matched_idxs
            ),
        }

    def forward(self, x: Sequence[Tensor]) -> Outputs:
        return {
            "cls_logits": self.classification_head(x),
            "bbox_regression": self.regression_head(x),
        }


class RetinaNet(PyramidStage):
    """One-stage detector with anchors all over a feature pyramid, trained with focal loss."""

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
        proposal_matcher: det_utils.Matcher | None = None,
        score_thresh: float = 0.05,
        nms_thresh: float = 0.5,
        detections_per_img: int = 300,
        fg_iou_thresh: float = 0.5,
        bg_iou_thresh: float = 0.4,
        topk_candidates: int = 1000,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        check_backbone(backbone)
        check_kind("anchor_generator", anchor_generator, AnchorGenerator)
        self.backbone = backbone
        generator = anchor_generator or _default_anchorgen()
        self.anchor_generator = generator
        self.head = head or RetinaNetHead(
            backbone.out_channels,  # type: ignore[arg-type]
            generator.num_anchors_per_location()[0],
            num_classes,
        )
        self.proposal_matcher: det_utils.Matcher = proposal_matcher or det_utils.Matcher(
            fg_iou_thresh, bg_iou_thresh, allow_low_quality_matches=True
        )
        self.box_coder: det_utils.BoxCoder = det_utils.BoxCoder(weights=(1.0, 1.0, 1.0, 1.0))
        self.transform = GeneralizedRCNNTransform(
            min_size,
            max_size,
            image_mean,
            image_std,
            **kwargs,
        )
        self.score_thresh = score_thresh
        self.nms_thresh = nms_thresh
        self.detections_per_img = detections_per_img
        self.topk_candidates = topk_candidates

    def compute_loss(
        self, targets: Sequence[Target], head_outputs: Outputs, anchors: Sequence[Tensor]
    ) -> dict[str, Tensor]:
        """Return the losses of the heads, given each anchor's true box."""
        matches = matches_of(self.proposal_matcher, targets, anchors)
        return self.head.compute_loss(targets, head_outputs, anchors, matches)  # type: ignore[operator,no-any-return]

    def _fb_losses(
        self, targets: Any, outputs: Outputs, anchors: list[Tensor], maps: list[Tensor]
    ) -> dict[str, Tensor]:
        return self.compute_loss(targets, outputs, anchors)

    def _fb_scores(self, outputs: Outputs) -> Tensor:
        return outputs["cls_logits"].sigmoid()

    def _fb_boxes(self, regression: Tensor, anchors: Tensor) -> Tensor:
        return self.box_coder.decode_single(regression, anchors)


@builder(
    RetinaNet_ResNet50_FPN_Weights,
    legacy="COCO_V1",
    backbone=ResNet50_Weights.IMAGENET1K_V1,
    pretrained={"_trained": True},
    adapt=without_eps,
)
def retinanet_resnet50_fpn(
    *,
    num_classes: int | None = None,
    weights_backbone: Any = None,
    trainable_backbone_layers: int | None = None,
    _trained: bool = False,
    **kwargs: Any,
) -> RetinaNet:
    """Make a RetinaNet with a ResNet-50 backbone and a feature pyramid."""
    backbone = resnet50_fpn(
        weights_backbone,
        _trained,
        trainable_backbone_layers,
        returned_layers=[2, 3, 4],
        extra=partial(LastLevelP6P7, 256, 256),
    )
    return RetinaNet(backbone, COCO_CLASSES if num_classes is None else num_classes, **kwargs)


@builder(RetinaNet_ResNet50_FPN_V2_Weights, legacy="COCO_V1", pretrained={"_trained": True})
def retinanet_resnet50_fpn_v2(
    *,
    num_classes: int | None = None,
    weights_backbone: Any = None,
    trainable_backbone_layers: int | None = None,
    _trained: bool = False,
    **kwargs: Any,
) -> RetinaNet:
    """Make version 2, with normalised heads and an IoU loss (arXiv:1912.02424)."""
    backbone = resnet50_fpn(
        weights_backbone,
        _trained,
        trainable_backbone_layers,
        frozen=False,
        returned_layers=[2, 3, 4],
        extra=partial(LastLevelP6P7, 2048, 256),
    )
    classes = COCO_CLASSES if num_classes is None else num_classes
    anchors = _default_anchorgen()
    head = RetinaNetHead(
        backbone.out_channels,
        anchors.num_anchors_per_location()[0],
        classes,
        norm_layer=partial(nn.GroupNorm, 32),
    )
    head.regression_head._loss_type = "giou"
    return RetinaNet(backbone, classes, anchor_generator=anchors, head=head, **kwargs)
