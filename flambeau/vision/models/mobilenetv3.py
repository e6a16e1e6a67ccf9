"""MobileNet v3 (https://arxiv.org/abs/1905.02244)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from flambeau import Tensor, nn
from flambeau.vision.models._api import builder
from flambeau.vision.models._init import conv_fan_out, linear_normal, norm_unit, start
from flambeau.vision.models._utils import _make_divisible
from flambeau.vision.models._weights import weights_of
from flambeau.vision.ops.misc import Conv2dNormActivation, SqueezeExcitation

__all__ = [
    "MobileNetV3",
    "MobileNet_V3_Large_Weights",
    "MobileNet_V3_Small_Weights",
    "mobilenet_v3_large",
    "mobilenet_v3_small",
]

MobileNet_V3_Large_Weights: Any = weights_of("mobilenet_v3_large")
MobileNet_V3_Small_Weights: Any = weights_of("mobilenet_v3_small")
_Norm = Callable[..., nn.Module]
_SE = partial(SqueezeExcitation, scale_activation=nn.Hardsigmoid)


class InvertedResidualConfig:
    """The parameters of one block: "RE" is ReLU, "HS" is Hardswish."""

    def __init__(
        self,
        input_channels: int,
        kernel: int,
        expanded_channels: int,
        out_channels: int,
        use_se: bool,
        activation: str,
        stride: int,
        dilation: int,
        width_mult: float,
    ) -> None:
        self.input_channels: int = self.adjust_channels(input_channels, width_mult)
        self.kernel = kernel
        self.expanded_channels: int = self.adjust_channels(expanded_channels, width_mult)
        self.out_channels: int = self.adjust_channels(out_channels, width_mult)
        self.use_se = use_se
        self.use_hs: bool = activation == "HS"
        self.stride = stride
        self.dilation = dilation

    @staticmethod
    def adjust_channels(channels: int, width_mult: float) -> int:
        """Return the nearest multiple of eight."""
        return _make_divisible(channels * width_mult, 8)


class InvertedResidual(nn.Module):
    """Inverted residual block, optionally with squeeze-and-excitation."""

    def __init__(
        self,
        cnf: InvertedResidualConfig,
        norm_layer: _Norm,
        se_layer: Callable[..., nn.Module] = _SE,
    ) -> None:
        super().__init__()
        if not 1 <= cnf.stride <= 2:
            raise ValueError(f"illegal stride value {cnf.stride}")
        self.use_res_connect: bool = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        inner = cnf.expanded_channels
        options: dict[str, Any] = {
            "norm_layer": norm_layer,
            "activation_layer": nn.Hardswish if cnf.use_hs else nn.ReLU,
        }
        layers: list[nn.Module] = []
        if inner != cnf.input_channels:
            layers.append(Conv2dNormActivation(cnf.input_channels, inner, kernel_size=1, **options))
        layers.append(
            Conv2dNormActivation(
                inner,
                inner,
                kernel_size=cnf.kernel,
                stride=1 if cnf.dilation > 1 else cnf.stride,
                dilation=cnf.dilation,
                groups=inner,
                **options,
            )
        )
        if cnf.use_se:
            squeezed = _make_divisible(inner // 4, 8)
            layers.append(se_layer(inner, squeezed))
        layers.append(
            Conv2dNormActivation(
                inner,
                cnf.out_channels,
                kernel_size=1,
                norm_layer=norm_layer,
                activation_layer=None,
            )
        )
        self.block: nn.Sequential = nn.Sequential(*layers)
        self.out_channels: int = cnf.out_channels
        self._is_cn: bool = cnf.stride > 1  # detectors take features before these

    def forward(self, input: Tensor) -> Tensor:
        result: Tensor = self.block(input)
        if self.use_res_connect:
            result += input
        return result


class MobileNetV3(nn.Module):
    """Blocks between two convolutions, and two linear layers."""

    def __init__(
        self,
        inverted_residual_setting: Sequence[InvertedResidualConfig],
        last_channel: int,
        num_classes: int = 1000,
        block: Callable[..., nn.Module] | None = None,
        norm_layer: _Norm | None = None,
        dropout: float = 0.2,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        settings = list(inverted_residual_setting)
        if not settings:
            raise ValueError("The inverted_residual_setting should not be empty")
        block = block or InvertedResidual
        norm_layer = norm_layer or partial(nn.BatchNorm2d, eps=0.001, momentum=0.01)
        options: dict[str, Any] = {"norm_layer": norm_layer, "activation_layer": nn.Hardswish}
        first, last = settings[0].input_channels, settings[-1].out_channels
        layers: list[nn.Module] = [
            Conv2dNormActivation(3, first, kernel_size=3, stride=2, **options)
        ]
        layers += [block(cnf, norm_layer) for cnf in settings]
        layers.append(Conv2dNormActivation(last, 6 * last, kernel_size=1, **options))
        self.features: nn.Sequential = nn.Sequential(*layers)
        self.avgpool: nn.AdaptiveAvgPool2d = nn.AdaptiveAvgPool2d(1)
        self.classifier: nn.Sequential = nn.Sequential(
            nn.Linear(6 * last, last_channel),
            nn.Hardswish(inplace=True),
            nn.Dropout(p=dropout, inplace=True),
            nn.Linear(last_channel, num_classes),
        )
        start(self, conv_fan_out, norm_unit, linear_normal)

    def _forward_impl(self, x: Tensor) -> Tensor:
        return self.classifier(self.avgpool(self.features(x)).flatten(1))  # type: ignore[no-any-return]

    def forward(self, x: Tensor) -> Tensor:
        return self._forward_impl(x)


# Channels in, kernel, channels inside, channels out, SE or not, activation, stride. From the
# row with a "*" on, channels and strides may be traded for dilation.
_LARGE = """
16 3 16 16 - RE 1
16 3 64 24 - RE 2
24 3 72 24 - RE 1
24 5 72 40 SE RE 2
40 5 120 40 SE RE 1
40 5 120 40 SE RE 1
40 3 240 80 - HS 2
80 3 200 80 - HS 1
80 3 184 80 - HS 1
80 3 184 80 - HS 1
80 3 480 112 SE HS 1
112 3 672 112 SE HS 1
112 5 672 160 SE HS 2 *
160 5 960 160 SE HS 1 *
160 5 960 160 SE HS 1 *
"""
_SMALL = """
16 3 16 16 SE RE 2
16 3 72 24 - RE 2
24 3 88 24 - RE 1
24 5 96 40 SE HS 2
40 5 240 40 SE HS 1
40 5 240 40 SE HS 1
40 5 120 48 SE HS 1
48 5 144 48 SE HS 1
48 5 288 96 SE HS 2 *
96 5 576 96 SE HS 1 *
96 5 576 96 SE HS 1 *
"""


def _settings(
    table: str, width_mult: float, reduced: bool, dilated: bool
) -> list[InvertedResidualConfig]:
    settings = []
    for line in table.split("\n")[1:-1]:
        sizes, (weighted, activation, stride, *late) = line.split()[:4], line.split()[4:]
        before, window, inner, after = (int(size) for size in sizes)
        if late and reduced:
            after //= 2
            if stride == "1":  # the first of them gets the channels of those before
                before, inner = before // 2, inner // 2
        settings.append(
            InvertedResidualConfig(
                before,
                window,
                inner,
                after,
                weighted == "SE",
                activation,
                int(stride),
                2 if late and dilated else 1,
                width_mult,
            )
        )
    return settings


def _numbers(
    table: str,
    last_channel: int,
    width_mult: float = 1.0,
    reduced_tail: bool = False,
    dilated: bool = False,
    **kwargs: Any,
) -> tuple[list[InvertedResidualConfig], int, dict[str, Any]]:
    """Return the blocks of a network, its last channels, and the other arguments."""
    last = InvertedResidualConfig.adjust_channels(
        last_channel // (2 if reduced_tail else 1), width_mult
    )
    return _settings(table, width_mult, reduced_tail, dilated), last, kwargs


large_settings = partial(_numbers, _LARGE, 1280)
small_settings = partial(_numbers, _SMALL, 1024)


@builder(MobileNet_V3_Large_Weights)
def mobilenet_v3_large(**kwargs: Any) -> MobileNetV3:
    """Make a large MobileNet v3."""
    settings, last_channel, others = large_settings(**kwargs)
    return MobileNetV3(settings, last_channel, **others)


@builder(MobileNet_V3_Small_Weights)
def mobilenet_v3_small(**kwargs: Any) -> MobileNetV3:
    """Make a small MobileNet v3."""
    settings, last_channel, others = small_settings(**kwargs)
    return MobileNetV3(settings, last_channel, **others)
