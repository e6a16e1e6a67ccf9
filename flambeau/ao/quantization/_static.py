"""Quantisation of whole models, which needs kernels for 8-bit integers."""

from __future__ import annotations

from flambeau._limits.refusing import Function, refused

__all__: list[str] = []

prepare: Function = refused("ao.quantization.prepare")
prepare_qat: Function = refused("ao.quantization.prepare_qat")
convert: Function = refused("ao.quantization.convert")
quantize: Function = refused("ao.quantization.quantize")
quantize_qat: Function = refused("ao.quantization.quantize_qat")
