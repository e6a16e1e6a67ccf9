"""``torch.ao``: quantisation, as far as it runs without kernels for 8-bit integers."""

from __future__ import annotations

from flambeau.ao import nn, quantization

__all__ = ["nn", "quantization"]
