"""DeepLab v3 (https://arxiv.org/abs/1706.05587)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.vision.models._api import builder
from flambeau.vision.models._weights import weights_of
from flambeau.vision.models.mobilenetv3 import MobileNet_V3_Large_Weights, mobilenet_v3_large
from flambeau.vision.models.resnet import (
    ResNet50_Weights,
    ResNet101_Weights,
    resnet50,
    resnet101,
)
from flambeau.vision.models.segmentation._utils import (
    VOC_CLASSES,
    _SimpleSegmentationModel,
    mobilenet_layers,
    scaled,
)
from flambeau.vision.models.segmentation.fcn import FCNHead, resnet_segmenter

__all__ = [
    "DeepLabV3",
    "DeepLabV3_MobileNet_V3_Large_Weights",
    "DeepLabV3_ResNet50_Weights",
    "DeepLabV3_ResNet101_Weights",
    "deeplabv3_mobilenet_v3_large",
    "deeplabv3_resnet50",
    "deeplabv3_resnet101",
]

DeepLabV3_ResNet50_Weights: Any = weights_of("deeplabv3_resnet50", "segmentation")
DeepLabV3_ResNet101_Weights: Any = weights_of("deeplabv3_resnet101", "segmentation")
DeepLabV3_MobileNet_V3_Large_Weights: Any = weights_of(
    "deeplabv3_mobilenet_v3_large", "segmentation"
)


class DeepLabV3(_SimpleSegmentationModel):
    """Segmentation network with atrous spatial pyramid pooling."""


def _with_norm(convolution: nn.Conv2d) -> list[nn.Module]:
    return [convolution, nn.BatchNorm2d(convolution.out_channels), nn.ReLU()]


class ASPPConv(nn.Sequential):
    """Dilated convolution, normalisation and ReLU."""

    def __init__(self, in_channels: int, out_channels: int, dilation: int) -> None:
        super().__init__(
            *_with_norm(
                nn.Conv2d(
                    in_channels, out_channels, 3, padding=dilation, dilation=dilation, bias=False
                )
            )
        )


class ASPPPooling(nn.Sequential):
    """The mean of the image, at every pixel."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__(
            nn.AdaptiveAvgPool2d(1),
            *_with_norm(nn.Conv2d(in_channels, out_channels, 1, bias=False)),
        )

    def forward(self, x: Tensor) -> Tensor:
        return scaled(super().forward(x), x)


class ASPP(nn.Module):
    """Pixels, their surroundings at several dilations, and the whole image, concatenated."""

    def __init__(
        self, in_channels: int, atrous_rates: Sequence[int], out_channels: int = 256
    ) -> None:
        super().__init__()
        self.convs: nn.ModuleList = nn.ModuleList(
            [
                nn.Sequential(*_with_norm(nn.Conv2d(in_channels, out_channels, 1, bias=False))),
                *(ASPPConv(in_channels, out_channels, rate) for rate in atrous_rates),
                ASPPPooling(in_channels, out_channels),
            ]
        )
        width = len(self.convs) * out_channels
        self.project: nn.Sequential = nn.Sequential(
            *_with_norm(nn.Conv2d(width, out_channels, 1, bias=False)), nn.Dropout(0.5)
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.project(fb.cat([conv(x) for conv in self.convs], dim=1))  # type: ignore[no-any-return]


class DeepLabHead(nn.Sequential):
    """The classifier."""

    def __init__(
        self, in_channels: int, num_classes: int, atrous_rates: Sequence[int] = (12, 24, 36)
    ) -> None:
        super().__init__(
            ASPP(in_channels, atrous_rates),
            *_with_norm(nn.Conv2d(256, 256, 3, padding=1, bias=False)),
            nn.Conv2d(256, num_classes, 1),
        )


_deeplab = partial(resnet_segmenter, DeepLabV3, DeepLabHead)


@builder(
    DeepLabV3_ResNet50_Weights,
    legacy="COCO_WITH_VOC_LABELS_V1",
    backbone=ResNet50_Weights.IMAGENET1K_V1,
    pretrained={"aux_loss": True},
)
def deeplabv3_resnet50(
    *,
    num_classes: int | None = None,
    aux_loss: bool | None = None,
    weights_backbone: Any = None,
    **kwargs: Any,
) -> DeepLabV3:
    """Make a DeepLab v3 with a ResNet-50 backbone."""
    return _deeplab(resnet50, weights_backbone, num_classes, aux_loss)  # type: ignore[no-any-return]


@builder(
    DeepLabV3_ResNet101_Weights,
    legacy="COCO_WITH_VOC_LABELS_V1",
    backbone=ResNet101_Weights.IMAGENET1K_V1,
    pretrained={"aux_loss": True},
)
def deeplabv3_resnet101(
    *,
    num_classes: int | None = None,
    aux_loss: bool | None = None,
    weights_backbone: Any = None,
    **kwargs: Any,
) -> DeepLabV3:
    """Make a DeepLab v3 with a ResNet-101 backbone."""
    return _deeplab(resnet101, weights_backbone, num_classes, aux_loss)  # type: ignore[no-any-return]


@builder(
    DeepLabV3_MobileNet_V3_Large_Weights,
    legacy="COCO_WITH_VOC_LABELS_V1",
    backbone=MobileNet_V3_Large_Weights.IMAGENET1K_V1,
    pretrained={"aux_loss": True},
)
def deeplabv3_mobilenet_v3_large(
    *,
    num_classes: int | None = None,
    aux_loss: bool | None = None,
    weights_backbone: Any = None,
    **kwargs: Any,
) -> DeepLabV3:
    """Make a DeepLab v3 with a large MobileNet v3 backbone."""
    classes = VOC_CLASSES if num_classes is None else num_classes
    network = mobilenet_v3_large(weights=weights_backbone, dilated=True)
    body, width, early = mobilenet_layers(network, "out", "aux" if aux_loss else None)
    auxiliary = FCNHead(early, classes) if aux_loss else None
    return DeepLabV3(body, DeepLabHead(width, classes), auxiliary)
