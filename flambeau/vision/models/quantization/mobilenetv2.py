"""Quantisable MobileNet v2."""

from __future__ import annotations

from typing import Any

from flambeau import nn
from flambeau.vision.models._api import builder
from flambeau.vision.models._weights import weights_of
from flambeau.vision.models.mobilenetv2 import (
    InvertedResidual,
    MobileNet_V2_Weights,
    MobileNetV2,
)
from flambeau.vision.models.quantization.utils import Stubbed, _fuse_modules, finished
from flambeau.vision.ops.misc import Conv2dNormActivation

__all__ = ["MobileNet_V2_QuantizedWeights", "QuantizableMobileNetV2", "mobilenet_v2"]

MobileNet_V2_QuantizedWeights: Any = weights_of(
    "quantized_mobilenet_v2", "quantization", MobileNet_V2_Weights
)


class QuantizableInvertedResidual(InvertedResidual):
    """Inverted residual block that can be fused."""

    def fuse_model(self, is_qat: bool | None = None) -> None:
        """Fuse the last convolution with its normalisation."""
        last = len(self.conv) - 2
        _fuse_modules(self.conv, [str(last), str(last + 1)], is_qat)


class QuantizableMobileNetV2(Stubbed, MobileNetV2):
    """A MobileNet v2 whose layers can be fused."""

    def fuse_model(self, is_qat: bool | None = None) -> None:
        """Fuse each convolution with the layers that follow it."""
        for module in self.modules():
            if isinstance(module, Conv2dNormActivation):
                _fuse_modules(module, ["0", "1", "2"], is_qat)
            elif isinstance(module, QuantizableInvertedResidual):
                module.fuse_model(is_qat)


@builder(MobileNet_V2_QuantizedWeights, name="quantized_mobilenet_v2", plain=MobileNet_V2_Weights)
def mobilenet_v2(*, quantize: bool = False, **kwargs: Any) -> QuantizableMobileNetV2:
    """Make a quantisable MobileNet v2."""
    backend = kwargs.pop("backend", "qnnpack")
    model: nn.Module = QuantizableMobileNetV2(block=QuantizableInvertedResidual, **kwargs)
    return finished(model, quantize, backend)  # type: ignore[no-any-return]
