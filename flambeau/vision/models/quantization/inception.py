"""Quantisable Inception v3."""

from __future__ import annotations

from functools import partial
from typing import Any

from flambeau.vision.models._api import builder
from flambeau.vision.models._weights import weights_of
from flambeau.vision.models.inception import (
    Inception3,
    Inception_V3_Weights,
    InceptionA,
    InceptionAux,
    InceptionB,
    InceptionC,
    InceptionD,
    InceptionE,
)
from flambeau.vision.models.quantization.googlenet import (
    FusedConvolutions,
    QuantizableBasicConv2d,
)
from flambeau.vision.models.quantization.utils import finished

__all__ = ["Inception_V3_QuantizedWeights", "QuantizableInception3", "inception_v3"]

Inception_V3_QuantizedWeights: Any = weights_of(
    "quantized_inception_v3", "quantization", Inception_V3_Weights
)
_BLOCKS = (InceptionA, InceptionB, InceptionC, InceptionD, InceptionE, InceptionAux)


class QuantizableInception3(FusedConvolutions, Inception3):
    """An Inception v3 whose layers can be fused."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        blocks = (partial(block, conv_block=QuantizableBasicConv2d) for block in _BLOCKS)
        parts = [QuantizableBasicConv2d, *blocks]
        super().__init__(*args, inception_blocks=parts, **kwargs)  # type: ignore[misc]


@builder(
    Inception_V3_QuantizedWeights,
    name="quantized_inception_v3",
    plain=Inception_V3_Weights,
    pretrained={"init_weights": False, "transform_input": True},
    usual={"aux_logits": False},
    optional=("AuxLogits",),
)
def inception_v3(*, quantize: bool = False, **kwargs: Any) -> QuantizableInception3:
    """Make a quantisable Inception v3."""
    backend = kwargs.pop("backend", "fbgemm")
    return finished(QuantizableInception3(**kwargs), quantize, backend)  # type: ignore[no-any-return]
