"""Keypoint R-CNN (https://arxiv.org/abs/1703.06870)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flambeau import Tensor, nn
from flambeau.nn.functional import interpolate
from flambeau.vision.models._api import builder
from flambeau.vision.models._weights import weights_of
from flambeau.vision.models.detection._heads import draw_kaiming
from flambeau.vision.models.detection._parts import check_kind
from flambeau.vision.models.detection._published import resnet50_fpn, without_eps
from flambeau.vision.models.detection.faster_rcnn import FasterRCNN
from flambeau.vision.models.resnet import ResNet50_Weights
from flambeau.vision.ops.poolers import MultiScaleRoIAlign

__all__ = ["KeypointRCNN", "KeypointRCNN_ResNet50_FPN_Weights", "keypointrcnn_resnet50_fpn"]

KeypointRCNN_ResNet50_FPN_Weights: Any = weights_of("keypointrcnn_resnet50_fpn", "detection")

_POINTS = 17  # of a person, nose to ankles
_CLASSES = 2


class KeypointRCNN(FasterRCNN):
    """Faster R-CNN that also finds the keypoints of every object.

    Targets also have ``keypoints`` (N, K, 3): x, y and visibility. Detections have them too,
    with ``keypoints_scores`` (N, K).
    """

    def __init__(
        self,
        backbone: nn.Module,
        num_classes: int | None = None,
        min_size: int | Sequence[int] | None = None,
        *args: Any,
        keypoint_roi_pool: nn.Module | None = None,
        keypoint_head: nn.Module | None = None,
        keypoint_predictor: nn.Module | None = None,
        num_keypoints: int | None = None,
        **kwargs: Any,
    ) -> None:
        check_kind("keypoint_roi_pool", keypoint_roi_pool, MultiScaleRoIAlign)
        if num_keypoints is not None and keypoint_predictor is not None:
            raise ValueError(
                "num_keypoints must be None where keypoint_predictor is given, whose outputs are "
                f"the points; got {num_keypoints}"
            )
        channels: Any = getattr(backbone, "out_channels", None)
        keypoint_roi_pool = keypoint_roi_pool or MultiScaleRoIAlign(["0", "1", "2", "3"], 14, 2)
        keypoint_head = keypoint_head or KeypointRCNNHeads(channels, (512,) * 8)
        if keypoint_predictor is None:
            kinds = _POINTS if num_keypoints is None else num_keypoints
            keypoint_predictor = KeypointRCNNPredictor(512, kinds)
        sizes = tuple(range(640, 801, 32)) if min_size is None else min_size
        super().__init__(backbone, num_classes, sizes, *args, **kwargs)
        self.roi_heads.keypoint_roi_pool = keypoint_roi_pool
        self.roi_heads.keypoint_head = keypoint_head
        self.roi_heads.keypoint_predictor = keypoint_predictor


class KeypointRCNNHeads(nn.Sequential):
    """Convolutions of given widths, with ReLU."""

    def __init__(self, in_channels: int, layers: Sequence[int]) -> None:
        blocks: list[nn.Module] = []
        for width in layers:
            blocks += [nn.Conv2d(in_channels, width, 3, padding=1), nn.ReLU(inplace=True)]
            in_channels = width
        super().__init__(*blocks)
        draw_kaiming(self)


class KeypointRCNNPredictor(nn.Module):
    """Predict a heatmap, four times as large as the features, for every kind of keypoint."""

    def __init__(self, in_channels: int, num_keypoints: int) -> None:
        super().__init__()
        self.kps_score_lowres: nn.ConvTranspose2d = nn.ConvTranspose2d(
            in_channels, num_keypoints, 4, stride=2, padding=1
        )
        draw_kaiming(self)
        self.up_scale: int = 2
        self.out_channels = num_keypoints

    def forward(self, x: Tensor) -> Tensor:
        return interpolate(
            self.kps_score_lowres(x),
            scale_factor=float(self.up_scale),
            mode="bilinear",
            align_corners=False,
            recompute_scale_factor=False,
        )


@builder(
    KeypointRCNN_ResNet50_FPN_Weights,
    legacy="COCO_V1",
    backbone=ResNet50_Weights.IMAGENET1K_V1,
    pretrained={"_trained": True, "num_keypoints": _POINTS},
    adapt=without_eps,
)
def keypointrcnn_resnet50_fpn(
    *,
    num_classes: int | None = None,
    num_keypoints: int | None = None,
    weights_backbone: Any = None,
    trainable_backbone_layers: int | None = None,
    _trained: bool = False,
    **kwargs: Any,
) -> KeypointRCNN:
    """Make a Keypoint R-CNN with a ResNet-50 backbone and a feature pyramid, for people."""
    backbone = resnet50_fpn(weights_backbone, _trained, trainable_backbone_layers)
    return KeypointRCNN(
        backbone,
        _CLASSES if num_classes is None else num_classes,
        num_keypoints=_POINTS if num_keypoints is None else num_keypoints,
        **kwargs,
    )
