"""Lite R-ASPP, from MobileNet v3 (https://arxiv.org/abs/1905.02244)."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from flambeau import Tensor, nn
from flambeau.vision.models._api import builder
from flambeau.vision.models._weights import weights_of
from flambeau.vision.models.mobilenetv3 import MobileNet_V3_Large_Weights, mobilenet_v3_large
from flambeau.vision.models.segmentation._utils import VOC_CLASSES, mobilenet_layers, scaled

__all__ = ["LRASPP", "LRASPP_MobileNet_V3_Large_Weights", "lraspp_mobilenet_v3_large"]

LRASPP_MobileNet_V3_Large_Weights: Any = weights_of("lraspp_mobilenet_v3_large", "segmentation")


class LRASPP(nn.Module):
    """Segmentation network whose classifier sees an early layer and the last one."""

    def __init__(
        self,
        backbone: nn.Module,
        low_channels: int,
        high_channels: int,
        num_classes: int,
        inter_channels: int = 128,
    ) -> None:
        super().__init__()
        self.backbone = backbone
        self.classifier: LRASPPHead = LRASPPHead(
            low_channels, high_channels, num_classes, inter_channels
        )

    def forward(self, input: Tensor) -> OrderedDict[str, Tensor]:
        return OrderedDict(out=scaled(self.classifier(self.backbone(input)), input))


class LRASPPHead(nn.Module):
    """Classes from an early layer, plus classes from the last one weighted by the whole image."""

    def __init__(
        self, low_channels: int, high_channels: int, num_classes: int, inter_channels: int
    ) -> None:
        super().__init__()
        self.cbr: nn.Sequential = nn.Sequential(
            nn.Conv2d(high_channels, inter_channels, 1, bias=False),
            nn.BatchNorm2d(inter_channels),
            nn.ReLU(inplace=True),
        )
        self.scale: nn.Sequential = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(high_channels, inter_channels, 1, bias=False),
            nn.Sigmoid(),
        )
        self.low_classifier: nn.Conv2d = nn.Conv2d(low_channels, num_classes, 1)
        self.high_classifier: nn.Conv2d = nn.Conv2d(inter_channels, num_classes, 1)

    def forward(self, input: dict[str, Tensor]) -> Tensor:
        low, high = input["low"], input["high"]
        weighted = scaled(self.cbr(high) * self.scale(high), low)
        return self.low_classifier(low) + self.high_classifier(weighted)  # type: ignore[no-any-return]


@builder(
    LRASPP_MobileNet_V3_Large_Weights,
    legacy="COCO_WITH_VOC_LABELS_V1",
    backbone=MobileNet_V3_Large_Weights.IMAGENET1K_V1,
)
def lraspp_mobilenet_v3_large(
    *, num_classes: int | None = None, weights_backbone: Any = None, **kwargs: Any
) -> LRASPP:
    """Make a Lite R-ASPP with a large MobileNet v3 backbone."""
    network = mobilenet_v3_large(weights=weights_backbone, dilated=True)
    body, high, low = mobilenet_layers(network, "high", "low")
    return LRASPP(body, low, high, VOC_CLASSES if num_classes is None else num_classes)
