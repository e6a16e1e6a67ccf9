"""RegNet (https://arxiv.org/abs/2003.13678)."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.vision.models._api import family
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


@dataclass
class BlockParams:
    """The stages of a network: depths, widths, group widths, and so on."""

    depths: list[int]
    widths: list[int]
    group_widths: list[int]
    bottleneck_multipliers: list[float]
    strides: list[int]
    se_ratio: float | None = None

    @classmethod
    def from_init_params(
        cls,
        depth: int,
        w_0: int,
        w_a: float,
        w_m: float,
        group_width: int,
        bottleneck_multiplier: float = 1.0,
        se_ratio: float | None = None,
        **kwargs: Any,
    ) -> BlockParams:
        """Make stages whose widths approximate a line ``w_0 + w_a i`` in steps of a factor."""
        if w_a < 0 or w_0 <= 0 or w_m <= 1 or w_0 % 8:
            raise ValueError(
                "Invalid RegNet settings: w_a >= 0, w_m > 1 and a positive w_0 that is a multiple "
                f"of 8 are wanted, got w_a={w_a}, w_m={w_m}, w_0={w_0}"
            )
        wanted = fb.arange(depth, device="cpu") * w_a + w_0  # not on meta
        steps = fb.round(fb.log(wanted / w_0) / math.log(w_m))
        of_block = (fb.round(w_0 * w_m**steps / 8) * 8).int().tolist()
        stages = sorted(set(of_block))
        inner = [int(width * bottleneck_multiplier) for width in stages]
        groups = [min(group_width, width) for width in inner]
        # The widths inside of the blocks are multiples of the group width.
        widths = [
            int(_make_divisible(width, group) / bottleneck_multiplier)
            for width, group in zip(inner, groups, strict=True)
        ]
        count = len(stages)
        return cls(
            depths=[of_block.count(width) for width in stages],
            widths=widths,
            group_widths=groups,
            bottleneck_multipliers=[bottleneck_multiplier] * count,
            strides=[2] * count,
            se_ratio=se_ratio,
        )


class SimpleStemIN(Conv2dNormActivation):
    """The first convolution."""

    def __init__(
        self, width_in: int, width_out: int, norm_layer: _Norm, activation_layer: _Norm
    ) -> None:
        super().__init__(
            width_in,
            width_out,
            kernel_size=3,
            stride=2,
            norm_layer=norm_layer,
            activation_layer=activation_layer,
        )


class BottleneckTransform(nn.Sequential):
    """Bottleneck: a 1 × 1, a grouped 3 × 3 and another 1 × 1 convolution."""

    def __init__(
        self,
        width_in: int,
        width_out: int,
        stride: int,
        norm_layer: _Norm,
        activation_layer: _Norm,
        group_width: int,
        bottleneck_multiplier: float,
        se_ratio: float | None,
    ) -> None:
        inner = round(width_out * bottleneck_multiplier)
        options: dict[str, Any] = {
            "norm_layer": norm_layer,
            "activation_layer": activation_layer,
        }
        layers: OrderedDict[str, nn.Module] = OrderedDict()
        layers["a"] = Conv2dNormActivation(width_in, inner, kernel_size=1, **options)
        layers["b"] = Conv2dNormActivation(
            inner, inner, 3, stride, groups=inner // group_width, **options
        )
        if se_ratio:
            squeezed = round(se_ratio * width_in)
            layers["se"] = SqueezeExcitation(inner, squeezed, activation=activation_layer)
        layers["c"] = Conv2dNormActivation(
            inner, width_out, kernel_size=1, norm_layer=norm_layer, activation_layer=None
        )
        super().__init__(layers)


class ResBottleneckBlock(nn.Module):
    """Bottleneck with a residual connection."""

    def __init__(
        self,
        width_in: int,
        width_out: int,
        stride: int,
        norm_layer: _Norm,
        activation_layer: _Norm,
        group_width: int = 1,
        bottleneck_multiplier: float = 1.0,
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
            width_in,
            width_out,
            stride,
            norm_layer,
            activation_layer,
            group_width,
            bottleneck_multiplier,
            se_ratio,
        )
        self.activation: nn.Module = activation_layer(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        around = x if self.proj is None else self.proj(x)
        return self.activation(around + self.f(x))  # type: ignore[no-any-return]


class AnyStage(nn.Sequential):
    """Blocks of one width, the first of which has the stride."""

    def __init__(
        self,
        width_in: int,
        width_out: int,
        stride: int,
        depth: int,
        block_constructor: _Norm,
        norm_layer: _Norm,
        activation_layer: _Norm,
        group_width: int,
        bottleneck_multiplier: float,
        se_ratio: float | None = None,
        stage_index: int = 0,
    ) -> None:
        super().__init__()
        for i in range(depth):
            block = block_constructor(
                width_out if i else width_in,
                width_out,
                1 if i else stride,
                norm_layer,
                activation_layer,
                group_width,
                bottleneck_multiplier,
                se_ratio,
            )
            self.add_module(f"block{stage_index}-{i}", block)


class RegNet(nn.Module):
    """A stem, stages of quantised widths, and a linear layer."""

    def __init__(
        self,
        block_params: BlockParams,
        num_classes: int = 1000,
        stem_width: int = 32,
        stem_type: _Norm | None = None,
        block_type: _Norm | None = None,
        norm_layer: _Norm | None = None,
        activation: _Norm | None = None,
    ) -> None:
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2d
        activation = activation or nn.ReLU
        self.stem: nn.Module = (stem_type or SimpleStemIN)(3, stem_width, norm_layer, activation)
        trunk: OrderedDict[str, nn.Module] = OrderedDict()
        width = stem_width
        stages = zip(
            block_params.widths,
            block_params.strides,
            block_params.depths,
            block_params.group_widths,
            block_params.bottleneck_multipliers,
            strict=True,
        )
        for number, (wanted, stride, depth, group_width, multiplier) in enumerate(stages, 1):
            trunk[f"block{number}"] = AnyStage(
                width,
                wanted,
                stride,
                depth,
                block_type or ResBottleneckBlock,
                norm_layer,
                activation,
                group_width,
                multiplier,
                block_params.se_ratio,
                stage_index=number,
            )
            width = wanted
        self.trunk_output: nn.Sequential = nn.Sequential(trunk)
        self.avgpool: nn.AdaptiveAvgPool2d = nn.AdaptiveAvgPool2d((1, 1))
        self.fc: nn.Linear = nn.Linear(width, num_classes)
        start(self, _conv_normal, norm_unit, linear_normal)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.avgpool(self.trunk_output(self.stem(x))).flatten(1))  # type: ignore[no-any-return]


def _conv_normal(module: nn.Module) -> None:
    """Kaiming initialisation by the fan out, as if there were one group."""
    if isinstance(module, nn.Conv2d):
        outputs = module.kernel_size[0] * module.kernel_size[1] * module.out_channels
        nn.init.normal_(module.weight, mean=0.0, std=math.sqrt(2.0 / outputs))


def _regnet(
    depth: int,
    w_0: int,
    w_a: float,
    w_m: float,
    group_width: int,
    se_ratio: float | None = None,
    **kwargs: Any,
) -> RegNet:
    kwargs.setdefault("norm_layer", partial(nn.BatchNorm2d, eps=1e-05, momentum=0.1))
    stages = BlockParams.from_init_params(depth, w_0, w_a, w_m, group_width, se_ratio=se_ratio)
    return RegNet(stages, **kwargs)


_Model = Callable[..., RegNet]
_model = family(_regnet)

regnet_x_400mf: _Model = _model(
    RegNet_X_400MF_Weights, "a RegNet X of 400 million operations", 22, 24, 24.48, 2.54, 16
)
regnet_x_800mf: _Model = _model(
    RegNet_X_800MF_Weights, "a RegNet X of 800 million operations", 16, 56, 35.73, 2.28, 16
)
regnet_x_1_6gf: _Model = _model(
    RegNet_X_1_6GF_Weights, "a RegNet X of 1.6 billion operations", 18, 80, 34.01, 2.25, 24
)
regnet_x_3_2gf: _Model = _model(
    RegNet_X_3_2GF_Weights, "a RegNet X of 3.2 billion operations", 25, 88, 26.31, 2.25, 48
)
regnet_x_8gf: _Model = _model(
    RegNet_X_8GF_Weights, "a RegNet X of 8 billion operations", 23, 80, 49.56, 2.88, 120
)
regnet_x_16gf: _Model = _model(
    RegNet_X_16GF_Weights, "a RegNet X of 16 billion operations", 22, 216, 55.59, 2.1, 128
)
regnet_x_32gf: _Model = _model(
    RegNet_X_32GF_Weights, "a RegNet X of 32 billion operations", 23, 320, 69.86, 2.0, 168
)
regnet_y_400mf: _Model = _model(
    RegNet_Y_400MF_Weights, "a RegNet Y of 400 million operations", 16, 48, 27.89, 2.09, 8, 0.25
)
regnet_y_800mf: _Model = _model(
    RegNet_Y_800MF_Weights, "a RegNet Y of 800 million operations", 14, 56, 38.84, 2.4, 16, 0.25
)
regnet_y_1_6gf: _Model = _model(
    RegNet_Y_1_6GF_Weights, "a RegNet Y of 1.6 billion operations", 27, 48, 20.71, 2.65, 24, 0.25
)
regnet_y_3_2gf: _Model = _model(
    RegNet_Y_3_2GF_Weights, "a RegNet Y of 3.2 billion operations", 21, 80, 42.63, 2.66, 24, 0.25
)
regnet_y_8gf: _Model = _model(
    RegNet_Y_8GF_Weights, "a RegNet Y of 8 billion operations", 17, 192, 76.82, 2.19, 56, 0.25
)
regnet_y_16gf: _Model = _model(
    RegNet_Y_16GF_Weights, "a RegNet Y of 16 billion operations", 18, 200, 106.23, 2.48, 112, 0.25
)
regnet_y_32gf: _Model = _model(
    RegNet_Y_32GF_Weights, "a RegNet Y of 32 billion operations", 20, 232, 115.89, 2.53, 232, 0.25
)
regnet_y_128gf: _Model = _model(
    RegNet_Y_128GF_Weights, "a RegNet Y of 128 billion operations", 27, 456, 160.83, 2.52, 264, 0.25
)
