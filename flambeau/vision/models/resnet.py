"""ResNet (https://arxiv.org/abs/1512.03385), ResNeXt and Wide ResNet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flambeau import Tensor, nn
from flambeau.vision.models._api import builder
from flambeau.vision.models._init import constant, conv_fan_out, norm_unit, start
from flambeau.vision.models._weights import weights_of

__all__ = [
    "ResNeXt50_32X4D_Weights",
    "ResNeXt101_32X8D_Weights",
    "ResNeXt101_64X4D_Weights",
    "ResNet",
    "ResNet18_Weights",
    "ResNet34_Weights",
    "ResNet50_Weights",
    "ResNet101_Weights",
    "ResNet152_Weights",
    "Wide_ResNet50_2_Weights",
    "Wide_ResNet101_2_Weights",
    "resnet18",
    "resnet34",
    "resnet50",
    "resnet101",
    "resnet152",
    "resnext50_32x4d",
    "resnext101_32x8d",
    "resnext101_64x4d",
    "wide_resnet50_2",
    "wide_resnet101_2",
]

ResNet18_Weights: Any = weights_of("resnet18")
ResNet34_Weights: Any = weights_of("resnet34")
ResNet50_Weights: Any = weights_of("resnet50")
ResNet101_Weights: Any = weights_of("resnet101")
ResNet152_Weights: Any = weights_of("resnet152")
ResNeXt50_32X4D_Weights: Any = weights_of("resnext50_32x4d")
ResNeXt101_32X8D_Weights: Any = weights_of("resnext101_32x8d")
ResNeXt101_64X4D_Weights: Any = weights_of("resnext101_64x4d")
Wide_ResNet50_2_Weights: Any = weights_of("wide_resnet50_2")
Wide_ResNet101_2_Weights: Any = weights_of("wide_resnet101_2")

_Norm = Callable[..., nn.Module]


def conv3x3(
    in_planes: int, out_planes: int, stride: int = 1, groups: int = 1, dilation: int = 1
) -> nn.Conv2d:
    """Make a 3 × 3 convolution; with a stride of 1 it keeps the size."""
    return nn.Conv2d(
        in_planes,
        out_planes,
        kernel_size=3,
        stride=stride,
        padding=dilation,
        groups=groups,
        bias=False,
        dilation=dilation,
    )


def conv1x1(in_planes: int, out_planes: int, stride: int = 1) -> nn.Conv2d:
    """Make a 1 × 1 convolution."""
    return nn.Conv2d(in_planes, out_planes, kernel_size=1, stride=stride, bias=False)


class BasicBlock(nn.Module):
    """Two 3 × 3 convolutions with a residual connection."""

    expansion = 1

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: nn.Module | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: _Norm | None = None,
    ) -> None:
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2d
        if groups != 1 or base_width != 64:
            raise ValueError("BasicBlock only supports groups=1 and base_width=64")
        if dilation > 1:
            raise NotImplementedError("Dilation > 1 not supported in BasicBlock")
        self.conv1: nn.Conv2d = conv3x3(inplanes, planes, stride)
        self.bn1: nn.BatchNorm2d | nn.Module = norm_layer(planes)
        self.relu: nn.ReLU = nn.ReLU(inplace=True)
        self.conv2: nn.Conv2d = conv3x3(planes, planes)
        self.bn2: nn.BatchNorm2d | nn.Module = norm_layer(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)  # type: ignore[no-any-return]


class Bottleneck(nn.Module):
    """Residual bottleneck block: a 3 × 3 convolution between two 1 × 1 ones.

    The stride is in the 3 × 3 convolution, not in the first one as in the paper.
    """

    expansion = 4

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: nn.Module | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: _Norm | None = None,
    ) -> None:
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2d
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1: nn.Conv2d = conv1x1(inplanes, width)
        self.bn1: nn.BatchNorm2d | nn.Module = norm_layer(width)
        self.conv2: nn.Conv2d = conv3x3(width, width, stride, groups, dilation)
        self.bn2: nn.BatchNorm2d | nn.Module = norm_layer(width)
        self.conv3: nn.Conv2d = conv1x1(width, planes * self.expansion)
        self.bn3: nn.BatchNorm2d | nn.Module = norm_layer(planes * self.expansion)
        self.relu: nn.ReLU = nn.ReLU(inplace=True)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)  # type: ignore[no-any-return]


_Block = type[BasicBlock] | type[Bottleneck]


class ResNet(nn.Module):
    """A stem, four stages of blocks, global average pooling and a linear layer."""

    def __init__(
        self,
        block: _Block,
        layers: Sequence[int],
        num_classes: int = 1000,
        zero_init_residual: bool = False,
        groups: int = 1,
        width_per_group: int = 64,
        replace_stride_with_dilation: Sequence[bool] | None = None,
        norm_layer: _Norm | None = None,
    ) -> None:
        super().__init__()
        self._norm_layer = norm_layer or nn.BatchNorm2d
        dilate = replace_stride_with_dilation or (False, False, False)
        if len(dilate) != 3:
            raise ValueError(
                "replace_stride_with_dilation should be None or a 3-element tuple, got "
                f"{replace_stride_with_dilation}"
            )
        self.inplanes: int = 64
        self.dilation: int = 1
        self.groups = groups
        self.base_width = width_per_group
        self.conv1: nn.Conv2d = nn.Conv2d(3, 64, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1: nn.BatchNorm2d | nn.Module = self._norm_layer(64)
        self.relu: nn.ReLU = nn.ReLU(inplace=True)
        self.maxpool: nn.MaxPool2d = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1: nn.Sequential = self._make_layer(block, 64, layers[0])
        self.layer2: nn.Sequential = self._make_layer(block, 128, layers[1], 2, dilate[0])
        self.layer3: nn.Sequential = self._make_layer(block, 256, layers[2], 2, dilate[1])
        self.layer4: nn.Sequential = self._make_layer(block, 512, layers[3], 2, dilate[2])
        self.avgpool: nn.AdaptiveAvgPool2d = nn.AdaptiveAvgPool2d((1, 1))
        self.fc: nn.Linear = nn.Linear(512 * block.expansion, num_classes)
        start(self, conv_fan_out, norm_unit)
        if zero_init_residual:
            start(self, _silent)

    def _make_layer(
        self, block: _Block, planes: int, blocks: int, stride: int = 1, dilate: bool = False
    ) -> nn.Sequential:
        first_dilation = self.dilation
        if dilate:
            self.dilation *= stride
            stride = 1
        width = planes * block.expansion
        downsample = None
        if stride != 1 or self.inplanes != width:
            downsample = nn.Sequential(
                conv1x1(self.inplanes, width, stride), self._norm_layer(width)
            )
        shape = (self.groups, self.base_width)
        made: list[nn.Module] = [
            block(
                self.inplanes,
                planes,
                stride,
                downsample,
                *shape,
                first_dilation,
                self._norm_layer,
            )
        ]
        self.inplanes = width
        made += [
            block(width, planes, 1, None, *shape, self.dilation, self._norm_layer)
            for _ in range(1, blocks)
        ]
        return nn.Sequential(*made)

    def _forward_impl(self, x: Tensor) -> Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))  # type: ignore[no-any-return]

    def forward(self, x: Tensor) -> Tensor:
        return self._forward_impl(x)


def _silent(module: nn.Module) -> None:
    """Initialise blocks as identities, by zero weights in their last normalisation."""
    if isinstance(module, Bottleneck):
        constant(module.bn3.weight, 0.0)
    elif isinstance(module, BasicBlock):
        constant(module.bn2.weight, 0.0)


@builder(ResNet18_Weights)
def resnet18(**kwargs: Any) -> ResNet:
    """ResNet-18.

    Args:
        weights: Pretrained weights, such as `"DEFAULT"`; they are downloaded. Default: None.
        progress: Whether to show the download. Default: True.
        **kwargs: Options of `ResNet`, such as `num_classes`.

    Example:
        >>> from flambeau.vision.models import resnet18
        >>> model = resnet18(num_classes=10).eval()
        >>> with torch.no_grad():
        ...     model(torch.rand(1, 3, 64, 64)).shape
        torch.Size([1, 10])

    See also:
        `vision.models.list_models`, which lists all models.
    """
    return ResNet(BasicBlock, [2, 2, 2, 2], **kwargs)


@builder(ResNet34_Weights)
def resnet34(**kwargs: Any) -> ResNet:
    """ResNet-34.

    Args:
        weights: Pretrained weights, such as `"DEFAULT"`; they are downloaded. Default: None.
        progress: Whether to show the download. Default: True.
        **kwargs: Options of `ResNet`, such as `num_classes`.

    Example:
        >>> from flambeau.vision.models import resnet34
        >>> with torch.device("meta"):  # without memory for the weights
        ...     model = resnet34(num_classes=10)
        >>> model.fc
        Linear(in_features=512, out_features=10, bias=True)
    """
    return ResNet(BasicBlock, [3, 4, 6, 3], **kwargs)


@builder(ResNet50_Weights)
def resnet50(**kwargs: Any) -> ResNet:
    """ResNet-50.

    Args:
        weights: Pretrained weights, such as `"DEFAULT"`; they are downloaded. Default: None.
        progress: Whether to show the download. Default: True.
        **kwargs: Options of `ResNet`, such as `num_classes`.

    Example:
        >>> from flambeau.vision.models import resnet50
        >>> with torch.device("meta"):  # without memory for the weights
        ...     model = resnet50(num_classes=10)
        >>> model.fc
        Linear(in_features=2048, out_features=10, bias=True)
    """
    return ResNet(Bottleneck, [3, 4, 6, 3], **kwargs)


@builder(ResNet101_Weights)
def resnet101(**kwargs: Any) -> ResNet:
    """ResNet-101.

    Args:
        weights: Pretrained weights, such as `"DEFAULT"`; they are downloaded. Default: None.
        progress: Whether to show the download. Default: True.
        **kwargs: Options of `ResNet`, such as `num_classes`.

    Example:
        >>> from flambeau.vision.models import resnet101
        >>> with torch.device("meta"):  # without memory for the weights
        ...     model = resnet101(num_classes=10)
        >>> model.fc
        Linear(in_features=2048, out_features=10, bias=True)
    """
    return ResNet(Bottleneck, [3, 4, 23, 3], **kwargs)


@builder(ResNet152_Weights)
def resnet152(**kwargs: Any) -> ResNet:
    """ResNet-152.

    Args:
        weights: Pretrained weights, such as `"DEFAULT"`; they are downloaded. Default: None.
        progress: Whether to show the download. Default: True.
        **kwargs: Options of `ResNet`, such as `num_classes`.

    Example:
        >>> from flambeau.vision.models import resnet152
        >>> with torch.device("meta"):  # without memory for the weights
        ...     model = resnet152(num_classes=10)
        >>> model.fc
        Linear(in_features=2048, out_features=10, bias=True)
    """
    return ResNet(Bottleneck, [3, 8, 36, 3], **kwargs)


@builder(ResNeXt50_32X4D_Weights)
def resnext50_32x4d(**kwargs: Any) -> ResNet:
    """Make a ResNeXt-50 with 32 groups of 4 channels."""
    return ResNet(Bottleneck, [3, 4, 6, 3], **{"groups": 32, "width_per_group": 4, **kwargs})


@builder(ResNeXt101_32X8D_Weights)
def resnext101_32x8d(**kwargs: Any) -> ResNet:
    """Make a ResNeXt-101 with 32 groups of 8 channels."""
    return ResNet(Bottleneck, [3, 4, 23, 3], **{"groups": 32, "width_per_group": 8, **kwargs})


@builder(ResNeXt101_64X4D_Weights)
def resnext101_64x4d(**kwargs: Any) -> ResNet:
    """Make a ResNeXt-101 with 64 groups of 4 channels."""
    return ResNet(Bottleneck, [3, 4, 23, 3], **{"groups": 64, "width_per_group": 4, **kwargs})


@builder(Wide_ResNet50_2_Weights)
def wide_resnet50_2(**kwargs: Any) -> ResNet:
    """Make a ResNet-50 that is twice as wide inside its blocks."""
    return ResNet(Bottleneck, [3, 4, 6, 3], **{"width_per_group": 128, **kwargs})


@builder(Wide_ResNet101_2_Weights)
def wide_resnet101_2(**kwargs: Any) -> ResNet:
    """Make a ResNet-101 that is twice as wide inside its blocks."""
    return ResNet(Bottleneck, [3, 4, 23, 3], **{"width_per_group": 128, **kwargs})
