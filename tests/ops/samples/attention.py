"""Samples of attention."""

import numpy as np

from tests.ops.registry import call, errors, samples

SDPA = "nn.functional.scaled_dot_product_attention"


def _attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    if enable_gqa:
        key, value = (np.repeat(t, query.shape[-3] // t.shape[-3], axis=-3) for t in (key, value))
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    scores = query @ np.swapaxes(key, -1, -2) * scale
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    if attn_mask is not None and attn_mask.dtype == bool:
        scores = np.where(attn_mask, scores, -np.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask
    top = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isinf(top), 0, top))
    total = weights.sum(-1, keepdims=True)
    return weights / np.where(total == 0, 1, total) @ value


# PyTorch rounds scores and weights to 16 bits where it has no kernel for the whole.
@samples(
    SDPA,
    reference=_attention,
    tolerance={"float16": (4e-3, 4e-3), "bfloat16": (3.2e-2, 3.2e-2)},
)
def attention(make):
    yield make(2, 3, 5, 4), make(2, 3, 7, 4), make(2, 3, 7, 4)
    yield make(5, 4), make(7, 4), make(7, 6)  # one head, values of another width
    yield make(2, 3, 4, 5, 3), make(2, 3, 4, 5, 3), make(2, 3, 4, 5, 3)
    yield make(2, 3, 5, 4), make(3, 7, 4), make(1, 1, 7, 4)  # heads that share keys
    yield call(make(2, 5, 4), make(2, 7, 4), make(2, 7, 4), is_causal=True)
    yield call(make(2, 7, 4), make(2, 5, 4), make(2, 5, 4), is_causal=True, scale=0.7)
    yield call(make(2, 2, 5, 4), make(2, 2, 7, 4), make(2, 2, 7, 4), make.mask(5, 7))
    yield call(
        make(2, 2, 5, 4), make(2, 2, 7, 4), make(2, 2, 7, 4), attn_mask=make.mask(2, 1, 1, 7)
    )
    yield call(make(2, 5, 4), make(2, 7, 4), make(2, 7, 4), attn_mask=make(2, 5, 7))
    yield call(make(2, 4, 5, 4), make(2, 2, 7, 4), make(2, 2, 7, 4), enable_gqa=True)
    # More than a block of queries, and of keys.
    yield call(make(1, 130, 8), make(1, 70, 8), make(1, 70, 8))
    yield call(make(1, 130, 8), make(1, 130, 8), make(1, 130, 5), is_causal=True)
    nothing = make.of(
        [[True, False, True], [False, False, False], [True, True, True]], dtype="bool"
    )
    yield make(2, 3, 4), make(2, 3, 4), make(2, 3, 4), nothing


@errors(SDPA)
def attention_errors(make):
    where = "scaled_dot_product_attention: "
    q = make(2, 5, 4)
    yield (make(4), q, q), RuntimeError, where + "query, key and value must have at least 2"
    yield (q, make(2, 5, 3), q), RuntimeError, where + "query (2, 5, 4) and key (2, 5, 3)"
    yield (q, q, make(2, 6, 4)), RuntimeError, where + "key (2, 5, 4) and value (2, 6, 4)"
    yield (make(2, 5, 4), make(3, 5, 4), make(3, 5, 4)), RuntimeError, where
    yield (q, q, q, make(3, 3)), RuntimeError, where + "attn_mask of shape (3, 3)"
    yield call(q, q, q, dropout_p=2.0), RuntimeError, where + "dropout probability"
