"""Quantised layers."""

from __future__ import annotations

from flambeau.ao.nn.quantized import dynamic
from flambeau.ao.nn.quantized._functional import FloatFunctional, FXFloatFunctional

__all__ = ["FXFloatFunctional", "FloatFunctional", "dynamic"]
