"""Attention with several heads, as a module."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.nn.functional._multi_head import Projections, attend
from flambeau.nn.init import constant_, xavier_normal_, xavier_uniform_
from flambeau.nn.modules.linear import NonDynamicallyQuantizableLinear
from flambeau.nn.modules.module import Module
from flambeau.nn.parameter import Parameter

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Attention in ``num_heads`` parts of ``embed_dim`` features, between linear maps.

    Inputs are (length, batch, features), with ``batch_first`` (batch, length, features), or without
    a batch (length, features); ``kdim`` and ``vdim`` are the features of keys and values where they
    differ. ``add_bias_kv`` learns one more key and value, ``add_zero_attn`` adds a pair of zeros.
    """

    bias_k: Tensor | None
    bias_v: Tensor | None
    in_proj_weight: Tensor | None
    in_proj_bias: Tensor | None
    q_proj_weight: Tensor | None
    k_proj_weight: Tensor | None
    v_proj_weight: Tensor | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "MultiheadAttention: embed_dim and num_heads must be greater than 0, "
                f"got embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim: int = embed_dim if kdim is None else kdim
        self.vdim: int = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim: int = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError(
                "MultiheadAttention: embed_dim must be divisible by num_heads, "
                f"got {embed_dim} and {num_heads}"
            )
        factory = {"device": device, "dtype": dtype}
        self._fb_add_input_weights(factory)
        if bias:
            self.in_proj_bias = Parameter(fb.empty(3 * embed_dim, **factory))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj: NonDynamicallyQuantizableLinear = NonDynamicallyQuantizableLinear(
            embed_dim, embed_dim, bias=bias, **factory
        )
        if add_bias_kv:
            self.bias_k = Parameter(fb.empty(1, 1, embed_dim, **factory))
            self.bias_v = Parameter(fb.empty(1, 1, embed_dim, **factory))
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _fb_add_input_weights(self, factory: dict[str, Any]) -> None:
        """One matrix for queries, keys and values where their inputs are equally wide."""
        separate = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
        if self._qkv_same_embed_dim:
            self.in_proj_weight = Parameter(fb.empty(3 * self.embed_dim, self.embed_dim, **factory))
            for name in separate:
                self.register_parameter(name, None)
            return
        for name, width in zip(separate, (self.embed_dim, self.kdim, self.vdim), strict=True):
            setattr(self, name, Parameter(fb.empty(self.embed_dim, width, **factory)))
        self.register_parameter("in_proj_weight", None)

    def _reset_parameters(self) -> None:
        for weight in (
            self.in_proj_weight,
            self.q_proj_weight,
            self.k_proj_weight,
            self.v_proj_weight,
        ):
            if weight is not None:
                xavier_uniform_(weight)
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                constant_(bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                xavier_normal_(bias)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Pickles from before there were separate weights.
        state.setdefault("_qkv_same_embed_dim", True)
        super().__setstate__(state)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        return attend(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            Projections(
                self.in_proj_weight,
                self.q_proj_weight,
                self.k_proj_weight,
                self.v_proj_weight,
                self.in_proj_bias,
                self.out_proj.weight,
                self.out_proj.bias,
            ),
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout if self.training else 0.0,
            key_padding_mask,
            need_weights,
            attn_mask,
            average_attn_weights,
            is_causal,
            batch_first=self.batch_first,
        )
