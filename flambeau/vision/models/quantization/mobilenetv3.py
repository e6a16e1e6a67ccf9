"""Quantisable MobileNet v3."""

from __future__ import annotations

from typing import Any

from flambeau import nn
from flambeau.vision.models._api import builder
from flambeau.vision.models._weights import weights_of
from flambeau.vision.models.mobilenetv3 import (
    MobileNet_V3_Large_Weights,
    MobileNetV3,
    large_settings,
)
from flambeau.vision.models.quantization.utils import Stubbed, _fuse_modules, finished
from flambeau.vision.ops.misc import Conv2dNormActivation, SqueezeExcitation

__all__ = [
    "MobileNet_V3_Large_QuantizedWeights",
    "QuantizableMobileNetV3",
    "mobilenet_v3_large",
]

MobileNet_V3_Large_QuantizedWeights: Any = weights_of(
    "quantized_mobilenet_v3_large", "quantization", MobileNet_V3_Large_Weights
)


class QuantizableMobileNetV3(Stubbed, MobileNetV3):
    """A MobileNet v3 whose layers can be fused."""

    def fuse_model(self, is_qat: bool | None = None) -> None:
        """Fuse each convolution with the layers that follow it, where possible."""
        for module in self.modules():
            if isinstance(module, Conv2dNormActivation):
                fits = len(module) == 3 and type(module[2]) is nn.ReLU
                _fuse_modules(module, ["0", "1", "2"] if fits else ["0", "1"], is_qat)
            elif isinstance(module, SqueezeExcitation):
                _fuse_modules(module, ["fc1", "activation"], is_qat)


@builder(
    MobileNet_V3_Large_QuantizedWeights,
    name="quantized_mobilenet_v3_large",
    plain=MobileNet_V3_Large_Weights,
)
def mobilenet_v3_large(*, quantize: bool = False, **kwargs: Any) -> QuantizableMobileNetV3:
    """Make a quantisable large MobileNet v3."""
    backend = kwargs.pop("backend", "qnnpack")
    settings, last_channel, others = large_settings(**kwargs)
    return finished(QuantizableMobileNetV3(settings, last_channel, **others), quantize, backend)  # type: ignore[no-any-return]
