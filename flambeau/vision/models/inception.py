"""Inception v3 (https://arxiv.org/abs/1512.00567)."""

from __future__ import annotations

import warnings
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.nn.functional import adaptive_avg_pool2d, avg_pool2d, max_pool2d
from flambeau.vision.models._api import builder
from flambeau.vision.models._init import norm_unit, start
from flambeau.vision.models._weights import weights_of
from flambeau.vision.models.googlenet import BasicConv2d, as_before_2016

__all__ = ["Inception3", "InceptionOutputs", "Inception_V3_Weights", "inception_v3"]

Inception_V3_Weights: Any = weights_of("inception_v3")
InceptionOutputs = namedtuple("InceptionOutputs", ["logits", "aux_logits"])
_InceptionOutputs = InceptionOutputs  # its name in older programs
_Conv = Callable[..., nn.Module]


def _mean(x: Tensor) -> Tensor:
    return avg_pool2d(x, kernel_size=3, stride=1, padding=1)


class InceptionA(nn.Module):
    """Branches with 1 × 1, 5 × 5 and twice 3 × 3 convolutions."""

    def __init__(
        self, in_channels: int, pool_features: int, conv_block: _Conv | None = None
    ) -> None:
        super().__init__()
        conv_block = conv_block or BasicConv2d
        self.branch1x1: nn.Module = conv_block(in_channels, 64, kernel_size=1)
        self.branch5x5_1: nn.Module = conv_block(in_channels, 48, kernel_size=1)
        self.branch5x5_2: nn.Module = conv_block(48, 64, kernel_size=5, padding=2)
        self.branch3x3dbl_1: nn.Module = conv_block(in_channels, 64, kernel_size=1)
        self.branch3x3dbl_2: nn.Module = conv_block(64, 96, kernel_size=3, padding=1)
        self.branch3x3dbl_3: nn.Module = conv_block(96, 96, kernel_size=3, padding=1)
        self.branch_pool: nn.Module = conv_block(in_channels, pool_features, kernel_size=1)

    def forward(self, x: Tensor) -> Tensor:
        wide = self.branch5x5_2(self.branch5x5_1(x))
        twice = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        return fb.cat([self.branch1x1(x), wide, twice, self.branch_pool(_mean(x))], 1)


class InceptionB(nn.Module):
    """Grid reduction to half the size, with 3 × 3 convolutions."""

    def __init__(self, in_channels: int, conv_block: _Conv | None = None) -> None:
        super().__init__()
        conv_block = conv_block or BasicConv2d
        self.branch3x3: nn.Module = conv_block(in_channels, 384, kernel_size=3, stride=2)
        self.branch3x3dbl_1: nn.Module = conv_block(in_channels, 64, kernel_size=1)
        self.branch3x3dbl_2: nn.Module = conv_block(64, 96, kernel_size=3, padding=1)
        self.branch3x3dbl_3: nn.Module = conv_block(96, 96, kernel_size=3, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        twice = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        return fb.cat([self.branch3x3(x), twice, max_pool2d(x, kernel_size=3, stride=2)], 1)


class InceptionC(nn.Module):
    """Branches with 7 × 7 convolutions factored into 1 × 7 and 7 × 1."""

    def __init__(
        self, in_channels: int, channels_7x7: int, conv_block: _Conv | None = None
    ) -> None:
        super().__init__()
        conv_block = conv_block or BasicConv2d
        c7 = channels_7x7
        across: dict[str, Any] = {"kernel_size": (1, 7), "padding": (0, 3)}
        down: dict[str, Any] = {"kernel_size": (7, 1), "padding": (3, 0)}
        self.branch1x1: nn.Module = conv_block(in_channels, 192, kernel_size=1)
        self.branch7x7_1: nn.Module = conv_block(in_channels, c7, kernel_size=1)
        self.branch7x7_2: nn.Module = conv_block(c7, c7, **across)
        self.branch7x7_3: nn.Module = conv_block(c7, 192, **down)
        self.branch7x7dbl_1: nn.Module = conv_block(in_channels, c7, kernel_size=1)
        self.branch7x7dbl_2: nn.Module = conv_block(c7, c7, **down)
        self.branch7x7dbl_3: nn.Module = conv_block(c7, c7, **across)
        self.branch7x7dbl_4: nn.Module = conv_block(c7, c7, **down)
        self.branch7x7dbl_5: nn.Module = conv_block(c7, 192, **across)
        self.branch_pool: nn.Module = conv_block(in_channels, 192, kernel_size=1)

    def forward(self, x: Tensor) -> Tensor:
        once = self.branch7x7_3(self.branch7x7_2(self.branch7x7_1(x)))
        twice = self.branch7x7dbl_3(self.branch7x7dbl_2(self.branch7x7dbl_1(x)))
        twice = self.branch7x7dbl_5(self.branch7x7dbl_4(twice))
        return fb.cat([self.branch1x1(x), once, twice, self.branch_pool(_mean(x))], 1)


class InceptionD(nn.Module):
    """Grid reduction to half the size, with 3 × 3 and 7 × 7 convolutions."""

    def __init__(self, in_channels: int, conv_block: _Conv | None = None) -> None:
        super().__init__()
        conv_block = conv_block or BasicConv2d
        self.branch3x3_1: nn.Module = conv_block(in_channels, 192, kernel_size=1)
        self.branch3x3_2: nn.Module = conv_block(192, 320, kernel_size=3, stride=2)
        self.branch7x7x3_1: nn.Module = conv_block(in_channels, 192, kernel_size=1)
        self.branch7x7x3_2: nn.Module = conv_block(192, 192, kernel_size=(1, 7), padding=(0, 3))
        self.branch7x7x3_3: nn.Module = conv_block(192, 192, kernel_size=(7, 1), padding=(3, 0))
        self.branch7x7x3_4: nn.Module = conv_block(192, 192, kernel_size=3, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        small = self.branch3x3_2(self.branch3x3_1(x))
        wide = self.branch7x7x3_3(self.branch7x7x3_2(self.branch7x7x3_1(x)))
        wide = self.branch7x7x3_4(wide)
        return fb.cat([small, wide, max_pool2d(x, kernel_size=3, stride=2)], 1)


class InceptionE(nn.Module):
    """Branches with 1 × 3 and 3 × 1 convolutions side by side."""

    def __init__(self, in_channels: int, conv_block: _Conv | None = None) -> None:
        super().__init__()
        conv_block = conv_block or BasicConv2d
        across: dict[str, Any] = {"kernel_size": (1, 3), "padding": (0, 1)}
        down: dict[str, Any] = {"kernel_size": (3, 1), "padding": (1, 0)}
        self.branch1x1: nn.Module = conv_block(in_channels, 320, kernel_size=1)
        self.branch3x3_1: nn.Module = conv_block(in_channels, 384, kernel_size=1)
        self.branch3x3_2a: nn.Module = conv_block(384, 384, **across)
        self.branch3x3_2b: nn.Module = conv_block(384, 384, **down)
        self.branch3x3dbl_1: nn.Module = conv_block(in_channels, 448, kernel_size=1)
        self.branch3x3dbl_2: nn.Module = conv_block(448, 384, kernel_size=3, padding=1)
        self.branch3x3dbl_3a: nn.Module = conv_block(384, 384, **across)
        self.branch3x3dbl_3b: nn.Module = conv_block(384, 384, **down)
        self.branch_pool: nn.Module = conv_block(in_channels, 192, kernel_size=1)

    def forward(self, x: Tensor) -> Tensor:
        once = self.branch3x3_1(x)
        twice = self.branch3x3dbl_2(self.branch3x3dbl_1(x))
        return fb.cat(
            [
                self.branch1x1(x),
                self.branch3x3_2a(once),
                self.branch3x3_2b(once),
                self.branch3x3dbl_3a(twice),
                self.branch3x3dbl_3b(twice),
                self.branch_pool(_mean(x)),
            ],
            1,
        )


class InceptionAux(nn.Module):
    """Auxiliary classifier in the middle of the network, for training."""

    def __init__(self, in_channels: int, num_classes: int, conv_block: _Conv | None = None) -> None:
        super().__init__()
        conv_block = conv_block or BasicConv2d
        self.conv0: nn.Module = conv_block(in_channels, 128, kernel_size=1)
        self.conv1: nn.Module = conv_block(128, 768, kernel_size=5)
        self.conv1.stddev = 0.01
        self.fc: nn.Linear = nn.Linear(768, num_classes)
        self.fc.stddev = 0.001

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv1(self.conv0(avg_pool2d(x, kernel_size=5, stride=3)))
        return self.fc(adaptive_avg_pool2d(x, (1, 1)).flatten(1))  # type: ignore[no-any-return]


class Inception3(nn.Module):
    """Eleven Inception modules; in training also the output of an auxiliary classifier."""

    def __init__(
        self,
        num_classes: int = 1000,
        aux_logits: bool = True,
        transform_input: bool = False,
        inception_blocks: Any = None,
        init_weights: bool | None = None,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        if init_weights is None:
            warnings.warn(
                "The default weight initialization of inception_v3 will be changed in future "
                "releases of torchvision: set init_weights=True to keep it.",
                FutureWarning,
                stacklevel=2,
            )
        conv, a, b, c, d, e, auxiliary = inception_blocks or (
            *(BasicConv2d, InceptionA, InceptionB, InceptionC, InceptionD, InceptionE),
            InceptionAux,
        )
        self.aux_logits = aux_logits
        self.transform_input = transform_input
        self.Conv2d_1a_3x3: BasicConv2d | Any = conv(3, 32, kernel_size=3, stride=2)
        self.Conv2d_2a_3x3: BasicConv2d | Any = conv(32, 32, kernel_size=3)
        self.Conv2d_2b_3x3: BasicConv2d | Any = conv(32, 64, kernel_size=3, padding=1)
        self.maxpool1: nn.MaxPool2d = nn.MaxPool2d(kernel_size=3, stride=2)
        self.Conv2d_3b_1x1: BasicConv2d | Any = conv(64, 80, kernel_size=1)
        self.Conv2d_4a_3x3: BasicConv2d | Any = conv(80, 192, kernel_size=3)
        self.maxpool2: nn.MaxPool2d = nn.MaxPool2d(kernel_size=3, stride=2)
        self.Mixed_5b: InceptionA | Any = a(192, pool_features=32)
        self.Mixed_5c: InceptionA | Any = a(256, pool_features=64)
        self.Mixed_5d: InceptionA | Any = a(288, pool_features=64)
        self.Mixed_6a: InceptionB | Any = b(288)
        self.Mixed_6b: InceptionC | Any = c(768, channels_7x7=128)
        self.Mixed_6c: InceptionC | Any = c(768, channels_7x7=160)
        self.Mixed_6d: InceptionC | Any = c(768, channels_7x7=160)
        self.Mixed_6e: InceptionC | Any = c(768, channels_7x7=192)
        self.AuxLogits: nn.Module | None = auxiliary(768, num_classes) if aux_logits else None
        self.Mixed_7a: InceptionD | Any = d(768)
        self.Mixed_7b: InceptionE | Any = e(1280)
        self.Mixed_7c: InceptionE | Any = e(2048)
        self.avgpool: nn.AdaptiveAvgPool2d = nn.AdaptiveAvgPool2d((1, 1))
        self.dropout: nn.Dropout = nn.Dropout(p=dropout)
        self.fc: nn.Linear = nn.Linear(2048, num_classes)
        if init_weights is not False:
            start(self, _truncated, norm_unit)

    def forward(self, x: Tensor) -> Any:
        if self.transform_input:
            x = as_before_2016(x)
        x = self.maxpool1(self.Conv2d_2b_3x3(self.Conv2d_2a_3x3(self.Conv2d_1a_3x3(x))))
        x = self.maxpool2(self.Conv2d_4a_3x3(self.Conv2d_3b_1x1(x)))
        x = self.Mixed_6a(self.Mixed_5d(self.Mixed_5c(self.Mixed_5b(x))))
        x = self.Mixed_6e(self.Mixed_6d(self.Mixed_6c(self.Mixed_6b(x))))
        helps = self.training and self.AuxLogits is not None
        auxiliary = self.AuxLogits(x) if helps else None  # type: ignore[misc]
        x = self.avgpool(self.Mixed_7c(self.Mixed_7b(self.Mixed_7a(x))))
        x = self.fc(self.dropout(x).flatten(1))
        return InceptionOutputs(x, auxiliary) if helps else x


def _truncated(module: nn.Module) -> None:
    if isinstance(module, (nn.Conv2d, nn.Linear)):
        deviation = float(getattr(module, "stddev", 0.1))
        nn.init.trunc_normal_(module.weight, mean=0.0, std=deviation, a=-2, b=2)


@builder(
    Inception_V3_Weights,
    pretrained={"init_weights": False, "transform_input": True},
    optional=("AuxLogits",),
)
def inception_v3(**kwargs: Any) -> Inception3:
    """Make an Inception v3, which expects images of 299 × 299 pixels."""
    return Inception3(**kwargs)
