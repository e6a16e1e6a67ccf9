"""RegNet (https://arxiv.org/abs/2003.13678)."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.vision.models._api import builder
from flambeau.vision.models._init import linear_normal, norm_unit, start
from flambeau.vision.models._utils import _make_divisible
from flambeau.vision.models._weights import weights_of
from flambeau.vision.ops.misc import Conv2dNormActivation, SqueezeExcitation

__all__ = [
    "RegNet",
    "RegNet_X_1_6GF_Weights",
    "RegNet_X_3_2GF_Weights",
    "RegNet_X_8GF_Weights",
    "RegNet_X_16GF_Weights",
    "RegNet_X_32GF_Weights",
    "RegNet_X_400MF_Weights",
    "RegNet_X_800MF_Weights",
    "RegNet_Y_1_6GF_Weights",
    "RegNet_Y_3_2GF_Weights",
    "RegNet_Y_8GF_Weights",
    "RegNet_Y_16GF_Weights",
    "RegNet_Y_32GF_Weights",
    "RegNet_Y_128GF_Weights",
    "RegNet_Y_400MF_Weights",
    "RegNet_Y_800MF_Weights",
    "regnet_x_1_6gf",
    "regnet_x_3_2gf",
    "regnet_x_8gf",
    "regnet_x_16gf",
    "regnet_x_32gf",
    "regnet_x_400mf",
    "regnet_x_800mf",
    "regnet_y_1_6gf",
    "regnet_y_3_2gf",
    "regnet_y_8gf",
    "regnet_y_16gf",
    "regnet_y_32gf",
    "regnet_y_128gf",
    "regnet_y_400mf",
    "regnet_y_800mf",
]

RegNet_X_400MF_Weights: Any = weights_of("regnet_x_400mf")
RegNet_X_800MF_Weights: Any = weights_of("regnet_x_800mf")
RegNet_X_1_6GF_Weights: Any = weights_of("regnet_x_1_6gf")
RegNet_X_3_2GF_Weights: Any = weights_of("regnet_x_3_2gf")
RegNet_X_8GF_Weights: Any = weights_of("regnet_x_8gf")
RegNet_X_16GF_Weights: Any = weights_of("regnet_x_16gf")
RegNet_X_32GF_Weights: Any = weights_of("regnet_x_32gf")
RegNet_Y_400MF_Weights: Any = weights_of("regnet_y_400mf")
RegNet_Y_800MF_Weights: Any = weights_of("regnet_y_800mf")
RegNet_Y_1_6GF_Weights: Any = weights_of("regnet_y_1_6gf")
RegNet_Y_3_2GF_Weights: Any = weights_of("regnet_y_3_2gf")
RegNet_Y_8GF_Weights: Any = weights_of("regnet_y_8gf")
RegNet_Y_16GF_Weights: Any = weights_of("regnet_y_16gf")
RegNet_Y_32GF_Weights: Any = weights_of("regnet_y_32gf")
RegNet_Y_128GF_Weights: Any = weights_of("regnet_y_128gf")

_Norm = Callable[..., nn.Module]


class Stage:
    """So many blocks of a width in groups of another, the first with a stride of 2."""

    def __init__(self, width: int, depth: int, group_width: int) -> None:
        self.width = width
        self.depth = depth
        self.group_width = group_width


def stages_of(depth: int, w_0: int, w_a: float, w_m: float, group_width: int) -> list[Stage]:
    """The stages whose widths come nearest to a line ``w_0 + w_a i`` in steps of a factor."""
    wanted = fb.arange(depth, device="cpu") * w_a + w_0  # numbers, whatever the model lies on
    steps = fb.round(fb.log(wanted / w_0) / math.log(w_m))
    widths = (fb.round(w_0 * w_m**steps / 8) * 8).int().tolist()
    stages = []
    for width in sorted(set(widths)):
        group = min(group_width, width)
        stages.append(Stage(_make_divisible(width, group), widths.count(width), group))
    return stages


class BottleneckTransform(nn.Sequential):
    """Single pixels, windows of groups of channels, single pixels."""

    def __init__(
        self,
        width_in: int,
        width_out: int,
        stride: int,
        norm_layer: _Norm,
        activation_layer: _Norm,
        group_width: int,
        se_ratio: float | None,
    ) -> None:
        options: dict[str, Any] = {
            "norm_layer": norm_layer,
            "activation_layer": activation_layer,
        }
        layers: OrderedDict[str, nn.Module] = OrderedDict()
        layers["a"] = Conv2dNormActivation(width_in, width_out, kernel_size=1, **options)
        layers["b"] = Conv2dNormActivation(
            width_out, width_out, 3, stride, groups=width_out // group_width, **options
        )
        if se_ratio:
            squeezed = round(se_ratio * width_in)
            layers["se"] = SqueezeExcitation(width_out, squeezed, activation=activation_layer)
        layers["c"] = Conv2dNormActivation(
            width_out, width_out, kernel_size=1, norm_layer=norm_layer, activation_layer=None
        )
        super().__init__(layers)


class ResBottleneckBlock(nn.Module):
    """A bottleneck with a way around."""

    def __init__(
        self,
        width_in: int,
        width_out: int,
        stride: int,
        norm_layer: _Norm,
        activation_layer: _Norm,
        group_width: int = 1,
        se_ratio: float | None = None,
    ) -> None:
        super().__init__()
        self.proj: nn.Module | None = None
        if width_in != width_out or stride != 1:
            self.proj = Conv2dNormActivation(
                width_in,
                width_out,
                kernel_size=1,
                stride=stride,
                norm_layer=norm_layer,
                activation_layer=None,
            )
        self.f: BottleneckTransform = BottleneckTransform(
            width_in, width_out, stride, norm_layer, activation_layer, group_width, se_ratio
        )
        self.activation: nn.Module = activation_layer(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        around = x if self.proj is None else self.proj(x)
        return self.activation(around + self.f(x))  # type: ignore[no-any-return]


class RegNet(nn.Module):
    """A stem, stages whose widths follow a rule, and a linear layer."""

    def __init__(
        self,
        stages: list[Stage],
        se_ratio: float | None = None,
        num_classes: int = 1000,
        stem_width: int = 32,
        norm_layer: _Norm | None = None,
        activation: _Norm | None = None,
    ) -> None:
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2d
        activation = activation or nn.ReLU
        self.stem: Conv2dNormActivation = Conv2dNormActivation(
            3, stem_width, 3, 2, norm_layer=norm_layer, activation_layer=activation
        )
        trunk: OrderedDict[str, nn.Module] = OrderedDict()
        width = stem_width
        for number, stage in enumerate(stages, 1):
            blocks: OrderedDict[str, nn.Module] = OrderedDict()
            for i in range(stage.depth):
                blocks[f"block{number}-{i}"] = ResBottleneckBlock(
                    width if i == 0 else stage.width,
                    stage.width,
                    2 if i == 0 else 1,
                    norm_layer,
                    activation,
                    stage.group_width,
                    se_ratio,
                )
            trunk[f"block{number}"] = nn.Sequential(blocks)
            width = stage.width
        self.trunk_output: nn.Sequential = nn.Sequential(trunk)
        self.avgpool: nn.AdaptiveAvgPool2d = nn.AdaptiveAvgPool2d((1, 1))
        self.fc: nn.Linear = nn.Linear(width, num_classes)
        start(self, _conv_normal, norm_unit, linear_normal)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.avgpool(self.trunk_output(self.stem(x))).flatten(1))  # type: ignore[no-any-return]


def _conv_normal(module: nn.Module) -> None:
    """By what a convolution puts out as if it had one group."""
    if isinstance(module, nn.Conv2d):
        outputs = module.kernel_size[0] * module.kernel_size[1] * module.out_channels
        nn.init.normal_(module.weight, mean=0.0, std=math.sqrt(2.0 / outputs))


def _regnet(
    depth: int, w_0: int, w_a: float, w_m: float, group_width: int, **kwargs: Any
) -> RegNet:
    kwargs.setdefault("norm_layer", partial(nn.BatchNorm2d, eps=1e-05, momentum=0.1))
    return RegNet(stages_of(depth, w_0, w_a, w_m, group_width), **kwargs)


@builder(RegNet_X_400MF_Weights)
def regnet_x_400mf(**kwargs: Any) -> RegNet:
    """Make a RegNet X of 400 million operations."""
    return _regnet(22, 24, 24.48, 2.54, 16, **kwargs)


@builder(RegNet_X_800MF_Weights)
def regnet_x_800mf(**kwargs: Any) -> RegNet:
    """Make a RegNet X of 800 million operations."""
    return _regnet(16, 56, 35.73, 2.28, 16, **kwargs)


@builder(RegNet_X_1_6GF_Weights)
def regnet_x_1_6gf(**kwargs: Any) -> RegNet:
    """Make a RegNet X of 1.6 billion operations."""
    return _regnet(18, 80, 34.01, 2.25, 24, **kwargs)


@builder(RegNet_X_3_2GF_Weights)
def regnet_x_3_2gf(**kwargs: Any) -> RegNet:
    """Make a RegNet X of 3.2 billion operations."""
    return _regnet(25, 88, 26.31, 2.25, 48, **kwargs)


@builder(RegNet_X_8GF_Weights)
def regnet_x_8gf(**kwargs: Any) -> RegNet:
    """Make a RegNet X of 8 billion operations."""
    return _regnet(23, 80, 49.56, 2.88, 120, **kwargs)


@builder(RegNet_X_16GF_Weights)
def regnet_x_16gf(**kwargs: Any) -> RegNet:
    """Make a RegNet X of 16 billion operations."""
    return _regnet(22, 216, 55.59, 2.1, 128, **kwargs)


@builder(RegNet_X_32GF_Weights)
def regnet_x_32gf(**kwargs: Any) -> RegNet:
    """Make a RegNet X of 32 billion operations."""
    return _regnet(23, 320, 69.86, 2.0, 168, **kwargs)


@builder(RegNet_Y_400MF_Weights)
def regnet_y_400mf(**kwargs: Any) -> RegNet:
    """Make a RegNet Y of 400 million operations."""
    return _regnet(16, 48, 27.89, 2.09, 8, se_ratio=0.25, **kwargs)


@builder(RegNet_Y_800MF_Weights)
def regnet_y_800mf(**kwargs: Any) -> RegNet:
    """Make a RegNet Y of 800 million operations."""
    return _regnet(14, 56, 38.84, 2.4, 16, se_ratio=0.25, **kwargs)


@builder(RegNet_Y_1_6GF_Weights)
def regnet_y_1_6gf(**kwargs: Any) -> RegNet:
    """Make a RegNet Y of 1.6 billion operations."""
    return _regnet(27, 48, 20.71, 2.65, 24, se_ratio=0.25, **kwargs)


@builder(RegNet_Y_3_2GF_Weights)
def regnet_y_3_2gf(**kwargs: Any) -> RegNet:
    """Make a RegNet Y of 3.2 billion operations."""
    return _regnet(21, 80, 42.63, 2.66, 24, se_ratio=0.25, **kwargs)


@builder(RegNet_Y_8GF_Weights)
def regnet_y_8gf(**kwargs: Any) -> RegNet:
    """Make a RegNet Y of 8 billion operations."""
    return _regnet(17, 192, 76.82, 2.19, 56, se_ratio=0.25, **kwargs)


@builder(RegNet_Y_16GF_Weights)
def regnet_y_16gf(**kwargs: Any) -> RegNet:
    """Make a RegNet Y of 16 billion operations."""
    return _regnet(18, 200, 106.23, 2.48, 112, se_ratio=0.25, **kwargs)


@builder(RegNet_Y_32GF_Weights)
def regnet_y_32gf(**kwargs: Any) -> RegNet:
    """Make a RegNet Y of 32 billion operations."""
    return _regnet(20, 232, 115.89, 2.53, 232, se_ratio=0.25, **kwargs)


@builder(RegNet_Y_128GF_Weights)
def regnet_y_128gf(**kwargs: Any) -> RegNet:
    """Make a RegNet Y of 128 billion operations."""
    return _regnet(27, 456, 160.83, 2.52, 264, se_ratio=0.25, **kwargs)
