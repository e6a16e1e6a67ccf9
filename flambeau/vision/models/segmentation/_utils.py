"""Common parts of the segmentation networks."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from flambeau import Tensor, nn
from flambeau.nn.functional import interpolate
from flambeau.vision.models._utils import IntermediateLayerGetter
from flambeau.vision.models.mobilenetv3 import MobileNetV3
from flambeau.vision.models.resnet import ResNet

__all__ = ["VOC_CLASSES", "mobilenet_layers", "resnet_layers", "scaled"]

VOC_CLASSES = 21  # of Pascal VOC, with the background, which the published weights are for


def scaled(x: Tensor, like: Tensor) -> Tensor:
    """Resize images to the size of others."""
    return interpolate(x, size=like.shape[-2:], mode="bilinear", align_corners=False)


class _SimpleSegmentationModel(nn.Module):
    """Class scores for every pixel, in training optionally also from an earlier layer."""

    def __init__(
        self, backbone: nn.Module, classifier: nn.Module, aux_classifier: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.backbone = backbone
        self.classifier = classifier
        self.aux_classifier = aux_classifier

    def forward(self, x: Tensor) -> OrderedDict[str, Tensor]:
        features = self.backbone(x)
        result = OrderedDict(out=scaled(self.classifier(features["out"]), x))
        if self.aux_classifier is not None:
            result["aux"] = scaled(self.aux_classifier(features["aux"]), x)
        return result


def resnet_layers(network: ResNet, aux: bool | None) -> IntermediateLayerGetter:
    """Make a ResNet that returns its last layer, and the one before."""
    return IntermediateLayerGetter(
        network, {"layer4": "out", "layer3": "aux"} if aux else {"layer4": "out"}
    )


def mobilenet_layers(
    network: MobileNetV3, last: str, before: str | None
) -> tuple[IntermediateLayerGetter, int, int]:
    """Make a MobileNet that returns its last layer and one at four times the resolution.

    ``before`` is the name of that layer among the outputs; None leaves it out. The channels of both
    are returned too.
    """
    features = network.features
    blocks = list(features)
    # The last downsampling block is dilated instead; the one before halves the side once more.
    strided = [i for i, block in enumerate(blocks) if getattr(block, "_is_cn", False)]
    late, early = len(blocks) - 1, strided[-3]
    names = {str(late): last} | ({str(early): before} if before else {})
    high: Any = blocks[late].out_channels
    low: Any = blocks[early].out_channels
    return IntermediateLayerGetter(features, names), high, low
