"""Quantisation: dynamic quantisation of weights, fusing of layers, and the names around them.

Quantisation of whole models (``prepare``, ``convert``) needs kernels for 8-bit integers, which
there are none of yet.
"""

from __future__ import annotations

from flambeau.ao.quantization._dynamic import quantize_dynamic
from flambeau.ao.quantization._fusing import (
    fuse_conv_bn,
    fuse_conv_bn_relu,
    fuse_modules,
    fuse_modules_qat,
)
from flambeau.ao.quantization._qconfig import (
    QConfig,
    default_dynamic_qconfig,
    default_qat_qconfig,
    default_qconfig,
    float16_dynamic_qconfig,
    get_default_qat_qconfig,
    get_default_qconfig,
)
from flambeau.ao.quantization._static import (
    convert,
    prepare,
    prepare_qat,
    quantize,
    quantize_qat,
)
from flambeau.ao.quantization._stubs import DeQuantStub, QuantStub, QuantWrapper

__all__ = [
    "DeQuantStub",
    "QConfig",
    "QuantStub",
    "QuantWrapper",
    "convert",
    "default_dynamic_qconfig",
    "default_qat_qconfig",
    "default_qconfig",
    "float16_dynamic_qconfig",
    "fuse_conv_bn",
    "fuse_conv_bn_relu",
    "fuse_modules",
    "fuse_modules_qat",
    "get_default_qat_qconfig",
    "get_default_qconfig",
    "prepare",
    "prepare_qat",
    "quantize",
    "quantize_dynamic",
    "quantize_qat",
]
