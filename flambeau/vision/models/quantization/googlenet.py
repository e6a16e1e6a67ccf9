"""Quantisable GoogLeNet."""

from __future__ import annotations

from functools import partial
from typing import Any

from flambeau import Tensor, nn
from flambeau.vision.models._api import builder
from flambeau.vision.models._weights import weights_of
from flambeau.vision.models.googlenet import (
    BasicConv2d,
    GoogLeNet,
    GoogLeNet_Weights,
    Inception,
    InceptionAux,
)
from flambeau.vision.models.quantization.utils import _fuse_modules, finished

__all__ = ["GoogLeNet_QuantizedWeights", "QuantizableGoogLeNet", "googlenet"]

GoogLeNet_QuantizedWeights: Any = weights_of(
    "quantized_googlenet", "quantization", GoogLeNet_Weights
)


class QuantizableBasicConv2d(BasicConv2d):
    """Convolution, batch normalisation and ReLU that can be fused."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.relu: nn.ReLU = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        return self.relu(self.bn(self.conv(x)))  # type: ignore[no-any-return]

    def fuse_model(self, is_qat: bool | None = None) -> None:
        """Fuse the three layers."""
        _fuse_modules(self, ["conv", "bn", "relu"], is_qat)


class FusedConvolutions(nn.Module):
    """Mixin that fuses all convolutions of a network."""

    def fuse_model(self, is_qat: bool | None = None) -> None:
        """Fuse each convolution with the layers that follow it."""
        for module in self.modules():
            if isinstance(module, QuantizableBasicConv2d):
                module.fuse_model(is_qat)


class QuantizableGoogLeNet(FusedConvolutions, GoogLeNet):
    """A GoogLeNet whose layers can be fused."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        parts = [
            QuantizableBasicConv2d,
            partial(Inception, conv_block=QuantizableBasicConv2d),
            partial(InceptionAux, conv_block=QuantizableBasicConv2d),
        ]
        super().__init__(*args, blocks=parts, **kwargs)  # type: ignore[misc]


@builder(
    GoogLeNet_QuantizedWeights,
    name="quantized_googlenet",
    plain=GoogLeNet_Weights,
    pretrained={"init_weights": False, "transform_input": True},
    usual={"aux_logits": False},
    optional=("aux1", "aux2"),
)
def googlenet(*, quantize: bool = False, **kwargs: Any) -> QuantizableGoogLeNet:
    """Make a quantisable GoogLeNet."""
    backend = kwargs.pop("backend", "fbgemm")
    return finished(QuantizableGoogLeNet(**kwargs), quantize, backend)  # type: ignore[no-any-return]
