"""Both quantisable MobileNets at the path programs import them from."""

from flambeau.vision.models.quantization.mobilenetv2 import (
    MobileNet_V2_QuantizedWeights,
    QuantizableMobileNetV2,
    mobilenet_v2,
)
from flambeau.vision.models.quantization.mobilenetv3 import (
    MobileNet_V3_Large_QuantizedWeights,
    QuantizableMobileNetV3,
    mobilenet_v3_large,
)

__all__ = [
    "MobileNet_V2_QuantizedWeights",
    "MobileNet_V3_Large_QuantizedWeights",
    "QuantizableMobileNetV2",
    "QuantizableMobileNetV3",
    "mobilenet_v2",
    "mobilenet_v3_large",
]
