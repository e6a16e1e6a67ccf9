"""Layers around quantisation."""

from __future__ import annotations

from flambeau.ao.nn import intrinsic, quantized

__all__ = ["intrinsic", "quantized"]
