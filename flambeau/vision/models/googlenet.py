"""GoogLeNet (https://arxiv.org/abs/1409.4842)."""

from __future__ import annotations

import warnings
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.nn.functional import adaptive_avg_pool2d, relu
from flambeau.vision.models._api import builder
from flambeau.vision.models._init import norm_unit, start
from flambeau.vision.models._weights import weights_of

__all__ = ["GoogLeNet", "GoogLeNetOutputs", "GoogLeNet_Weights", "googlenet"]

GoogLeNet_Weights: Any = weights_of("googlenet")
GoogLeNetOutputs = namedtuple("GoogLeNetOutputs", ["logits", "aux_logits2", "aux_logits1"])
_GoogLeNetOutputs = GoogLeNetOutputs  # its name in older programs
_Conv = Callable[..., nn.Module]


class BasicConv2d(nn.Module):
    """Convolution, batch normalisation and ReLU."""

    def __init__(self, in_channels: int, out_channels: int, **kwargs: Any) -> None:
        super().__init__()
        self.conv: nn.Conv2d = nn.Conv2d(in_channels, out_channels, bias=False, **kwargs)
        self.bn: nn.BatchNorm2d = nn.BatchNorm2d(out_channels, eps=0.001)

    def forward(self, x: Tensor) -> Tensor:
        return relu(self.bn(self.conv(x)), inplace=True)


class Inception(nn.Module):
    """Inception module: four branches with kernels of different sizes."""

    def __init__(
        self,
        in_channels: int,
        ch1x1: int,
        ch3x3red: int,
        ch3x3: int,
        ch5x5red: int,
        ch5x5: int,
        pool_proj: int,
        conv_block: _Conv | None = None,
    ) -> None:
        super().__init__()
        conv_block = conv_block or BasicConv2d
        self.branch1: nn.Module = conv_block(in_channels, ch1x1, kernel_size=1)
        self.branch2: nn.Sequential = nn.Sequential(
            conv_block(in_channels, ch3x3red, kernel_size=1),
            conv_block(ch3x3red, ch3x3, kernel_size=3, padding=1),
        )
        # The published weights were trained with a 3 × 3 kernel here, not 5 × 5 as in the paper.
        self.branch3: nn.Sequential = nn.Sequential(
            conv_block(in_channels, ch5x5red, kernel_size=1),
            conv_block(ch5x5red, ch5x5, kernel_size=3, padding=1),
        )
        self.branch4: nn.Sequential = nn.Sequential(
            nn.MaxPool2d(kernel_size=3, stride=1, padding=1, ceil_mode=True),
            conv_block(in_channels, pool_proj, kernel_size=1),
        )

    def forward(self, x: Tensor) -> Tensor:
        return fb.cat([self.branch1(x), self.branch2(x), self.branch3(x), self.branch4(x)], 1)


class InceptionAux(nn.Module):
    """Auxiliary classifier in the middle of the network, for training."""

    def __init__(
        self,
        in_channels: int,
        num_classes: int,
        conv_block: _Conv | None = None,
        dropout: float = 0.7,
    ) -> None:
        super().__init__()
        self.conv: nn.Module = (conv_block or BasicConv2d)(in_channels, 128, kernel_size=1)
        self.fc1: nn.Linear = nn.Linear(2048, 1024)
        self.fc2: nn.Linear = nn.Linear(1024, num_classes)
        self.dropout: nn.Dropout = nn.Dropout(p=dropout)

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv(adaptive_avg_pool2d(x, (4, 4))).flatten(1)
        return self.fc2(self.dropout(relu(self.fc1(x), inplace=True)))  # type: ignore[no-any-return]


class GoogLeNet(nn.Module):
    """Nine Inception modules; in training also the outputs of two auxiliary classifiers."""

    def __init__(
        self,
        num_classes: int = 1000,
        aux_logits: bool = True,
        transform_input: bool = False,
        init_weights: bool | None = None,
        blocks: Any = None,
        dropout: float = 0.2,
        dropout_aux: float = 0.7,
    ) -> None:
        super().__init__()
        if init_weights is None:
            warnings.warn(
                "The default weight initialization of GoogleNet will be changed in future releases "
                "of torchvision: set init_weights=True to keep it.",
                FutureWarning,
                stacklevel=2,
            )
        conv, inception, auxiliary = blocks or (BasicConv2d, Inception, InceptionAux)
        self.aux_logits = aux_logits
        self.transform_input = transform_input
        self.conv1: BasicConv2d | Any = conv(3, 64, kernel_size=7, stride=2, padding=3)
        self.maxpool1: nn.MaxPool2d = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        self.conv2: BasicConv2d | Any = conv(64, 64, kernel_size=1)
        self.conv3: BasicConv2d | Any = conv(64, 192, kernel_size=3, padding=1)
        self.maxpool2: nn.MaxPool2d = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        self.inception3a: Inception | Any = inception(192, 64, 96, 128, 16, 32, 32)
        self.inception3b: Inception | Any = inception(256, 128, 128, 192, 32, 96, 64)
        self.maxpool3: nn.MaxPool2d = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        self.inception4a: Inception | Any = inception(480, 192, 96, 208, 16, 48, 64)
        self.inception4b: Inception | Any = inception(512, 160, 112, 224, 24, 64, 64)
        self.inception4c: Inception | Any = inception(512, 128, 128, 256, 24, 64, 64)
        self.inception4d: Inception | Any = inception(512, 112, 144, 288, 32, 64, 64)
        self.inception4e: Inception | Any = inception(528, 256, 160, 320, 32, 128, 128)
        self.maxpool4: nn.MaxPool2d = nn.MaxPool2d(2, stride=2, ceil_mode=True)
        self.inception5a: Inception | Any = inception(832, 256, 160, 320, 32, 128, 128)
        self.inception5b: Inception | Any = inception(832, 384, 192, 384, 48, 128, 128)
        self.aux1: InceptionAux | Any | None = (
            auxiliary(512, num_classes, dropout=dropout_aux) if aux_logits else None
        )
        self.aux2: InceptionAux | Any | None = (
            auxiliary(528, num_classes, dropout=dropout_aux) if aux_logits else None
        )
        self.avgpool: nn.AdaptiveAvgPool2d = nn.AdaptiveAvgPool2d((1, 1))
        self.dropout: nn.Dropout = nn.Dropout(p=dropout)
        self.fc: nn.Linear = nn.Linear(1024, num_classes)
        if init_weights is not False:
            start(self, _truncated, norm_unit)

    def forward(self, x: Tensor) -> Any:
        if self.transform_input:
            x = as_before_2016(x)
        x = self.maxpool1(self.conv1(x))
        x = self.maxpool2(self.conv3(self.conv2(x)))
        x = self.maxpool3(self.inception3b(self.inception3a(x)))
        x = self.inception4a(x)
        helps = self.training and self.aux1 is not None and self.aux2 is not None
        first = self.aux1(x) if helps else None  # type: ignore[misc]
        x = self.inception4d(self.inception4c(self.inception4b(x)))
        second = self.aux2(x) if helps else None  # type: ignore[misc]
        x = self.maxpool4(self.inception4e(x))
        x = self.avgpool(self.inception5b(self.inception5a(x))).flatten(1)
        x = self.fc(self.dropout(x))
        return GoogLeNetOutputs(x, second, first) if helps else x


def as_before_2016(x: Tensor) -> Tensor:
    """Convert images from ImageNet's normalisation to the range -1 to 1."""
    means, deviations = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    channels = [
        x[:, i : i + 1] * (deviation / 0.5) + (mean - 0.5) / 0.5
        for i, (mean, deviation) in enumerate(zip(means, deviations, strict=True))
    ]
    return fb.cat(channels, 1)


def _truncated(module: nn.Module) -> None:
    if isinstance(module, (nn.Conv2d, nn.Linear)):
        nn.init.trunc_normal_(module.weight, mean=0.0, std=0.01, a=-2, b=2)


@builder(
    GoogLeNet_Weights,
    pretrained={"init_weights": False, "transform_input": True},
    usual={"aux_logits": False},
    optional=("aux1", "aux2"),
)
def googlenet(**kwargs: Any) -> GoogLeNet:
    """Make a GoogLeNet."""
    return GoogLeNet(**kwargs)
