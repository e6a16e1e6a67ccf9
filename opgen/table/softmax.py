"""Softmax, its logarithm and log-sum-exp."""

from opgen.model import all_types, floating, native, op

op(
    "softmax(input: Tensor, dim: int, dtype: DType | None = None, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=floating,
    grad={"input": "result * (grad - sum(grad * result, (dim,), keepdim=True))"},
    doc="``exp(input)`` scaled to sum to 1 along ``dim``; NaN where all of a line is -inf.",
)
op(
    "log_softmax(input: Tensor, dim: int, dtype: DType | None = None, *, out: Tensor | None = None)"
    " -> Tensor",
    kind=native,
    dtypes=floating,
    grad={"input": "grad - exp(result) * sum(grad, (dim,), keepdim=True)"},
    doc="The logarithm of ``softmax(input, dim)``, without its underflow.",
)
op(
    "logsumexp(input: Tensor, dim: Dims, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=all_types,
    grad={"input": "logsumexp_backward(grad, input, result, dim, keepdim)"},
    doc="``log(sum(exp(input)))`` over ``dim``, without overflow; -inf of nothing.",
)
