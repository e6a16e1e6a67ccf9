"""MobileNet v2 (https://arxiv.org/abs/1801.04381)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flambeau import Tensor, nn
from flambeau.nn.functional import adaptive_avg_pool2d
from flambeau.vision.models._api import builder
from flambeau.vision.models._init import conv_fan_out, linear_normal, norm_unit, start
from flambeau.vision.models._utils import _make_divisible
from flambeau.vision.models._weights import weights_of
from flambeau.vision.ops.misc import Conv2dNormActivation

__all__ = ["MobileNetV2", "MobileNet_V2_Weights", "mobilenet_v2"]

MobileNet_V2_Weights: Any = weights_of("mobilenet_v2")
_Norm = Callable[..., nn.Module]
# Of each stage: expansion, channels, blocks, stride of the first.
_STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


class InvertedResidual(nn.Module):
    """Inverted residual block with a depthwise convolution."""

    def __init__(
        self,
        inp: int,
        oup: int,
        stride: int,
        expand_ratio: int,
        norm_layer: _Norm | None = None,
    ) -> None:
        super().__init__()
        if stride not in (1, 2):
            raise ValueError(f"stride should be 1 or 2 instead of {stride}")
        norm_layer = norm_layer or nn.BatchNorm2d
        hidden = round(inp * expand_ratio)
        self.stride = stride
        self.use_res_connect: bool = stride == 1 and inp == oup
        options: dict[str, Any] = {"norm_layer": norm_layer, "activation_layer": nn.ReLU6}
        layers: list[nn.Module] = []
        if expand_ratio != 1:
            layers.append(Conv2dNormActivation(inp, hidden, kernel_size=1, **options))
        layers += [
            Conv2dNormActivation(hidden, hidden, stride=stride, groups=hidden, **options),
            nn.Conv2d(hidden, oup, 1, 1, 0, bias=False),
            norm_layer(oup),
        ]
        self.conv: nn.Sequential = nn.Sequential(*layers)
        self.out_channels = oup
        self._is_cn: bool = stride > 1  # detectors take features before these

    def forward(self, x: Tensor) -> Tensor:
        return x + self.conv(x) if self.use_res_connect else self.conv(x)  # type: ignore[no-any-return]


class MobileNetV2(nn.Module):
    """Inverted residual blocks in seven stages."""

    def __init__(
        self,
        num_classes: int = 1000,
        width_mult: float = 1.0,
        inverted_residual_setting: Sequence[Sequence[int]] | None = None,
        round_nearest: int = 8,
        block: Callable[..., nn.Module] | None = None,
        norm_layer: _Norm | None = None,
        dropout: float = 0.2,
    ) -> None:
        super().__init__()
        block = block or InvertedResidual
        norm_layer = norm_layer or nn.BatchNorm2d
        stages = _STAGES if inverted_residual_setting is None else inverted_residual_setting
        if not stages or len(stages[0]) != 4:
            raise ValueError(
                "inverted_residual_setting should be non-empty and made of rows of 4 numbers, got "
                f"{inverted_residual_setting}"
            )
        channels = _make_divisible(32 * width_mult, round_nearest)
        self.last_channel: int = _make_divisible(1280 * max(1.0, width_mult), round_nearest)
        options: dict[str, Any] = {"norm_layer": norm_layer, "activation_layer": nn.ReLU6}
        features: list[nn.Module] = [Conv2dNormActivation(3, channels, stride=2, **options)]
        for ratio, width, count, stride in stages:
            wanted = _make_divisible(width * width_mult, round_nearest)
            for i in range(count):
                step = stride if i == 0 else 1
                features.append(
                    block(channels, wanted, step, expand_ratio=ratio, norm_layer=norm_layer)
                )
                channels = wanted
        features.append(Conv2dNormActivation(channels, self.last_channel, kernel_size=1, **options))
        self.features: nn.Sequential = nn.Sequential(*features)
        self.classifier: nn.Sequential = nn.Sequential(
            nn.Dropout(p=dropout), nn.Linear(self.last_channel, num_classes)
        )
        start(self, conv_fan_out, norm_unit, linear_normal)

    def _forward_impl(self, x: Tensor) -> Tensor:
        pooled = adaptive_avg_pool2d(self.features(x), (1, 1)).flatten(1)
        return self.classifier(pooled)  # type: ignore[no-any-return]

    def forward(self, x: Tensor) -> Tensor:
        return self._forward_impl(x)


@builder(MobileNet_V2_Weights)
def mobilenet_v2(**kwargs: Any) -> MobileNetV2:
    """Make a MobileNet v2."""
    return MobileNetV2(**kwargs)
