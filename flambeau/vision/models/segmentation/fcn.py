"""Fully convolutional networks (https://arxiv.org/abs/1411.4038)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from flambeau import nn
from flambeau.vision.models._api import builder
from flambeau.vision.models._weights import weights_of
from flambeau.vision.models.resnet import (
    ResNet,
    ResNet50_Weights,
    ResNet101_Weights,
    resnet50,
    resnet101,
)
from flambeau.vision.models.segmentation._utils import (
    VOC_CLASSES,
    _SimpleSegmentationModel,
    resnet_layers,
)

__all__ = ["FCN", "FCN_ResNet50_Weights", "FCN_ResNet101_Weights", "fcn_resnet50", "fcn_resnet101"]

FCN_ResNet50_Weights: Any = weights_of("fcn_resnet50", "segmentation")
FCN_ResNet101_Weights: Any = weights_of("fcn_resnet101", "segmentation")


class FCN(_SimpleSegmentationModel):
    """Segmentation network with a convolution as its classifier."""


class FCNHead(nn.Sequential):
    """Two convolutions from features to classes."""

    def __init__(self, in_channels: int, channels: int) -> None:
        inner = in_channels // 4
        super().__init__(
            nn.Conv2d(in_channels, inner, 3, padding=1, bias=False),
            nn.BatchNorm2d(inner),
            nn.ReLU(),
            nn.Dropout(0.1),
            nn.Conv2d(inner, channels, 1),
        )


def resnet_segmenter(
    kind: Callable[..., Any],
    head: Callable[[int, int], nn.Module],
    network: Callable[..., ResNet],
    weights: Any,
    num_classes: int | None,
    aux: bool | None,
) -> Any:
    """Make a segmentation network with a given head on a dilated ResNet."""
    classes = VOC_CLASSES if num_classes is None else num_classes
    body = network(weights=weights, replace_stride_with_dilation=[False, True, True])
    # Made first, so that it draws its weights first.
    auxiliary = FCNHead(1024, classes) if aux else None
    return kind(resnet_layers(body, aux), head(2048, classes), auxiliary)


_fcn = partial(resnet_segmenter, FCN, FCNHead)


@builder(
    FCN_ResNet50_Weights,
    legacy="COCO_WITH_VOC_LABELS_V1",
    backbone=ResNet50_Weights.IMAGENET1K_V1,
    pretrained={"aux_loss": True},
)
def fcn_resnet50(
    *,
    num_classes: int | None = None,
    aux_loss: bool | None = None,
    weights_backbone: Any = None,
    **kwargs: Any,
) -> FCN:
    """Make a fully convolutional network with a ResNet-50 backbone."""
    return _fcn(resnet50, weights_backbone, num_classes, aux_loss)  # type: ignore[no-any-return]


@builder(
    FCN_ResNet101_Weights,
    legacy="COCO_WITH_VOC_LABELS_V1",
    backbone=ResNet101_Weights.IMAGENET1K_V1,
    pretrained={"aux_loss": True},
)
def fcn_resnet101(
    *,
    num_classes: int | None = None,
    aux_loss: bool | None = None,
    weights_backbone: Any = None,
    **kwargs: Any,
) -> FCN:
    """Make a fully convolutional network with a ResNet-101 backbone."""
    return _fcn(resnet101, weights_backbone, num_classes, aux_loss)  # type: ignore[no-any-return]
