"""Quantisable ShuffleNet v2."""

from __future__ import annotations

from typing import Any

from flambeau.vision.models._api import builder
from flambeau.vision.models._weights import weights_of
from flambeau.vision.models.quantization.utils import Stubbed, _fuse_modules, finished
from flambeau.vision.models.shufflenetv2 import (
    InvertedResidual,
    ShuffleNet_V2_X0_5_Weights,
    ShuffleNet_V2_X1_0_Weights,
    ShuffleNet_V2_X1_5_Weights,
    ShuffleNet_V2_X2_0_Weights,
    ShuffleNetV2,
)

__all__ = [
    "QuantizableShuffleNetV2",
    "ShuffleNet_V2_X0_5_QuantizedWeights",
    "ShuffleNet_V2_X1_0_QuantizedWeights",
    "ShuffleNet_V2_X1_5_QuantizedWeights",
    "ShuffleNet_V2_X2_0_QuantizedWeights",
    "shufflenet_v2_x0_5",
    "shufflenet_v2_x1_0",
    "shufflenet_v2_x1_5",
    "shufflenet_v2_x2_0",
]

_PACKAGE = "quantization"
ShuffleNet_V2_X0_5_QuantizedWeights: Any = weights_of(
    "quantized_shufflenet_v2_x0_5", _PACKAGE, ShuffleNet_V2_X0_5_Weights
)
ShuffleNet_V2_X1_0_QuantizedWeights: Any = weights_of(
    "quantized_shufflenet_v2_x1_0", _PACKAGE, ShuffleNet_V2_X1_0_Weights
)
ShuffleNet_V2_X1_5_QuantizedWeights: Any = weights_of(
    "quantized_shufflenet_v2_x1_5", _PACKAGE, ShuffleNet_V2_X1_5_Weights
)
ShuffleNet_V2_X2_0_QuantizedWeights: Any = weights_of(
    "quantized_shufflenet_v2_x2_0", _PACKAGE, ShuffleNet_V2_X2_0_Weights
)


class QuantizableShuffleNetV2(Stubbed, ShuffleNetV2):
    """A ShuffleNet v2 whose layers can be fused."""

    def fuse_model(self, is_qat: bool | None = None) -> None:
        """Fuse each convolution with the layers that follow it."""
        for ends in (self.conv1, self.conv5):
            _fuse_modules(ends, ["0", "1", "2"], is_qat)
        for module in self.modules():
            if isinstance(module, InvertedResidual):
                if len(module.branch1):
                    _fuse_modules(module.branch1, [["0", "1"], ["2", "3", "4"]], is_qat)
                layers = [["0", "1", "2"], ["3", "4"], ["5", "6", "7"]]
                _fuse_modules(module.branch2, layers, is_qat)


def _shufflenet(
    last: int, *widths: int, quantize: bool, backend: str = "fbgemm", **kwargs: Any
) -> QuantizableShuffleNetV2:
    model = QuantizableShuffleNetV2([4, 8, 4], [24, *widths, last], **kwargs)
    return finished(model, quantize, backend)  # type: ignore[no-any-return]


@builder(
    ShuffleNet_V2_X0_5_QuantizedWeights,
    name="quantized_shufflenet_v2_x0_5",
    plain=ShuffleNet_V2_X0_5_Weights,
)
def shufflenet_v2_x0_5(*, quantize: bool = False, **kwargs: Any) -> QuantizableShuffleNetV2:
    """Make a quantisable ShuffleNet v2 of half the width."""
    return _shufflenet(1024, 48, 96, 192, quantize=quantize, **kwargs)


@builder(
    ShuffleNet_V2_X1_0_QuantizedWeights,
    name="quantized_shufflenet_v2_x1_0",
    plain=ShuffleNet_V2_X1_0_Weights,
)
def shufflenet_v2_x1_0(*, quantize: bool = False, **kwargs: Any) -> QuantizableShuffleNetV2:
    """Make a quantisable ShuffleNet v2."""
    return _shufflenet(1024, 116, 232, 464, quantize=quantize, **kwargs)


@builder(
    ShuffleNet_V2_X1_5_QuantizedWeights,
    name="quantized_shufflenet_v2_x1_5",
    plain=ShuffleNet_V2_X1_5_Weights,
)
def shufflenet_v2_x1_5(*, quantize: bool = False, **kwargs: Any) -> QuantizableShuffleNetV2:
    """Make a quantisable ShuffleNet v2 of one and a half times the width."""
    return _shufflenet(1024, 176, 352, 704, quantize=quantize, **kwargs)


@builder(
    ShuffleNet_V2_X2_0_QuantizedWeights,
    name="quantized_shufflenet_v2_x2_0",
    plain=ShuffleNet_V2_X2_0_Weights,
)
def shufflenet_v2_x2_0(*, quantize: bool = False, **kwargs: Any) -> QuantizableShuffleNetV2:
    """Make a quantisable ShuffleNet v2 of twice the width."""
    return _shufflenet(2048, 244, 488, 976, quantize=quantize, **kwargs)
