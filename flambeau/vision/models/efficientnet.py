"""EfficientNet (https://arxiv.org/abs/1905.11946) and its second version."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from flambeau import Tensor, nn
from flambeau.vision.models._api import family
from flambeau.vision.models._init import constant, conv_fan_out, norm_unit, start
from flambeau.vision.models._utils import _make_divisible
from flambeau.vision.models._weights import weights_of
from flambeau.vision.ops.misc import Conv2dNormActivation, SqueezeExcitation
from flambeau.vision.ops.stochastic_depth import StochasticDepth

__all__ = [
    "EfficientNet",
    "EfficientNet_B0_Weights",
    "EfficientNet_B1_Weights",
    "EfficientNet_B2_Weights",
    "EfficientNet_B3_Weights",
    "EfficientNet_B4_Weights",
    "EfficientNet_B5_Weights",
    "EfficientNet_B6_Weights",
    "EfficientNet_B7_Weights",
    "EfficientNet_V2_L_Weights",
    "EfficientNet_V2_M_Weights",
    "EfficientNet_V2_S_Weights",
    "efficientnet_b0",
    "efficientnet_b1",
    "efficientnet_b2",
    "efficientnet_b3",
    "efficientnet_b4",
    "efficientnet_b5",
    "efficientnet_b6",
    "efficientnet_b7",
    "efficientnet_v2_l",
    "efficientnet_v2_m",
    "efficientnet_v2_s",
]

EfficientNet_B0_Weights: Any = weights_of("efficientnet_b0")
EfficientNet_B1_Weights: Any = weights_of("efficientnet_b1")
EfficientNet_B2_Weights: Any = weights_of("efficientnet_b2")
EfficientNet_B3_Weights: Any = weights_of("efficientnet_b3")
EfficientNet_B4_Weights: Any = weights_of("efficientnet_b4")
EfficientNet_B5_Weights: Any = weights_of("efficientnet_b5")
EfficientNet_B6_Weights: Any = weights_of("efficientnet_b6")
EfficientNet_B7_Weights: Any = weights_of("efficientnet_b7")
EfficientNet_V2_S_Weights: Any = weights_of("efficientnet_v2_s")
EfficientNet_V2_M_Weights: Any = weights_of("efficientnet_v2_m")
EfficientNet_V2_L_Weights: Any = weights_of("efficientnet_v2_l")

_Norm = Callable[..., nn.Module]


@dataclass
class _MBConvConfig:
    """The blocks of a stage: expansion, kernel, stride, channels, count."""

    expand_ratio: float
    kernel: int
    stride: int
    input_channels: int
    out_channels: int
    num_layers: int
    block: Callable[..., nn.Module]

    @staticmethod
    def adjust_channels(channels: int, width_mult: float, min_value: int | None = None) -> int:
        """Return the nearest multiple of eight."""
        return _make_divisible(channels * width_mult, 8, min_value)


class MBConvConfig(_MBConvConfig):
    """MBConv blocks of the first version, scaled in width and depth."""

    def __init__(
        self,
        expand_ratio: float,
        kernel: int,
        stride: int,
        input_channels: int,
        out_channels: int,
        num_layers: int,
        width_mult: float = 1.0,
        depth_mult: float = 1.0,
        block: Callable[..., nn.Module] | None = None,
    ) -> None:
        super().__init__(
            expand_ratio,
            kernel,
            stride,
            self.adjust_channels(input_channels, width_mult),
            self.adjust_channels(out_channels, width_mult),
            self.adjust_depth(num_layers, depth_mult),
            block or MBConv,
        )

    @staticmethod
    def adjust_depth(num_layers: int, depth_mult: float) -> int:
        """Return the number of blocks of a deeper network."""
        return math.ceil(num_layers * depth_mult)


class FusedMBConvConfig(_MBConvConfig):
    """Fused-MBConv blocks of the second version."""

    def __init__(
        self,
        expand_ratio: float,
        kernel: int,
        stride: int,
        input_channels: int,
        out_channels: int,
        num_layers: int,
        block: Callable[..., nn.Module] | None = None,
    ) -> None:
        super().__init__(
            expand_ratio,
            kernel,
            stride,
            input_channels,
            out_channels,
            num_layers,
            block or FusedMBConv,
        )


class _Block(nn.Module):
    """Layers with a residual connection, if the shape does not change."""

    def __init__(
        self, cnf: _MBConvConfig, layers: list[nn.Module], stochastic_depth_prob: float
    ) -> None:
        super().__init__()
        if not 1 <= cnf.stride <= 2:
            raise ValueError(f"illegal stride value {cnf.stride}")
        self.use_res_connect: bool = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        self.block: nn.Sequential = nn.Sequential(*layers)
        self.stochastic_depth: StochasticDepth = StochasticDepth(stochastic_depth_prob, "row")
        self.out_channels: int = cnf.out_channels

    def forward(self, input: Tensor) -> Tensor:
        result: Tensor = self.block(input)
        if self.use_res_connect:
            result = self.stochastic_depth(result)
            result += input
        return result


class MBConv(_Block):
    """Inverted residual block with squeeze-and-excitation."""

    def __init__(
        self,
        cnf: _MBConvConfig,
        stochastic_depth_prob: float,
        norm_layer: _Norm,
        se_layer: Callable[..., nn.Module] = SqueezeExcitation,
    ) -> None:
        inner = cnf.adjust_channels(cnf.input_channels, cnf.expand_ratio)
        options: dict[str, Any] = {"norm_layer": norm_layer, "activation_layer": nn.SiLU}
        layers: list[nn.Module] = []
        if inner != cnf.input_channels:
            layers.append(Conv2dNormActivation(cnf.input_channels, inner, kernel_size=1, **options))
        squeezed = max(1, cnf.input_channels // 4)
        layers += [
            Conv2dNormActivation(
                inner, inner, kernel_size=cnf.kernel, stride=cnf.stride, groups=inner, **options
            ),
            se_layer(inner, squeezed, activation=partial(nn.SiLU, inplace=True)),
            _projection(inner, cnf.out_channels, norm_layer),
        ]
        super().__init__(cnf, layers, stochastic_depth_prob)


class FusedMBConv(_Block):
    """The same with one ordinary convolution instead of an expansion and a depthwise one."""

    def __init__(self, cnf: _MBConvConfig, stochastic_depth_prob: float, norm_layer: _Norm) -> None:
        inner = cnf.adjust_channels(cnf.input_channels, cnf.expand_ratio)
        widens = inner != cnf.input_channels
        layers: list[nn.Module] = [
            Conv2dNormActivation(
                cnf.input_channels,
                inner if widens else cnf.out_channels,
                kernel_size=cnf.kernel,
                stride=cnf.stride,
                norm_layer=norm_layer,
                activation_layer=nn.SiLU,
            )
        ]
        if widens:
            layers.append(_projection(inner, cnf.out_channels, norm_layer))
        super().__init__(cnf, layers, stochastic_depth_prob)


def _projection(channels: int, wanted: int, norm_layer: _Norm) -> Conv2dNormActivation:
    return Conv2dNormActivation(
        channels, wanted, kernel_size=1, norm_layer=norm_layer, activation_layer=None
    )


class EfficientNet(nn.Module):
    """Stages of blocks between two convolutions, and a linear layer."""

    def __init__(
        self,
        inverted_residual_setting: Sequence[_MBConvConfig],
        dropout: float,
        stochastic_depth_prob: float = 0.2,
        num_classes: int = 1000,
        norm_layer: _Norm | None = None,
        last_channel: int | None = None,
    ) -> None:
        super().__init__()
        stages = list(inverted_residual_setting)
        if not stages:
            raise ValueError("The inverted_residual_setting should not be empty")
        if not all(isinstance(stage, _MBConvConfig) for stage in stages):
            raise TypeError(
                "The inverted_residual_setting should be List[MBConvConfig], got "
                f"{sorted({type(stage).__name__ for stage in stages})}"
            )
        norm_layer = norm_layer or nn.BatchNorm2d
        options: dict[str, Any] = {"norm_layer": norm_layer, "activation_layer": nn.SiLU}
        layers: list[nn.Module] = [
            Conv2dNormActivation(3, stages[0].input_channels, kernel_size=3, stride=2, **options)
        ]
        total, done = sum(stage.num_layers for stage in stages), 0
        for stage in stages:
            probabilities = [
                stochastic_depth_prob * float(done + i) / total for i in range(stage.num_layers)
            ]
            layers.append(_made(stage, probabilities, norm_layer))
            done += stage.num_layers
        last = stages[-1].out_channels
        width = 4 * last if last_channel is None else last_channel
        layers.append(Conv2dNormActivation(last, width, kernel_size=1, **options))
        self.features: nn.Sequential = nn.Sequential(*layers)
        self.avgpool: nn.AdaptiveAvgPool2d = nn.AdaptiveAvgPool2d(1)
        self.classifier: nn.Sequential = nn.Sequential(
            nn.Dropout(p=dropout, inplace=True), nn.Linear(width, num_classes)
        )
        start(self, conv_fan_out, norm_unit, _linear_uniform)

    def _forward_impl(self, x: Tensor) -> Tensor:
        return self.classifier(self.avgpool(self.features(x)).flatten(1))  # type: ignore[no-any-return]

    def forward(self, x: Tensor) -> Tensor:
        return self._forward_impl(x)


def _made(stage: _MBConvConfig, probabilities: list[float], norm_layer: _Norm) -> nn.Sequential:
    """Return the blocks of a stage: the first has its stride, the others keep the size."""
    others = copy.copy(stage)
    others.input_channels, others.stride = stage.out_channels, 1
    return nn.Sequential(
        *(
            stage.block(others if i else stage, probability, norm_layer)
            for i, probability in enumerate(probabilities)
        )
    )


def _linear_uniform(module: nn.Module) -> None:
    if isinstance(module, nn.Linear):
        limit = 1.0 / math.sqrt(module.out_features)
        nn.init.uniform_(module.weight, -limit, limit)
        constant(module.bias, 0.0)


# Of each stage: expansion, kernel, stride, channels in and out, blocks.
_FIRST = (
    (1, 3, 1, 32, 16, 1),
    (6, 3, 2, 16, 24, 2),
    (6, 5, 2, 24, 40, 2),
    (6, 3, 2, 40, 80, 3),
    (6, 5, 1, 80, 112, 3),
    (6, 5, 2, 112, 192, 4),
    (6, 3, 1, 192, 320, 1),
)
# The first three stages have fused blocks.
_SMALL = (
    (1, 3, 1, 24, 24, 2),
    (4, 3, 2, 24, 48, 4),
    (4, 3, 2, 48, 64, 4),
    (4, 3, 2, 64, 128, 6),
    (6, 3, 1, 128, 160, 9),
    (6, 3, 2, 160, 256, 15),
)
_MEDIUM = (
    (1, 3, 1, 24, 24, 3),
    (4, 3, 2, 24, 48, 5),
    (4, 3, 2, 48, 80, 5),
    (4, 3, 2, 80, 160, 7),
    (6, 3, 1, 160, 176, 14),
    (6, 3, 2, 176, 304, 18),
    (6, 3, 1, 304, 512, 5),
)
_LARGE = (
    (1, 3, 1, 32, 32, 4),
    (4, 3, 2, 32, 64, 7),
    (4, 3, 2, 64, 96, 7),
    (4, 3, 2, 96, 192, 10),
    (6, 3, 1, 192, 224, 19),
    (6, 3, 2, 224, 384, 25),
    (6, 3, 1, 384, 640, 7),
)
_SLOW_NORM = partial(nn.BatchNorm2d, eps=0.001, momentum=0.01)


def _first(width: float, depth: float, dropout: float, **kwargs: Any) -> EfficientNet:
    stages = [MBConvConfig(*row, width_mult=width, depth_mult=depth) for row in _FIRST]
    return EfficientNet(stages, kwargs.pop("dropout", dropout), **kwargs)


def _second(
    table: Sequence[tuple[int, int, int, int, int, int]], dropout: float, **kwargs: Any
) -> EfficientNet:
    stages = [(FusedMBConvConfig if i < 3 else MBConvConfig)(*row) for i, row in enumerate(table)]
    kwargs.setdefault("norm_layer", partial(nn.BatchNorm2d, eps=1e-03))
    return EfficientNet(stages, kwargs.pop("dropout", dropout), last_channel=1280, **kwargs)


_Model = Callable[..., EfficientNet]
_first_model = family(_first)
_second_model = family(_second)

efficientnet_b0: _Model = _first_model(EfficientNet_B0_Weights, "an EfficientNet B0", 1.0, 1.0, 0.2)
efficientnet_b1: _Model = _first_model(EfficientNet_B1_Weights, "an EfficientNet B1", 1.0, 1.1, 0.2)
efficientnet_b2: _Model = _first_model(EfficientNet_B2_Weights, "an EfficientNet B2", 1.1, 1.2, 0.3)
efficientnet_b3: _Model = _first_model(EfficientNet_B3_Weights, "an EfficientNet B3", 1.2, 1.4, 0.3)
efficientnet_b4: _Model = _first_model(EfficientNet_B4_Weights, "an EfficientNet B4", 1.4, 1.8, 0.4)
efficientnet_b5: _Model = _first_model(
    EfficientNet_B5_Weights, "an EfficientNet B5", 1.6, 2.2, 0.4, norm_layer=_SLOW_NORM
)
efficientnet_b6: _Model = _first_model(
    EfficientNet_B6_Weights, "an EfficientNet B6", 1.8, 2.6, 0.5, norm_layer=_SLOW_NORM
)
efficientnet_b7: _Model = _first_model(
    EfficientNet_B7_Weights, "an EfficientNet B7", 2.0, 3.1, 0.5, norm_layer=_SLOW_NORM
)
efficientnet_v2_s: _Model = _second_model(
    EfficientNet_V2_S_Weights, "a small EfficientNet v2", _SMALL, 0.2
)
efficientnet_v2_m: _Model = _second_model(
    EfficientNet_V2_M_Weights, "a medium EfficientNet v2", _MEDIUM, 0.3
)
efficientnet_v2_l: _Model = _second_model(
    EfficientNet_V2_L_Weights, "a large EfficientNet v2", _LARGE, 0.4
)
