"""ResNets for videos: R3D, MC3 and R(2+1)D (https://arxiv.org/abs/1711.11248)."""

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

_Maker = Any  # a convolution class with ``get_downsample_stride``
_Triple = tuple[int, int, int]


def _in_space(before: int, after: int, window: int, stride: int = 1, padding: int = 1) -> nn.Conv3d:
    """Convolution within each frame."""
    sizes = (1, window, window), (1, stride, stride), (0, padding, padding)
    return nn.Conv3d(before, after, *sizes, bias=False)


def _in_time(before: int, after: int, stride: int = 1, padding: int = 1) -> nn.Conv3d:
    """Convolution over time."""
    return nn.Conv3d(before, after, (3, 1, 1), (stride, 1, 1), (padding, 0, 0), bias=False)


def _normed(convolution: nn.Module, planes: int) -> list[nn.Module]:
    return [convolution, nn.BatchNorm3d(planes)]


def _active(convolution: nn.Module, planes: int) -> list[nn.Module]:
    return [*_normed(convolution, planes), nn.ReLU(inplace=True)]


class Conv3DSimple(nn.Conv3d):
    """Convolution over time and space."""

    def __init__(
        self,
        in_planes: int,
        out_planes: int,
        midplanes: int | None = None,
        stride: int = 1,
        padding: int = 1,
    ) -> None:
        super().__init__(in_planes, out_planes, 3, stride, padding, bias=False)

    @staticmethod
    def get_downsample_stride(stride: int) -> _Triple:
        """Return the stride in time and space."""
        return stride, stride, stride


class Conv2Plus1D(nn.Sequential):
    """Convolution over space, then over time."""

    def __init__(
        self, in_planes: int, out_planes: int, midplanes: int, stride: int = 1, padding: int = 1
    ) -> None:
        super().__init__(
            *_active(_in_space(in_planes, midplanes, 3, stride, padding), midplanes),
            _in_time(midplanes, out_planes, stride, padding),
        )

    get_downsample_stride = staticmethod(Conv3DSimple.get_downsample_stride)


class Conv3DNoTemporal(nn.Conv3d):
    """Convolution over space only."""

    def __init__(
        self,
        in_planes: int,
        out_planes: int,
        midplanes: int | None = None,
        stride: int = 1,
        padding: int = 1,
    ) -> None:
        sizes = (1, 3, 3), (1, stride, stride), (0, padding, padding)
        super().__init__(in_planes, out_planes, *sizes, bias=False)

    @staticmethod
    def get_downsample_stride(stride: int) -> _Triple:
        """Return the stride in time and space."""
        return 1, stride, stride


def _middle(inplanes: int, planes: int) -> int:
    """Return the channels between two convolutions that together have the parameters of one."""
    return (inplanes * planes * 3 * 3 * 3) // (inplanes * 3 * 3 + 3 * planes)


class _Block(nn.Module):
    """Convolutions with a residual connection."""

    expansion: int

    def __init__(
        self, steps: Sequence[list[nn.Module]], stride: int, downsample: nn.Module | None
    ) -> None:
        super().__init__()
        self._fb_names = [f"conv{number}" for number in range(1, len(steps) + 1)]
        for name, layers in zip(self._fb_names, steps, strict=True):
            self.add_module(name, nn.Sequential(*layers))
        self.relu: nn.ReLU = nn.ReLU(inplace=True)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        result = x
        for name in self._fb_names:
            result = self.get_submodule(name)(result)
        result += x if self.downsample is None else self.downsample(x)
        return self.relu(result)  # type: ignore[no-any-return]


class BasicBlock(_Block):
    """Two convolutions with a residual connection."""

    expansion = 1

    def __init__(
        self,
        inplanes: int,
        planes: int,
        conv_builder: _Maker,
        stride: int = 1,
        downsample: nn.Module | None = None,
    ) -> None:
        middle = _middle(inplanes, planes)
        first = _active(conv_builder(inplanes, planes, middle, stride), planes)
        second = _normed(conv_builder(planes, planes, middle), planes)
        super().__init__([first, second], stride, downsample)


class Bottleneck(_Block):
    """Residual bottleneck block."""

    expansion = 4

    def __init__(
        self,
        inplanes: int,
        planes: int,
        conv_builder: _Maker,
        stride: int = 1,
        downsample: nn.Module | None = None,
    ) -> None:
        width = planes * self.expansion
        middle = _middle(inplanes, planes)
        steps = [
            _active(nn.Conv3d(inplanes, planes, kernel_size=1, bias=False), planes),
            _active(conv_builder(planes, planes, middle, stride), planes),
            _normed(nn.Conv3d(planes, width, kernel_size=1, bias=False), width),
        ]
        super().__init__(steps, stride, downsample)


class BasicStem(nn.Sequential):
    """The first convolution."""

    def __init__(self) -> None:
        super().__init__(
            *_active(nn.Conv3d(3, 64, (3, 7, 7), (1, 2, 2), (1, 3, 3), bias=False), 64)
        )


class R2Plus1dStem(nn.Sequential):
    """The first convolution, over space and then over time."""

    def __init__(self) -> None:
        super().__init__(*_active(_in_space(3, 45, 7, 2, 3), 45), *_active(_in_time(45, 64), 64))


class VideoResNet(nn.Module):
    """Four stages of blocks between a stem and a linear layer."""

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
                    last: Any = module.get_submodule("conv3.1")
                    nn.init.constant_(last.weight, 0.0)

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
            downsample = nn.Sequential(*_normed(convolution, width))
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
    """Make a ResNet-18 with convolutions over time and space."""
    return _resnet18([Conv3DSimple] * 4, BasicStem, **kwargs)


@builder(MC3_18_Weights, legacy="KINETICS400_V1")
def mc3_18(**kwargs: Any) -> VideoResNet:
    """Make a ResNet-18 with convolutions over time in its first layers only."""
    return _resnet18([Conv3DSimple] + [Conv3DNoTemporal] * 3, BasicStem, **kwargs)


@builder(R2Plus1D_18_Weights, legacy="KINETICS400_V1")
def r2plus1d_18(**kwargs: Any) -> VideoResNet:
    """Make a ResNet-18 with convolutions over space and then over time."""
    return _resnet18([Conv2Plus1D] * 4, R2Plus1dStem, **kwargs)
