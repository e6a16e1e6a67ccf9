"""SSDlite (https://arxiv.org/abs/1801.04381), with MobileNet v3 (https://arxiv.org/abs/1905.02244)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from flambeau import Tensor, nn
from flambeau.vision.models._api import builder
from flambeau.vision.models._weights import weights_of
from flambeau.vision.models.detection import _utils as det_utils
from flambeau.vision.models.detection._heads import draw_normal
from flambeau.vision.models.detection._published import COCO_CLASSES, ignore_size
from flambeau.vision.models.detection._single_stage import Outputs
from flambeau.vision.models.detection.anchor_utils import DefaultBoxGenerator
from flambeau.vision.models.detection.backbone_utils import (
    _check_layers,
    _freeze_before,
    _stage_starts,
    _validate_trainable_layers,
)
from flambeau.vision.models.detection.ssd import SSD, SSDScoringHead
from flambeau.vision.models.mobilenetv3 import MobileNet_V3_Large_Weights, mobilenet_v3_large
from flambeau.vision.ops.misc import Conv2dNormActivation

__all__ = ["SSDLite320_MobileNet_V3_Large_Weights", "ssdlite320_mobilenet_v3_large"]

SSDLite320_MobileNet_V3_Large_Weights: Any = weights_of(
    "ssdlite320_mobilenet_v3_large", "detection"
)

_Norm = Callable[..., nn.Module]
_STD = 0.03


def _prediction_block(
    in_channels: int, out_channels: int, kernel_size: int, norm_layer: _Norm
) -> nn.Sequential:
    """A depthwise convolution, then a 1 × 1 convolution."""
    return nn.Sequential(
        Conv2dNormActivation(
            in_channels,
            in_channels,
            kernel_size=kernel_size,
            groups=in_channels,
            norm_layer=norm_layer,
            activation_layer=nn.ReLU6,
        ),
        nn.Conv2d(in_channels, out_channels, 1),
    )


def _extra_block(in_channels: int, out_channels: int, norm_layer: _Norm) -> nn.Sequential:
    """Extra strided layers with half of the channels inside."""
    inner = out_channels // 2
    block = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=nn.ReLU6)
    return nn.Sequential(
        block(in_channels, inner, kernel_size=1),
        block(inner, inner, kernel_size=3, stride=2, groups=inner),
        block(inner, out_channels, kernel_size=1),
    )


class _LightHead(SSDScoringHead):
    """Head with a separable convolution for each map."""

    def __init__(
        self,
        in_channels: Sequence[int],
        num_anchors: Sequence[int],
        columns: int,
        norm_layer: _Norm,
    ) -> None:
        layers = nn.ModuleList(
            _prediction_block(channels, columns * anchors, 3, norm_layer)
            for channels, anchors in zip(in_channels, num_anchors, strict=True)
        )
        draw_normal(layers, _STD)
        super().__init__(layers, columns)


class SSDLiteClassificationHead(_LightHead):
    """Predict the scores of classes."""

    def __init__(
        self,
        in_channels: Sequence[int],
        num_anchors: Sequence[int],
        num_classes: int,
        norm_layer: _Norm,
    ) -> None:
        super().__init__(in_channels, num_anchors, num_classes, norm_layer)


class SSDLiteRegressionHead(_LightHead):
    """Predict boxes relative to anchors."""

    def __init__(
        self, in_channels: Sequence[int], num_anchors: Sequence[int], norm_layer: _Norm
    ) -> None:
        super().__init__(in_channels, num_anchors, 4, norm_layer)


class SSDLiteHead(nn.Module):
    """Heads for classes and boxes."""

    def __init__(
        self,
        in_channels: Sequence[int],
        num_anchors: Sequence[int],
        num_classes: int,
        norm_layer: _Norm,
    ) -> None:
        super().__init__()
        self.classification_head: nn.Module = SSDLiteClassificationHead(
            in_channels, num_anchors, num_classes, norm_layer
        )
        self.regression_head: nn.Module = SSDLiteRegressionHead(
            in_channels, num_anchors, norm_layer
        )

    def forward(self, x: Sequence[Tensor]) -> Outputs:
        return {
            "bbox_regression": self.regression_head(x),
            "cls_logits": self.classification_head(x),
        }


class SSDLiteFeatureExtractorMobileNet(nn.Module):
    """A MobileNet split inside of its block ``c4_pos``, followed by smaller and smaller maps."""

    def __init__(
        self,
        backbone: Any,
        c4_pos: int,
        norm_layer: _Norm,
        width_mult: float = 1.0,
        min_depth: int = 16,
    ) -> None:
        super().__init__()
        middle = backbone[c4_pos]
        if middle.use_res_connect:
            raise ValueError("backbone[c4_pos].use_res_connect should be False")
        # The first feature map is the output of the block's expansion.
        self.features: nn.Sequential = nn.Sequential(
            nn.Sequential(*backbone[:c4_pos], middle.block[0]),
            nn.Sequential(middle.block[1:], *backbone[c4_pos + 1 :]),
        )
        widths = [
            backbone[-1].out_channels,
            *(max(min_depth, int(depth * width_mult)) for depth in (512, 256, 256, 128)),
        ]
        extra = nn.ModuleList(
            _extra_block(before, after, norm_layer) for before, after in pairwise(widths)
        )
        draw_normal(extra, _STD)
        self.extra: nn.ModuleList = extra

    def forward(self, x: Tensor) -> OrderedDict[str, Tensor]:
        maps = []
        for block in (*self.features, *self.extra):
            x = block(x)
            maps.append(x)
        return OrderedDict((str(i), each) for i, each in enumerate(maps))


def _mobilenet_extractor(
    backbone: Any, trainable_layers: int, norm_layer: _Norm
) -> SSDLiteFeatureExtractorMobileNet:
    features = backbone.features
    starts = _stage_starts(features)
    _check_layers(trainable_layers, len(starts))
    _freeze_before(features, starts, trainable_layers)
    return SSDLiteFeatureExtractorMobileNet(features, starts[-2], norm_layer)


@builder(
    SSDLite320_MobileNet_V3_Large_Weights,
    legacy="COCO_V1",
    backbone=MobileNet_V3_Large_Weights.IMAGENET1K_V1,
    pretrained={"_trained": True},
)
def ssdlite320_mobilenet_v3_large(
    *,
    num_classes: int | None = None,
    weights_backbone: Any = None,
    trainable_backbone_layers: int | None = None,
    norm_layer: _Norm | None = None,
    _trained: bool = False,
    **kwargs: Any,
) -> SSD:
    """Make an SSDlite with a MobileNet v3 backbone, for images of 320 × 320 pixels."""
    ignore_size(kwargs, 320)
    trained = _trained or weights_backbone is not None
    layers = _validate_trainable_layers(trained, trainable_backbone_layers, 6, 6)
    norm = norm_layer or partial(nn.BatchNorm2d, eps=0.001, momentum=0.03)
    network = mobilenet_v3_large(
        weights=weights_backbone, norm_layer=norm, reduced_tail=weights_backbone is None
    )
    if weights_backbone is None:
        draw_normal(network, _STD)
    backbone = _mobilenet_extractor(network, layers, norm)
    size = (320, 320)
    boxes = DefaultBoxGenerator([[2, 3]] * 6, min_ratio=0.2, max_ratio=0.95)
    channels = det_utils.retrieve_out_channels(backbone, size)
    usual: dict[str, Any] = {
        "score_thresh": 0.001,
        "nms_thresh": 0.55,
        "detections_per_img": 300,
        "topk_candidates": 300,
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.5, 0.5, 0.5],
    }
    classes = COCO_CLASSES if num_classes is None else num_classes
    head = SSDLiteHead(channels, boxes.num_anchors_per_location(), classes, norm)
    return SSD(backbone, boxes, size, classes, head=head, **{**usual, **kwargs})
