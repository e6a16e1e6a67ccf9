"""The image encoders of RAFT."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flambeau import Tensor, nn
from flambeau.vision.models._init import constant
from flambeau.vision.ops.misc import Conv2dNormActivation

__all__ = ["BottleneckBlock", "FeatureEncoder", "ResidualBlock"]

_Layer = Callable[..., nn.Module]


class ResidualBlock(nn.Module):
    """Two convolutions with a residual connection."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        norm_layer: _Layer | None,
        stride: int = 1,
        always_project: bool = False,
    ) -> None:
        super().__init__()
        options: dict[str, Any] = {"norm_layer": norm_layer, "bias": True}
        self.convnormrelu1: nn.Module = Conv2dNormActivation(
            in_channels, out_channels, kernel_size=3, stride=stride, **options
        )
        self.convnormrelu2: nn.Module = Conv2dNormActivation(
            out_channels, out_channels, kernel_size=3, **options
        )
        self.downsample: nn.Module = nn.Identity()
        if stride != 1 or always_project:
            self.downsample = Conv2dNormActivation(
                in_channels,
                out_channels,
                kernel_size=1,
                stride=stride,
                activation_layer=None,
                **options,
            )
        self.relu: nn.ReLU = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        result = self.convnormrelu2(self.convnormrelu1(x))
        return self.relu(self.downsample(x) + result)  # type: ignore[no-any-return]


class BottleneckBlock(nn.Module):
    """Residual bottleneck block."""

    def __init__(
        self, in_channels: int, out_channels: int, *, norm_layer: _Layer | None, stride: int = 1
    ) -> None:
        super().__init__()
        inner = out_channels // 4
        options: dict[str, Any] = {"norm_layer": norm_layer, "bias": True}
        self.convnormrelu1: nn.Module = Conv2dNormActivation(
            in_channels, inner, kernel_size=1, **options
        )
        self.convnormrelu2: nn.Module = Conv2dNormActivation(
            inner, inner, kernel_size=3, stride=stride, **options
        )
        self.convnormrelu3: nn.Module = Conv2dNormActivation(
            inner, out_channels, kernel_size=1, **options
        )
        self.relu: nn.ReLU = nn.ReLU(inplace=True)
        self.downsample: nn.Module = nn.Identity()
        if stride != 1:
            self.downsample = Conv2dNormActivation(
                in_channels,
                out_channels,
                kernel_size=1,
                stride=stride,
                activation_layer=None,
                **options,
            )

    def forward(self, x: Tensor) -> Tensor:
        result = self.convnormrelu3(self.convnormrelu2(self.convnormrelu1(x)))
        return self.relu(self.downsample(x) + result)  # type: ignore[no-any-return]


class FeatureEncoder(nn.Module):
    """Features of an image at an eighth of its resolution."""

    def __init__(
        self,
        *,
        block: _Layer = ResidualBlock,
        layers: Sequence[int] = (64, 64, 96, 128, 256),
        strides: Sequence[int] = (2, 1, 2, 2),
        norm_layer: _Layer | None = nn.BatchNorm2d,
    ) -> None:
        super().__init__()
        if len(layers) != 5:
            raise ValueError(f"layers must have five widths, got {list(layers)}")

        def pair(before: int, after: int, stride: int) -> nn.Sequential:
            return nn.Sequential(
                block(before, after, norm_layer=norm_layer, stride=stride),
                block(after, after, norm_layer=norm_layer, stride=1),
            )

        self.convnormrelu: nn.Module = Conv2dNormActivation(
            3, layers[0], kernel_size=7, stride=strides[0], norm_layer=norm_layer, bias=True
        )
        self.layer1: nn.Sequential = pair(layers[0], layers[1], strides[1])
        self.layer2: nn.Sequential = pair(layers[1], layers[2], strides[2])
        self.layer3: nn.Sequential = pair(layers[2], layers[3], strides[3])
        self.conv: nn.Conv2d = nn.Conv2d(layers[3], layers[4], kernel_size=1)
        self._fb_start()
        self.output_dim: int = layers[-1]
        self.downsample_factor: int = 2 ** sum(stride == 2 for stride in strides)

    def _fb_start(self) -> None:
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, (nn.BatchNorm2d, nn.InstanceNorm2d)):
                constant(module.weight, 1.0)
                constant(module.bias, 0.0)

    def forward(self, x: Tensor) -> Tensor:
        x = self.layer3(self.layer2(self.layer1(self.convnormrelu(x))))
        return self.conv(x)  # type: ignore[no-any-return]
