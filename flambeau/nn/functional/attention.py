"""Attention."""

from __future__ import annotations

from flambeau._C.nn.functional import scaled_dot_product_attention
from flambeau.nn.functional._multi_head import multi_head_attention_forward

__all__ = ["multi_head_attention_forward", "scaled_dot_product_attention"]
