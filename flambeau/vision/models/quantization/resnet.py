"""Quantisable ResNets and ResNeXts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flambeau import Tensor, nn
from flambeau.vision.models._api import builder
from flambeau.vision.models._weights import weights_of
from flambeau.vision.models.quantization.utils import Stubbed, _fuse_modules, finished
from flambeau.vision.models.resnet import (
    BasicBlock,
    Bottleneck,
    ResNet,
    ResNet18_Weights,
    ResNet50_Weights,
    ResNeXt101_32X8D_Weights,
    ResNeXt101_64X4D_Weights,
)

__all__ = [
    "QuantizableResNet",
    "ResNeXt101_32X8D_QuantizedWeights",
    "ResNeXt101_64X4D_QuantizedWeights",
    "ResNet18_QuantizedWeights",
    "ResNet50_QuantizedWeights",
    "resnet18",
    "resnet50",
    "resnext101_32x8d",
    "resnext101_64x4d",
]

_PACKAGE = "quantization"
ResNet18_QuantizedWeights: Any = weights_of("quantized_resnet18", _PACKAGE, ResNet18_Weights)
ResNet50_QuantizedWeights: Any = weights_of("quantized_resnet50", _PACKAGE, ResNet50_Weights)
ResNeXt101_32X8D_QuantizedWeights: Any = weights_of(
    "quantized_resnext101_32x8d", _PACKAGE, ResNeXt101_32X8D_Weights
)
ResNeXt101_64X4D_QuantizedWeights: Any = weights_of(
    "quantized_resnext101_64x4d", _PACKAGE, ResNeXt101_64X4D_Weights
)


class QuantizableBasicBlock(BasicBlock):
    """Two 3 × 3 convolutions with a residual connection."""

    def fuse_model(self, is_qat: bool | None = None) -> None:
        """Fuse each convolution with the layers that follow it."""
        _fuse_modules(self, [["conv1", "bn1", "relu"], ["conv2", "bn2"]], is_qat)
        if self.downsample is not None:
            _fuse_modules(self.downsample, ["0", "1"], is_qat)

    def forward(self, x: Tensor) -> Tensor:
        around = x if self.downsample is None else self.downsample(x)
        result: Tensor = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return (result + around).relu()  # its own layer was fused into the first convolution


class QuantizableBottleneck(Bottleneck):
    """Residual bottleneck block with a 3 × 3 convolution."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.relu1: nn.ReLU = nn.ReLU(inplace=False)
        self.relu2: nn.ReLU = nn.ReLU(inplace=False)

    def fuse_model(self, is_qat: bool | None = None) -> None:
        """Fuse each convolution with the layers that follow it."""
        layers = [["conv1", "bn1", "relu1"], ["conv2", "bn2", "relu2"], ["conv3", "bn3"]]
        _fuse_modules(self, layers, is_qat)
        if self.downsample is not None:
            _fuse_modules(self.downsample, ["0", "1"], is_qat)

    def forward(self, x: Tensor) -> Tensor:
        around = x if self.downsample is None else self.downsample(x)
        result = self.relu1(self.bn1(self.conv1(x)))
        result = self.bn3(self.conv3(self.relu2(self.bn2(self.conv2(result)))))
        return self.relu(result + around)  # type: ignore[no-any-return]


class QuantizableResNet(Stubbed, ResNet):
    """A ResNet whose layers can be fused."""

    def fuse_model(self, is_qat: bool | None = None) -> None:
        """Fuse each convolution with the layers that follow it."""
        _fuse_modules(self, ["conv1", "bn1", "relu"], is_qat)
        for module in self.modules():
            if isinstance(module, (QuantizableBasicBlock, QuantizableBottleneck)):
                module.fuse_model(is_qat)


def _resnet(
    block: Any, layers: Sequence[int], quantize: bool, backend: str = "fbgemm", **kwargs: Any
) -> QuantizableResNet:
    return finished(QuantizableResNet(block, layers, **kwargs), quantize, backend)  # type: ignore[no-any-return]


@builder(ResNet18_QuantizedWeights, name="quantized_resnet18", plain=ResNet18_Weights)
def resnet18(*, quantize: bool = False, **kwargs: Any) -> QuantizableResNet:
    """Make a quantisable ResNet-18."""
    return _resnet(QuantizableBasicBlock, [2, 2, 2, 2], quantize, **kwargs)


@builder(ResNet50_QuantizedWeights, name="quantized_resnet50", plain=ResNet50_Weights)
def resnet50(*, quantize: bool = False, **kwargs: Any) -> QuantizableResNet:
    """Make a quantisable ResNet-50."""
    return _resnet(QuantizableBottleneck, [3, 4, 6, 3], quantize, **kwargs)


@builder(
    ResNeXt101_32X8D_QuantizedWeights,
    name="quantized_resnext101_32x8d",
    plain=ResNeXt101_32X8D_Weights,
)
def resnext101_32x8d(*, quantize: bool = False, **kwargs: Any) -> QuantizableResNet:
    """Make a quantisable ResNeXt-101 with 32 groups of 8 channels."""
    options = {"groups": 32, "width_per_group": 8, **kwargs}
    return _resnet(QuantizableBottleneck, [3, 4, 23, 3], quantize, **options)


@builder(
    ResNeXt101_64X4D_QuantizedWeights,
    name="quantized_resnext101_64x4d",
    plain=ResNeXt101_64X4D_Weights,
)
def resnext101_64x4d(*, quantize: bool = False, **kwargs: Any) -> QuantizableResNet:
    """Make a quantisable ResNeXt-101 with 64 groups of 4 channels."""
    options = {"groups": 64, "width_per_group": 4, **kwargs}
    return _resnet(QuantizableBottleneck, [3, 4, 23, 3], quantize, **options)
