"""Exponentials, logarithms and roots."""

from opgen.model import (
    floating,
    floating_complex,
    native,
    not_implemented,
    op,
    pointwise,
    real_bool,
)

CUDA_FLOAT32 = ("exp", "expm1", "log", "log2", "log10", "log1p", "rsqrt")
KEEP_ZERO = ("expm1", "log1p", "sqrt")

for name, aliases, gradient, doc in (
    ("exp", "", "grad * result.conj()", "e to the power of each element."),
    (
        "exp2",
        "special.exp2",
        "grad * (result * 0.6931471805599453).conj()",
        "2 to the power of each element.",
    ),
    ("expm1", "special.expm1", "grad * (result + 1).conj()", "exp(x) - 1, exact near zero."),
    ("log", "", "grad / input.conj()", "The natural logarithm; -inf at zero, NaN below."),
    (
        "log2",
        "",
        "grad / (input * 0.6931471805599453).conj()",
        "The logarithm to the base 2; -inf at zero, NaN below.",
    ),
    (
        "log10",
        "",
        "grad / (input * 2.302585092994046).conj()",
        "The logarithm to the base 10; -inf at zero, NaN below.",
    ),
    (
        "log1p",
        "special.log1p",
        "grad / (input + 1).conj()",
        "log(1 + x), exact near zero; -inf at -1, NaN below.",
    ),
    ("sqrt", "", "grad / (2 * result).conj()", "The square root; NaN below zero."),
    (
        "rsqrt",
        "",
        "-0.5 * grad * (result ** 3).conj()",
        "1 divided by the square root; inf at zero, NaN below.",
    ),
    (
        "sigmoid",
        "special.expit",
        "_sigmoid_backward(grad, result)",
        "The logistic sigmoid 1 / (1 + exp(-x)).",
    ),
):
    op(
        f"{name}(input: Tensor, *, out: Tensor | None = None) -> Tensor",
        kind=pointwise,
        dtypes=floating_complex,
        promote="float",
        forms="function method inplace",
        aliases=aliases,
        grad={"input": gradient},
        autocast="cuda_float32" if name in CUDA_FLOAT32 else "",
        doc=doc,
        sparse="values" if name in KEEP_ZERO else "",
    )

op(
    "logaddexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=floating_complex,
    grad={
        "input": "grad / (1 + exp(other - input)).conj()",
        "other": "grad / (1 + exp(input - other)).conj()",
    },
    doc="log(exp(input) + exp(other)), computed without overflow.",
)
op(
    "logaddexp2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    grad={
        "input": "grad / (1 + exp2(other - input))",
        "other": "grad / (1 + exp2(input - other))",
    },
    doc="log2(2^input + 2^other), computed without overflow.",
)
op(
    "xlogy(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    promote="float",
    forms="function method inplace",
    aliases="special.xlogy",
    grad={"input": "xlogy_backward(grad, input, other)", "other": "grad * (input / other)"},
    number_nodes={"input": "XlogyBackward1", "other": "XlogyBackward2"},
    doc="input * log(other); 0 where input is 0, unless other is NaN.",
)
op(
    "logit(input: Tensor, eps: float | None = None, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=real_bool,
    forms="function method inplace",
    aliases="special.logit",
    grad={"input": "logit_backward(grad, input, eps)"},
    out="whole",
    doc="log(x / (1 - x)) of x clamped to [eps, 1 - eps]; without eps, infinite at 0 and 1, NaN beyond.",
    batch="same",
)
op(
    "_logit(input: Tensor, eps: float) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    promote="float",
    cpp="logit",
    forms="inner",
    grad=not_implemented,
    doc="logit, where a negative eps stands for none.",
)
