"""Softmax, its logarithm and log-sum-exp."""

from opgen.model import all_types, floating, native, op

op(
    "softmax(input: Tensor, dim: int, dtype: DType | None = None, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=floating,
    type_check="own",
    aliases="special.softmax",
    grad={"input": "_softmax_backward(grad, result, dim)"},
    out="exact",
    autocast="cuda_float32",
    doc="``exp(input)`` scaled to sum to 1 along ``dim``; NaN where all of a line is -inf.",
)
op(
    "log_softmax(input: Tensor, dim: int, dtype: DType | None = None, *, out: Tensor | None = None)"
    " -> Tensor",
    kind=native,
    dtypes=floating,
    type_check="own",
    aliases="special.log_softmax",
    grad={"input": "_log_softmax_backward(grad, result, dim)"},
    out="exact",
    autocast="cuda_float32",
    doc="The logarithm of ``softmax(input, dim)``, without its underflow.",
)
op(
    "_softmax_backward(gradient: Tensor, output: Tensor, dim: int) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="inner",
    cpp="softmax_backward",
    grad={
        "gradient": "_softmax_backward(grad, output, dim)",
        "output": "softmax_backward_output(grad, gradient, output, dim)",
    },
    doc="output * (gradient - sum(gradient * output)), the sum along dim.",
    batch="dims",
)
op(
    "_log_softmax_backward(gradient: Tensor, output: Tensor, dim: int) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="inner",
    cpp="log_softmax_backward",
    grad={
        "gradient": "grad - sum(grad * exp(output), (dim,), keepdim=True)",
        "output": "-grad * exp(output) * sum(gradient, (dim,), keepdim=True)",
    },
    doc="gradient - exp(output) * sum(gradient), the sum along dim.",
    batch="dims",
)
op(
    "logsumexp(input: Tensor, dim: Dims, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=all_types,
    aliases="special.logsumexp",
    grad={"input": "logsumexp_backward(grad, input, result, dim, keepdim)"},
    autocast="cuda_float32",
    doc="``log(sum(exp(input)))`` over ``dim``, without overflow; -inf if there are no elements.",
)
