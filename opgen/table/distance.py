"""Distances and similarities of vectors."""

from opgen.model import composite, floating, floating_complex, native, not_implemented, numeric, op

op(
    "cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-08) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="function",
    aliases="nn.functional.cosine_similarity",
    grad=composite,
    doc="The cosine of the angle between vectors along dim; norms below eps count as eps.",
)
op(
    "pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2, eps: float = 1e-06, keepdim: bool = False)"
    " -> Tensor",
    kind=native,
    dtypes=numeric,
    forms="function",
    aliases="nn.functional.pairwise_distance",
    grad=composite,
    doc="The p-norm of x1 - x2 + eps along the last dimension.",
)
op(
    "_euclidean_pairs(x1: Tensor, x2: Tensor, eps: float) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="inner",
    grad={"x1 x2": "euclidean_pairs_backward(grad, x1, x2, eps, result, needed)"},
    node="NormBackward1",
    doc="The length of x1 - x2 + eps along the last dimension, of tensors of one shape.",
)
op(
    "_euclidean_pairs_gradient(gradient: Tensor, x1: Tensor, x2: Tensor, eps: float, output: Tensor) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="inner",
    cpp="euclidean_pairs_gradient",
    grad=not_implemented,
    doc="gradient (x1 - x2 + eps) / output; 0 where output is 0.",
)
op(
    "pdist(input: Tensor, p: float = 2) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="function",
    aliases="nn.functional.pdist",
    grad=composite,
    doc="The distances in the p-norm between each row and those after it.",
)
op(
    "dist(input: Tensor, other: Tensor, p: Number = 2) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    grad={
        "input": "norm_backward(grad, input - other, result, p, None, False)",
        "other": "norm_backward(-grad, input - other, result, p, None, False)",
    },
    doc="The p-norm of input - other over all elements.",
)
