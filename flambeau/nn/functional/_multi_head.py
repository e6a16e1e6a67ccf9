"""Attention with several heads, between linear maps."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import flambeau as fb
import flambeau.nn.functional as F
from flambeau import Tensor
from flambeau._core.overriding import overridable


class Projections(NamedTuple):
    """The linear maps around attention: one weight for all inputs, or one for each."""

    in_weight: Tensor | None
    query_weight: Tensor | None
    key_weight: Tensor | None
    value_weight: Tensor | None
    in_bias: Tensor | None
    out_weight: Tensor
    out_bias: Tensor | None

    def separate(self) -> tuple[Tensor, Tensor, Tensor]:
        """The weights of query, key and value, where each has its own."""
        weights = (self.query_weight, self.key_weight, self.value_weight)
        for name, weight in zip(("q", "k", "v"), weights, strict=True):
            if weight is None:
                raise AssertionError(
                    "multi_head_attention_forward: use_separate_proj_weight is True but "
                    f"{name}_proj_weight is None"
                )
        return weights  # type: ignore[return-value]


@overridable
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """What `nn.MultiheadAttention` computes, as a function of its parameters.

    Args:
        query: (L, N, E) or (L, E).
        key: (S, N, E) or (S, E).
        value: (S, N, E) or (S, E).
        embed_dim_to_check: E.
        num_heads: Number of heads.
        in_proj_weight and the following: Parameters, options and masks, named as in
            `nn.MultiheadAttention`.

    Returns:
        A pair: the output, and the weights or None.

    Example:
        >>> layer = nn.MultiheadAttention(4, 2)
        >>> x = torch.randn(3, 1, 4)
        >>> output, _ = F.multi_head_attention_forward(
        ...     x, x, x, 4, 2, layer.in_proj_weight, layer.in_proj_bias, None, None, False, 0.0,
        ...     layer.out_proj.weight, layer.out_proj.bias,
        ... )
        >>> torch.allclose(output, layer(x, x, x)[0])
        True
    """
    if use_separate_proj_weight:
        in_proj_weight = None
    else:
        q_proj_weight = k_proj_weight = v_proj_weight = None
    return attend(
        query,
        key,
        value,
        embed_dim_to_check,
        num_heads,
        Projections(
            in_proj_weight,
            q_proj_weight,
            k_proj_weight,
            v_proj_weight,
            in_proj_bias,
            out_proj_weight,
            out_proj_bias,
        ),
        bias_k,
        bias_v,
        add_zero_attn,
        dropout_p if training else 0.0,
        key_padding_mask,
        need_weights,
        attn_mask,
        average_attn_weights,
        is_causal,
        static_k=static_k,
        static_v=static_v,
    )


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_heads: int,
    projections: Projections,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    key_padding_mask: Tensor | None,
    need_weights: bool,
    attn_mask: Tensor | None,
    average_attn_weights: bool,
    is_causal: bool,
    *,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    batch_first: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention for either order of batch and length, which heads are cut out of without copies."""
    _check_dims(query, key, value, key_padding_mask, attn_mask, num_heads)
    is_batched = query.dim() == 3
    if not is_batched:
        at = 0 if batch_first else 1
        same_key, same_value = key is query, value is key
        query = query.unsqueeze(at)
        key = query if same_key else key.unsqueeze(at)
        value = key if same_value else value.unsqueeze(at)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    _check_features(query, key, value, embed_dim, num_heads, projections)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "multi_head_attention_forward: Need attn_mask if specifying the is_causal hint."
        )

    padding = canonical_mask(
        key_padding_mask, "key_padding_mask", attn_mask, "attn_mask", query.dtype
    )
    if is_causal and padding is None and not need_weights:
        mask = None
    else:
        mask = canonical_mask(attn_mask, "attn_mask", None, "", query.dtype)
        is_causal = False

    q, k, v = (_heads(t, num_heads, batch_first) for t in _project(query, key, value, projections))
    batch, _, length, _ = q.shape
    mask = _by_heads(mask, batch, num_heads, length, k.shape[2])
    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError(
                "multi_head_attention_forward: bias cannot be added to static key or value"
            )
        k, v = _with_learned(k, bias_k), _with_learned(v, bias_v)
    k = _static(k, static_k, "static_k", batch, num_heads)
    v = _static(v, static_v, "static_v", batch, num_heads)
    if add_zero_attn:
        k, v = F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 0, 0, 1))
    # What was added is masked from nobody.
    mask = _widened(mask, k.shape[2])
    padding = _widened(padding, k.shape[2])
    if padding is not None:
        padding = padding.view(batch, 1, 1, k.shape[2])
        mask = padding if mask is None else mask + padding

    weights = None
    if need_weights:
        weights = _weights(q, k, mask, dropout_p)
        result = weights @ v
    else:
        result = F.scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal)
    # In memory the length comes first whatever the order of dimensions: dropout behind it draws for
    # its elements in the order of memory.
    joined = result.permute(2, 0, 1, 3).flatten(2)
    output = F.linear(joined, projections.out_weight, projections.out_bias)
    if batch_first:
        output = output.transpose(0, 1)
    if weights is not None and average_attn_weights:
        weights = weights.mean(dim=1)
    if not is_batched:
        output = output.squeeze(0 if batch_first else 1)
        weights = None if weights is None else weights.squeeze(0)
    return output, weights


def canonical_mask(
    mask: Tensor | None, name: str, other: Tensor | None, other_name: str, dtype: fb.dtype
) -> Tensor | None:
    """A mask that is added to scores: -inf where one of bools is true."""
    if mask is None:
        return None
    if mask.dtype != fb.bool and not mask.is_floating_point():
        raise AssertionError(
            f"only bool and floating types of {name} are supported, got {mask.dtype}"
        )
    if other is not None and other.dtype != mask.dtype:
        warnings.warn(
            f"Support for mismatched {name} and {other_name} is deprecated. Use same type for both "
            "instead.",
            stacklevel=4,
        )
    if mask.is_floating_point():
        return mask
    return fb.zeros_like(mask, dtype=dtype).masked_fill_(mask, float("-inf"))


def _project(
    query: Tensor, key: Tensor, value: Tensor, projections: Projections
) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value through their linear maps: one product for those that are the same."""
    weight, bias = projections.in_weight, projections.in_bias
    if weight is None:
        biases = (None, None, None) if bias is None else bias.chunk(3)
        inputs = zip((query, key, value), projections.separate(), biases, strict=True)
        q, k, v = (F.linear(t, w, b) for t, w, b in inputs)
        return q, k, v
    width = query.shape[-1]
    if key is value and query is key:
        q, k, v = F.linear(query, weight, bias).chunk(3, -1)
        return q, k, v
    first, rest = weight.split([width, 2 * width])
    first_bias, rest_bias = (None, None) if bias is None else bias.split([width, 2 * width])
    q = F.linear(query, first, first_bias)
    if key is value:
        k, v = F.linear(key, rest, rest_bias).chunk(2, -1)
        return q, k, v
    key_bias, value_bias = (None, None) if rest_bias is None else rest_bias.chunk(2)
    key_weight, value_weight = rest.chunk(2)
    return q, F.linear(key, key_weight, key_bias), F.linear(value, value_weight, value_bias)


def _heads(t: Tensor, num_heads: int, batch_first: bool) -> Tensor:
    """A view (batch, heads, length, features of a head)."""
    cut = t.unflatten(-1, (num_heads, t.shape[-1] // num_heads))
    return cut.transpose(1, 2) if batch_first else cut.permute(1, 2, 0, 3)


def _by_heads(
    mask: Tensor | None, batch: int, num_heads: int, queries: int, keys: int
) -> Tensor | None:
    """A mask for all heads, or one for each, so that it broadcasts to their scores."""
    if mask is None:
        return None
    expected = (queries, keys) if mask.dim() == 2 else (batch * num_heads, queries, keys)
    if tuple(mask.shape) != expected:
        raise RuntimeError(
            f"multi_head_attention_forward: The shape of the {mask.dim()}D attn_mask is "
            f"{tuple(mask.shape)}, but should be {expected}."
        )
    return mask if mask.dim() == 2 else mask.view(batch, num_heads, queries, keys)


def _static(t: Tensor, given: Tensor | None, name: str, batch: int, num_heads: int) -> Tensor:
    """Keys or values that were projected already, (batch * heads, length, features)."""
    if given is None:
        return t
    head_dim = t.shape[-1]
    if given.shape[0] != batch * num_heads or given.shape[2] != head_dim:
        raise AssertionError(
            f"multi_head_attention_forward: expecting {name} of {batch * num_heads} heads with "
            f"{head_dim} features, but got the shape {tuple(given.shape)}"
        )
    return given.view(batch, num_heads, -1, head_dim)


def _with_learned(t: Tensor, row: Tensor) -> Tensor:
    """Keys or values, and behind them one that is the same for every sample."""
    batch, num_heads, _, head_dim = t.shape
    return fb.cat([t, row.view(1, num_heads, 1, head_dim).expand(batch, -1, -1, -1)], 2)


def _widened(mask: Tensor | None, keys: int) -> Tensor | None:
    if mask is None or mask.shape[-1] == keys:
        return mask
    return F.pad(mask, (0, keys - mask.shape[-1]))


def _weights(q: Tensor, k: Tensor, mask: Tensor | None, dropout_p: float) -> Tensor:
    scores = (q * q.shape[-1] ** -0.5) @ k.transpose(-2, -1)
    # Scores of another type than the query's come from autocast, which the mask has to follow.
    weights = F.softmax(scores if mask is None else scores + mask.to(scores.dtype), -1)
    return F.dropout(weights, dropout_p) if dropout_p > 0.0 else weights


def _check_dims(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    num_heads: int,
) -> None:
    """Refuse inputs with and without a batch together."""
    dims = query.dim()
    where = "multi_head_attention_forward: "
    if dims not in (2, 3):
        raise AssertionError(
            f"{where}query should be unbatched 2D or batched 3D tensor but received {dims}-D "
            "query tensor"
        )
    kind = "batched (3-D)" if dims == 3 else "unbatched (2-D)"
    if key.dim() != dims or value.dim() != dims:
        raise AssertionError(
            f"{where}For {kind} `query`, expected `key` and `value` to be {dims}-D but found "
            f"{key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != dims - 1:
        raise AssertionError(
            f"{where}For {kind} `query`, expected `key_padding_mask` to be `None` or {dims - 1}-D "
            f"but found {key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is None:
        return
    if attn_mask.dim() not in (2, 3):
        raise AssertionError(
            f"{where}For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
            f"{attn_mask.dim()}-D tensor instead"
        )
    if dims == 2 and attn_mask.dim() == 3:
        expected = (num_heads, query.shape[0], key.shape[0])
        if tuple(attn_mask.shape) != expected:
            raise AssertionError(
                f"{where}Expected `attn_mask` shape to be {expected} but got "
                f"{tuple(attn_mask.shape)}"
            )


def _check_features(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_heads: int,
    projections: Projections,
) -> None:
    where = "multi_head_attention_forward: "
    if query.shape[-1] != embed_dim:
        raise AssertionError(
            f"{where}was expecting embedding dimension of {embed_dim}, but got {query.shape[-1]}"
        )
    if embed_dim % num_heads:
        raise AssertionError(f"{where}embed_dim {embed_dim} not divisible by num_heads {num_heads}")
    if projections.in_weight is not None:
        if key.shape != value.shape:
            raise AssertionError(
                f"{where}key shape {tuple(key.shape)} does not match value shape "
                f"{tuple(value.shape)}"
            )
        return
    if key.shape[:2] != value.shape[:2]:
        raise AssertionError(
            f"{where}key's sequence and batch dims {tuple(key.shape[:2])} do not match value's "
            f"{tuple(value.shape[:2])}"
        )
    inputs = zip(
        ("query", "key", "value"), (query, key, value), projections.separate(), strict=True
    )
    for name, t, weight in inputs:
        if tuple(weight.shape) != (embed_dim, t.shape[-1]):
            raise AssertionError(
                f"{where}expecting {name} weights shape of {(embed_dim, t.shape[-1])}, but got "
                f"{tuple(weight.shape)}"
            )
