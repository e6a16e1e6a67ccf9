"""How far apart vectors are."""

from opgen.model import composite, floating, floating_complex, native, numeric, op

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
