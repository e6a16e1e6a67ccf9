"""Exponentials, logarithms and roots."""

from opgen.model import floating, floating_complex, native, op, pointwise, real_bool

for name, aliases, doc in (
    ("exp", "", "e to the power of each element."),
    ("exp2", "special.exp2", "2 to the power of each element."),
    ("expm1", "special.expm1", "exp(x) - 1, exact near zero."),
    ("log", "", "The natural logarithm; -inf at zero, NaN below."),
    ("log2", "", "The logarithm to the base 2; -inf at zero, NaN below."),
    ("log10", "", "The logarithm to the base 10; -inf at zero, NaN below."),
    ("log1p", "special.log1p", "log(1 + x), exact near zero; -inf at -1, NaN below."),
    ("sqrt", "", "The square root; NaN below zero."),
    ("rsqrt", "", "1 divided by the square root; inf at zero, NaN below."),
    ("sigmoid", "special.expit", "1 / (1 + exp(-x))."),
):
    op(
        f"{name}(input: Tensor, *, out: Tensor | None = None) -> Tensor",
        kind=pointwise,
        dtypes=floating_complex,
        promote="float",
        forms="function method inplace",
        aliases=aliases,
        doc=doc,
    )

op(
    "logaddexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=floating_complex,
    doc="log(exp(input) + exp(other)), computed without overflow.",
)
op(
    "logaddexp2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    doc="log2(2^input + 2^other), computed without overflow.",
)
op(
    "xlogy(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    promote="float",
    forms="function method inplace",
    aliases="special.xlogy",
    doc="input * log(other); 0 where input is 0, unless other is NaN.",
)
op(
    "logit(input: Tensor, eps: float | None = None, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=real_bool,
    forms="function method inplace",
    aliases="special.logit",
    doc="log(x / (1 - x)) of x clamped to [eps, 1 - eps]; without eps, infinite at 0 and 1, NaN beyond.",
)
op(
    "_logit(input: Tensor, eps: float) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    promote="float",
    cpp="logit",
    forms="function",
    doc="logit, where a negative eps stands for none.",
)
