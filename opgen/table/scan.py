"""Cumulative sums, products and extrema along one dimension, and differences."""

from opgen.model import all_types, composite, floating_complex, native, op, real_bool

for name, word, formula in (
    ("cumsum", "sum", "reversed_cumsum(grad, dim)"),
    ("cumprod", "product", "cumprod_backward(grad, input, dim)"),
):
    op(
        f"{name}(input: Tensor, dim: int, *, dtype: DType | None = None, out: Tensor | None = None)"
        " -> Tensor",
        kind=native,
        dtypes=all_types,
        forms="function method inplace",
        out="any whole",
        doc=f"The cumulative {word} along ``dim``; integers and bool in int64.",
        grad={"input": formula},
    )
op(
    "logcumsumexp(input: Tensor, dim: int, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    out="exact whole",
    doc="``log(cumsum(exp(input), dim))`` without overflow.",
    grad={"input": "logcumsumexp_backward(grad, input, result, dim)"},
)
for name, which in (("cummax", "largest"), ("cummin", "smallest")):
    op(
        f"{name}(input: Tensor, dim: int, *, out: list[Tensor] | None = None) -> tuple[Tensor, Tensor]",
        kind=native,
        dtypes=real_bool,
        returns="values indices",
        out="exact",
        doc=f"The {which} element so far along ``dim`` and its index, the last of equals. NaN stays.",
        grad={"input": "_gather_backward(grad, input.shape, dim, indices)"},
    )
op(
    "diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None,"
    " append: Tensor | None = None, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=all_types,
    out="apart",
    doc="The differences of neighbours along ``dim``, taken ``n`` times; of bool, whether they differ.",
    grad=composite,
)
op(
    "_recurrence(input: Tensor, factor: Tensor, dim: int, reverse: bool) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    forms="inner",
    doc="Along ``dim`` ``y[k] = input[k] + factor[k] * y[k - 1]``; in reverse ``input[k] + factor[k + 1] * y[k + 1]``.",
    grad={
        "input": "_recurrence(grad, factor.conj(), dim, not reverse)",
        "factor": "recurrence_factor_backward(grad, factor, result, dim, reverse)",
    },
)
