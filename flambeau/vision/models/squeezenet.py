"""SqueezeNet (https://arxiv.org/abs/1602.07360)."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.vision.models._api import builder
from flambeau.vision.models._init import constant
from flambeau.vision.models._weights import weights_of

__all__ = [
    "SqueezeNet",
    "SqueezeNet1_0_Weights",
    "SqueezeNet1_1_Weights",
    "squeezenet1_0",
    "squeezenet1_1",
]

SqueezeNet1_0_Weights: Any = weights_of("squeezenet1_0")
SqueezeNet1_1_Weights: Any = weights_of("squeezenet1_1")


class Fire(nn.Module):
    """Fire module: a 1 × 1 convolution to few channels, then 1 × 1 and 3 × 3 ones to many."""

    def __init__(
        self, inplanes: int, squeeze_planes: int, expand1x1_planes: int, expand3x3_planes: int
    ) -> None:
        super().__init__()
        self.inplanes = inplanes
        self.squeeze: nn.Conv2d = nn.Conv2d(inplanes, squeeze_planes, kernel_size=1)
        self.squeeze_activation: nn.ReLU = nn.ReLU(inplace=True)
        self.expand1x1: nn.Conv2d = nn.Conv2d(squeeze_planes, expand1x1_planes, kernel_size=1)
        self.expand1x1_activation: nn.ReLU = nn.ReLU(inplace=True)
        self.expand3x3: nn.Conv2d = nn.Conv2d(
            squeeze_planes, expand3x3_planes, kernel_size=3, padding=1
        )
        self.expand3x3_activation: nn.ReLU = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        x = self.squeeze_activation(self.squeeze(x))
        return fb.cat(
            [
                self.expand1x1_activation(self.expand1x1(x)),
                self.expand3x3_activation(self.expand3x3(x)),
            ],
            1,
        )


def _fire(channels: int, squeezed: int) -> Fire:
    """Fire module with eight times as many channels as it squeezes to."""
    return Fire(channels, squeezed, 4 * squeezed, 4 * squeezed)


def _pool() -> nn.MaxPool2d:
    return nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True)


class SqueezeNet(nn.Module):
    """Fire modules and a convolution with one output channel per class."""

    def __init__(self, version: str = "1_0", num_classes: int = 1000, dropout: float = 0.5) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.features: nn.Sequential = nn.Sequential(*_features(version))
        final_conv = nn.Conv2d(512, num_classes, kernel_size=1)
        self.classifier: nn.Sequential = nn.Sequential(
            nn.Dropout(p=dropout), final_conv, nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d((1, 1))
        )
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                if module is final_conv:
                    nn.init.normal_(module.weight, mean=0.0, std=0.01)
                else:
                    nn.init.kaiming_uniform_(module.weight)
                constant(module.bias, 0.0)

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.features(x)).flatten(1)  # type: ignore[no-any-return]


def _features(version: str) -> list[nn.Module]:
    if version == "1_0":
        return [
            nn.Conv2d(3, 96, kernel_size=7, stride=2),
            nn.ReLU(inplace=True),
            _pool(),
            *(_fire(96, 16), _fire(128, 16), _fire(128, 32)),
            _pool(),
            *(_fire(256, 32), _fire(256, 48), _fire(384, 48), _fire(384, 64)),
            _pool(),
            _fire(512, 64),
        ]
    if version == "1_1":
        return [
            nn.Conv2d(3, 64, kernel_size=3, stride=2),
            nn.ReLU(inplace=True),
            _pool(),
            *(_fire(64, 16), _fire(128, 16)),
            _pool(),
            *(_fire(128, 32), _fire(256, 32)),
            _pool(),
            *(_fire(256, 48), _fire(384, 48), _fire(384, 64), _fire(512, 64)),
        ]
    raise ValueError(f"Unsupported SqueezeNet version {version}: 1_0 or 1_1 expected")


@builder(SqueezeNet1_0_Weights)
def squeezenet1_0(**kwargs: Any) -> SqueezeNet:
    """Make a SqueezeNet 1.0."""
    return SqueezeNet("1_0", **kwargs)


@builder(SqueezeNet1_1_Weights)
def squeezenet1_1(**kwargs: Any) -> SqueezeNet:
    """Make a SqueezeNet 1.1, which computes less."""
    return SqueezeNet("1_1", **kwargs)
