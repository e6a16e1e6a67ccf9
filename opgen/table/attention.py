"""Attention."""

from opgen.model import composite, floating, native, not_implemented, op

op(
    "scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor,"
    " attn_mask: Tensor | None = None, dropout_p: float = 0.0, is_causal: bool = False, *,"
    " scale: float | None = None, enable_gqa: bool = False) -> Tensor",
    kind=native,
    namespace="nn.functional",
    dtypes=floating,
    forms="function",
    random=True,
    grad=composite,
    doc="softmax(query @ key.mT * scale + attn_mask) @ value, the weights dropped out by dropout_p;"
    " 0 for a query whose keys are all masked. scale is 1 / sqrt(features) unless given.",
    autocast="lower",
)
op(
    "_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, is_causal: bool,"
    " scale: float) -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=floating,
    forms="inner",
    cpp="attention",
    grad={
        "query key value": "attention_gradients(grad, query, key, value, attn_mask, results[0],"
        " results[1], is_causal, scale, needed)",
    },
    node="ScaledDotProductFlashAttentionForCpuBackward0",
    batch="aligned",
    doc="Attention and the log-sum-exp of every query's scores, without the matrix of all weights.",
)
op(
    "_attention_backward(gradient: Tensor, query: Tensor, key: Tensor, value: Tensor,"
    " attn_mask: Tensor | None, output: Tensor, logsumexp: Tensor, is_causal: bool, scale: float)"
    " -> tuple[Tensor, Tensor, Tensor]",
    kind=native,
    dtypes=floating,
    forms="inner",
    cpp="attention_backward",
    grad=not_implemented,
    doc="The gradients of query, key and value from what _attention gave.",
)
