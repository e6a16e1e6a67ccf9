"""Attention with a function of the caller's between the scores and the softmax."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import flambeau as fb
from flambeau import Tensor
from flambeau.nn.attention._block_mask import (
    _DEFAULT_SPARSE_BLOCK_SIZE as _DEFAULT_SPARSE_BLOCK_SIZE,
)
from flambeau.nn.attention._block_mask import BlockMask, create_block_mask, create_mask
from flambeau.nn.attention._modifications import (
    ScoreMod,
    and_masks,
    at_every_place,
    noop_mask,
    or_masks,
)

__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]


class AuxRequest(NamedTuple):
    """What `flex_attention` should return besides its result."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What an `AuxRequest` asked for."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: ScoreMod | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: dict[str, Any] | None = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """Attention whose scores go through ``score_mod(score, batch, head, query, key)``.

    ``block_mask`` hides keys from queries. With ``return_lse`` the log-sum-exp of every query's
    scores is returned too, with ``return_aux`` what it asks for.
    """
    _check(query, key, value, block_mask, enable_gqa)
    if enable_gqa and query.size(1) != key.size(1):
        group = query.size(1) // key.size(1)
        key, value = (t.repeat_interleave(group, 1) for t in (key, value))
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    wide = fb.promote_types(query.dtype, fb.float32)
    scores = query.to(wide) @ key.to(wide).transpose(-2, -1) * scale
    shape = tuple(scores.shape)
    if score_mod is not None:
        scores = at_every_place(score_mod, scores, shape, query.device)
    if block_mask is not None:
        seen = at_every_place(block_mask.mask_mod, None, shape, query.device)
        scores = scores.masked_fill(~seen, float("-inf"))
    # A query that sees nothing gets zeros, and gives no gradient.
    hidden = (scores == float("-inf")).all(-1, keepdim=True)
    shown = scores.masked_fill(hidden, 0.0)
    weights = shown.softmax(-1).masked_fill(hidden, 0.0)
    result = weights.to(value.dtype) @ value
    if not return_lse and return_aux is None:
        return result
    lse = shown.logsumexp(-1).masked_fill(hidden.squeeze(-1), 0.0)
    if return_aux is None:
        return result, lse
    most = scores.amax(-1) if return_aux.max_scores else None
    return result, AuxOutput(lse if return_aux.lse else None, most)


def _check(
    query: Tensor, key: Tensor, value: Tensor, block_mask: BlockMask | None, enable_gqa: bool
) -> None:
    where = "flex_attention: "
    if not query.dim() == key.dim() == value.dim() == 4:
        raise NotImplementedError(f"{where}query, key, and value must be 4D tensors")
    if query.size(-1) != key.size(-1):
        raise ValueError(
            f"{where}query {tuple(query.shape)} and key {tuple(key.shape)} must have the same "
            "number of features"
        )
    if not enable_gqa and query.size(1) != key.size(1):
        raise ValueError(
            f"{where}Expect query and key/value to have the same number of heads but got "
            f"Hq={query.size(1)} and Hkv={key.size(1)}. Try setting enable_gqa=True for GQA."
        )
    if enable_gqa and query.size(1) % key.size(1):
        raise ValueError(
            f"{where}Expect number of query heads to be a multiple of kv heads for GQA but got "
            f"Hq={query.size(1)} and Hkv={key.size(1)}."
        )
    lengths = (query.size(-2), key.size(-2))
    if block_mask is not None and block_mask.seq_lengths != lengths:
        raise ValueError(
            f"{where}block_mask was created for block_mask.shape={block_mask.shape} but got "
            f"q_len={lengths[0]} and kv_len={lengths[1]}"
        )
