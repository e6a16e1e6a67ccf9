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
    """Attention with several heads.

    head_i = softmax(Q_i K_i^T / sqrt(head size)) V_i
    output = (head_1, ..., head_h) W_out + b_out

    where Q_i, K_i and V_i are linear maps of query, key and value to embed_dim / num_heads
    features.

    Args:
        embed_dim: Number of features of query and output.
        num_heads: Number of heads; must divide `embed_dim`.
        dropout: Probability to drop an attention weight in training. Default: 0.
        bias: Whether the linear maps have biases. Default: True.
        add_bias_kv: Whether to learn one more key and value. Default: False.
        add_zero_attn: Whether to add a key and value of zeros. Default: False.
        kdim: Number of features of the keys. Default: `embed_dim`.
        vdim: Number of features of the values. Default: `embed_dim`.
        batch_first: Whether tensors are (batch, length, features) instead of (length, batch,
            features). Default: False.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Shape (L: target length, S: source length, N: batch, E: embed_dim):
        - Query: (L, N, E) or (L, E); (N, L, E) if `batch_first`.
        - Key and value: (S, N, kdim) and (S, N, vdim), likewise.
        - `key_padding_mask`, optional: (N, S) or (S,); True leaves a key out.
        - `attn_mask`, optional: (L, S) or (N num_heads, L, S); True forbids a pair, numbers are
          added to its score. `is_causal` says that it is the mask of later positions.
        - Output: the shape of the query.
        - Weights: (N, L, S), averaged over the heads; (N, num_heads, L, S) with
          `average_attn_weights=False`; None with `need_weights=False`.

    Raises:
        ValueError: A size is not positive.
        AssertionError: `num_heads` does not divide `embed_dim`.

    Example:
        >>> attention = nn.MultiheadAttention(16, num_heads=4, batch_first=True)
        >>> x = torch.randn(2, 5, 16)
        >>> output, weights = attention(x, x, x)
        >>> output.shape, weights.shape
        (torch.Size([2, 5, 16]), torch.Size([2, 5, 5]))

    See also:
        `nn.functional.scaled_dot_product_attention`, `nn.TransformerEncoderLayer`.
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
