"""How far apart vectors are."""

from opgen.model import floating, floating_complex, native, numeric, op, python

op(
    "cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor",
    kind=python,
    body="flambeau._distance:cosine_similarity",
    dtypes=floating,
    forms="function",
    doc="The cosine of the angle between vectors along dim; norms below eps count as eps.",
)
op(
    "pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor",
    kind=python,
    body="flambeau._distance:pairwise_distance",
    dtypes=numeric,
    forms="function",
    doc="The p-norm of x1 - x2 + eps along the last dimension.",
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
