"""ResNets for films: R3D, MC3 and R(2+1)D (https://arxiv.org/abs/1711.11248)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flambeau import Tensor, nn
from flambeau.vision.models._api import builder
from flambeau.vision.models._init import conv_fan_out, linear_normal, norm_unit, start
from flambeau.vision.models._weights import weights_of

__all__ = [
    "MC3_18_Weights",
    "R2Plus1D_18_Weights",
    "R3D_18_Weights",
    "VideoResNet",
    "mc3_18",
    "r2plus1d_18",
    "r3d_18",
]

R3D_18_Weights: Any = weights_of("r3d_18", "video")
MC3_18_Weights: Any = weights_of("mc3_18", "video")
R2Plus1D_18_Weights: Any = weights_of("r2plus1d_18", "video")

_Maker = Any  # a class of convolutions with ``get_downsample_stride``
_Triple = tuple[int, int, int]


class Conv3DSimple(nn.Conv3d):
    """A convolution over time and space."""

    def __init__(
        self,
        in_planes: int,
        out_planes: int,
        midplanes: int | None = None,
        stride: int = 1,
        padding: int = 1,
    ) -> None:
        super().__init__(in_planes, out_planes, (3, 3, 3), stride, padding, bias=False)

    @staticmethod
    def get_downsample_stride(stride: int) -> _Triple:
        """Return the stride in time and space."""
        return stride, stride, stride


class Conv2Plus1D(nn.Sequential):
    """A convolution over space, then one over time."""

    def __init__(
        self, in_planes: int, out_planes: int, midplanes: int, stride: int = 1, padding: int = 1
    ) -> None:
        super().__init__(
            nn.Conv3d(
                in_planes,
                midplanes,
                (1, 3, 3),
                stride=(1, stride, stride),
                padding=(0, padding, padding),
                bias=False,
            ),
            nn.BatchNorm3d(midplanes),
            nn.ReLU(inplace=True),
            nn.Conv3d(
                midplanes,
                out_planes,
                (3, 1, 1),
                stride=(stride, 1, 1),
                padding=(padding, 0, 0),
                bias=False,
            ),
        )

    @staticmethod
    def get_downsample_stride(stride: int) -> _Triple:
        """Return the stride in time and space."""
        return stride, stride, stride


class Conv3DNoTemporal(nn.Conv3d):
    """A convolution over space alone."""

    def __init__(
        self,
        in_planes: int,
        out_planes: int,
        midplanes: int | None = None,
        stride: int = 1,
        padding: int = 1,
    ) -> None:
        super().__init__(
            in_planes,
            out_planes,
            (1, 3, 3),
            (1, stride, stride),
            (0, padding, padding),
            bias=False,
        )

    @staticmethod
    def get_downsample_stride(stride: int) -> _Triple:
        """Return the stride in time and space."""
        return 1, stride, stride


def _with_norm(convolution: nn.Module, planes: int, *activation: nn.Module) -> nn.Sequential:
    return nn.Sequential(convolution, nn.BatchNorm3d(planes), *activation)


def _middle(inplanes: int, planes: int) -> int:
    """How many channels two convolutions have between them to have the parameters of one."""
    return (inplanes * planes * 3 * 3 * 3) // (inplanes * 3 * 3 + 3 * planes)


class BasicBlock(nn.Module):
    """Two convolutions with a way around them."""

    expansion = 1

    def __init__(
        self,
        inplanes: int,
        planes: int,
        conv_builder: _Maker,
        stride: int = 1,
        downsample: nn.Module | None = None,
    ) -> None:
        super().__init__()
        middle = _middle(inplanes, planes)
        first = conv_builder(inplanes, planes, middle, stride)
        self.conv1: nn.Sequential = _with_norm(first, planes, nn.ReLU(inplace=True))
        self.conv2: nn.Sequential = _with_norm(conv_builder(planes, planes, middle), planes)
        self.relu: nn.ReLU = nn.ReLU(inplace=True)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        result = self.conv2(self.conv1(x))
        result += x if self.downsample is None else self.downsample(x)
        return self.relu(result)  # type: ignore[no-any-return]


class Bottleneck(nn.Module):
    """A convolution of few channels between many, with a way around."""

    expansion = 4

    def __init__(
        self,
        inplanes: int,
        planes: int,
        conv_builder: _Maker,
        stride: int = 1,
        downsample: nn.Module | None = None,
    ) -> None:
        super().__init__()
        width = planes * self.expansion
        narrow = nn.Conv3d(inplanes, planes, kernel_size=1, bias=False)
        middle = conv_builder(planes, planes, _middle(inplanes, planes), stride)
        widen = nn.Conv3d(planes, width, kernel_size=1, bias=False)
        self.conv1: nn.Sequential = _with_norm(narrow, planes, nn.ReLU(inplace=True))
        self.conv2: nn.Sequential = _with_norm(middle, planes, nn.ReLU(inplace=True))
        self.conv3: nn.Sequential = _with_norm(widen, width)
        self.relu: nn.ReLU = nn.ReLU(inplace=True)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        result = self.conv3(self.conv2(self.conv1(x)))
        result += x if self.downsample is None else self.downsample(x)
        return self.relu(result)  # type: ignore[no-any-return]


class BasicStem(nn.Sequential):
    """The first convolution."""

    def __init__(self) -> None:
        super().__init__(
            nn.Conv3d(
                3, 64, kernel_size=(3, 7, 7), stride=(1, 2, 2), padding=(1, 3, 3), bias=False
            ),
            nn.BatchNorm3d(64),
            nn.ReLU(inplace=True),
        )


class R2Plus1dStem(nn.Sequential):
    """The first convolution, over space and then over time."""

    def __init__(self) -> None:
        super().__init__(
            nn.Conv3d(
                3, 45, kernel_size=(1, 7, 7), stride=(1, 2, 2), padding=(0, 3, 3), bias=False
            ),
            nn.BatchNorm3d(45),
            nn.ReLU(inplace=True),
            nn.Conv3d(45, 64, kernel_size=(3, 1, 1), padding=(1, 0, 0), bias=False),
            nn.BatchNorm3d(64),
            nn.ReLU(inplace=True),
        )


class VideoResNet(nn.Module):
    """Four layers of blocks between a first convolution and a linear layer."""

    def __init__(
        self,
        block: type[BasicBlock | Bottleneck],
        conv_makers: Sequence[_Maker],
        layers: Sequence[int],
        stem: Callable[..., nn.Module],
        num_classes: int = 400,
        zero_init_residual: bool = False,
    ) -> None:
        super().__init__()
        self.inplanes: int = 64
        self.stem: nn.Module = stem()
        makers, counts = list(conv_makers), list(layers)
        self.layer1: nn.Sequential = self._make_layer(block, makers[0], 64, counts[0], 1)
        self.layer2: nn.Sequential = self._make_layer(block, makers[1], 128, counts[1], 2)
        self.layer3: nn.Sequential = self._make_layer(block, makers[2], 256, counts[2], 2)
        self.layer4: nn.Sequential = self._make_layer(block, makers[3], 512, counts[3], 2)
        self.avgpool: nn.AdaptiveAvgPool3d = nn.AdaptiveAvgPool3d((1, 1, 1))
        self.fc: nn.Linear = nn.Linear(512 * block.expansion, num_classes)
        start(self, conv_fan_out, norm_unit, linear_normal)
        if zero_init_residual:
            for module in self.modules():
                if isinstance(module, Bottleneck):
                    nn.init.constant_(module.conv3[1].weight, 0.0)  # type: ignore[arg-type]

    def _make_layer(
        self,
        block: type[BasicBlock | Bottleneck],
        conv_builder: _Maker,
        planes: int,
        blocks: int,
        stride: int = 1,
    ) -> nn.Sequential:
        width = planes * block.expansion
        downsample = None
        if stride != 1 or self.inplanes != width:
            steps = conv_builder.get_downsample_stride(stride)
            convolution = nn.Conv3d(self.inplanes, width, kernel_size=1, stride=steps, bias=False)
            downsample = _with_norm(convolution, width)
        made = [block(self.inplanes, planes, conv_builder, stride, downsample)]
        self.inplanes = width
        made += [block(width, planes, conv_builder) for _ in range(1, blocks)]
        return nn.Sequential(*made)

    def forward(self, x: Tensor) -> Tensor:
        x = self.layer4(self.layer3(self.layer2(self.layer1(self.stem(x)))))
        return self.fc(self.avgpool(x).flatten(1))  # type: ignore[no-any-return]


def _resnet18(makers: Sequence[_Maker], stem: type[nn.Module], **kwargs: Any) -> VideoResNet:
    return VideoResNet(BasicBlock, makers, [2, 2, 2, 2], stem, **kwargs)


@builder(R3D_18_Weights, legacy="KINETICS400_V1")
def r3d_18(**kwargs: Any) -> VideoResNet:
    """Make a ResNet of 18 layers with convolutions over time and space."""
    return _resnet18([Conv3DSimple] * 4, BasicStem, **kwargs)


@builder(MC3_18_Weights, legacy="KINETICS400_V1")
def mc3_18(**kwargs: Any) -> VideoResNet:
    """Make a ResNet of 18 layers that looks at time in its first layers only."""
    return _resnet18([Conv3DSimple] + [Conv3DNoTemporal] * 3, BasicStem, **kwargs)


@builder(R2Plus1D_18_Weights, legacy="KINETICS400_V1")
def r2plus1d_18(**kwargs: Any) -> VideoResNet:
    """Make a ResNet of 18 layers with convolutions over space and then over time."""
    return _resnet18([Conv2Plus1D] * 4, R2Plus1dStem, **kwargs)
