"""Reductions: sums, extrema, logic, moments and norms over some or all dimensions."""

from opgen.model import (
    all_types,
    composite,
    floating,
    floating_complex,
    native,
    none,
    op,
    python,
    real,
    real_bool,
)

OUT = "out: Tensor | None = None"

SUM_DOC = "The sum over ``dim``, or of all elements. Integers and bool add up in int64; an empty sum is 0."
op(
    f"sum(input: Tensor, *, dtype: DType | None = None, {OUT}) -> Tensor",
    kind=native,
    dtypes=all_types,
    cpp="sum_all",
    out="any",
    autocast="cuda_float32",
    doc=SUM_DOC,
    grad={"input": "grad.expand(input.shape)"},
    batch="own",
    sparse="own",
)
op(
    f"sum.dim(input: Tensor, dim: Dims | None, keepdim: bool = False, *, dtype: DType | None = None, {OUT}) -> Tensor",
    kind=native,
    dtypes=all_types,
    out="any",
    autocast="cuda_float32",
    doc=SUM_DOC,
    grad={"input": "spread_over(grad, input.shape, dim, keepdim)"},
    node="SumBackward1",
    sparse="own",
)
op(
    "nansum(input: Tensor, dim: Dims | None = None, keepdim: bool = False, *, dtype: DType | None = None,"
    " out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=real_bool,
    doc="The sum with NaN counted as 0.",
    grad={"input": "spread_over(grad, input.shape, dim, keepdim) * ~isnan(input)"},
)
MEAN_DOC = "The mean over ``dim``, or of all elements; NaN if there are none."
op(
    f"mean(input: Tensor, *, dtype: DType | None = None, {OUT}) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    cpp="mean_all",
    doc=MEAN_DOC,
    grad={"input": "(grad / input.numel()).expand(input.shape)"},
    batch="own",
)
op(
    f"mean.dim(input: Tensor, dim: Dims | None, keepdim: bool = False, *, dtype: DType | None = None, {OUT}) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    doc=MEAN_DOC,
    grad={"input": "mean_backward(grad, input.shape, dim, keepdim)"},
    node="MeanBackward1",
)
op(
    "nanmean(input: Tensor, dim: Dims | None = None, keepdim: bool = False, *, dtype: DType | None = None,"
    " out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=floating,
    doc="The mean of the elements that are not NaN; NaN where there are none.",
    grad=composite,
)
op(
    "prod(input: Tensor, *, dtype: DType | None = None, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=all_types,
    out="any",
    doc="The product of all elements. Integers and bool multiply in int64; an empty product is 1.",
    grad={"input": "prod_backward(grad, input, result)"},
    autocast="float32",
)
op(
    "prod.dim(input: Tensor, dim: int, keepdim: bool = False, *, dtype: DType | None = None,"
    " out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=all_types,
    out="any",
    doc="The product over ``dim``.",
    grad={"input": "prod_backward(grad, input, result, dim, keepdim)"},
    node="ProdBackward1",
    autocast="float32",
)

for name, which in (("max", "largest"), ("min", "smallest")):
    op(
        f"a{name}(input: Tensor, dim: Dims | None = None, keepdim: bool = False, *,"
        " out: Tensor | None = None) -> Tensor",
        kind=native,
        dtypes=real_bool,
        out="exact",
        doc=f"The {which} element over ``dim``, or of all. NaN propagates; an empty dimension is an error.",
        grad={"input": "extremum_backward(grad, input, result, dim, keepdim)"},
    )
    op(
        f"{name}(input: Tensor, *, out: Tensor | None = None) -> Tensor",
        kind=native,
        dtypes=real_bool,
        doc=f"The {which} of all elements. NaN propagates.",
        grad={"input": "equals_backward(grad, input, result)"},
        node=f"{name.capitalize()}Backward1",
    )
    # Before the form with dim, which would also accept a tensor of one integer.
    op(
        f"{name}.other(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
        kind=native,
        dtypes=real_bool,
        doc=f"Element-wise ``{name}imum(input, other)``.",
        grad=composite,
    )
    op(
        f"{name}.dim(input: Tensor, dim: int, keepdim: bool = False, *, out: list[Tensor] | None = None)"
        " -> tuple[Tensor, Tensor]",
        kind=native,
        dtypes=real_bool,
        returns="values indices",
        out="exact",
        doc=f"The {which} element over ``dim`` and the index where it first occurs. NaN propagates.",
        grad={"input": "chosen_backward(grad, indices, input.shape, dim, keepdim)"},
    )
    op(
        f"arg{name}(input: Tensor, dim: int | None = None, keepdim: bool = False, *,"
        " out: Tensor | None = None) -> Tensor",
        kind=native,
        dtypes=real,
        out="exact",
        doc=f"The index of the {which} element over ``dim``, or in the flattened tensor; the first of"
        " equals, and of NaNs.",
        grad=none,
    )
op(
    "aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False,"
    " out: list[Tensor] | None = None) -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=real_bool,
    returns="min max",
    out="exact",
    doc="The smallest and the largest element. NaN propagates.",
    grad={
        "input": "extremum_backward(grads[0], input, results[0], dim, keepdim)"
        " + extremum_backward(grads[1], input, results[1], dim, keepdim)"
    },
)

for name, word in (("any", "any element is"), ("all", "all elements are")):
    op(
        f"{name}(input: Tensor, dim: Dims | None = None, keepdim: bool = False, *,"
        " out: Tensor | None = None) -> Tensor",
        kind=native,
        dtypes=all_types,
        out="truth",
        doc=f"Whether {word} non-zero; NaN is. The result is bool, for uint8 uint8.",
        grad=none,
    )
op(
    "count_nonzero(input: Tensor, dim: Dims | None = None) -> Tensor",
    kind=native,
    dtypes=all_types,
    doc="How many elements are not zero; NaN is not zero.",
    grad=none,
)

VAR = "var_backward({grad}, input, dim, correction, keepdim)"
STD = "std_backward({grad}, input, {result}, dim, correction, keepdim)"
for name, what, formula in (("var", "variance", VAR), ("std", "standard deviation", STD)):
    for suffix, result, tail, gradient in (
        ("", "Tensor", "", formula.format(grad="grad", result="result")),
        (
            "_mean",
            "tuple[Tensor, Tensor]",
            ", and the mean",
            formula.format(grad="grads[0]", result="results[0]")
            + " + mean_backward(grads[1], input.shape, dim, keepdim)",
        ),
    ):
        method = "function" if suffix else "function method"
        out = "" if suffix else f", {OUT}"
        keyword_out = "" if suffix else f", *, {OUT}"
        op(
            f"{name}{suffix}(input: Tensor, unbiased: bool{keyword_out}) -> {result}",
            kind=native,
            dtypes=floating_complex,
            forms=method,
            doc=f"The {what} of all elements{tail}, divided by n - 1 if unbiased, else by n.",
            grad=composite,
        )
        op(
            f"{name}{suffix}.correction(input: Tensor, dim: Dims | None = None, *, correction: Number | None = None,"
            f" keepdim: bool = False{out}) -> {result}",
            kind=native,
            dtypes=floating_complex,
            forms=method,
            doc=f"The {what} over ``dim``{tail}, divided by n - correction (1 by default). NaN or"
            " infinite where nothing is left to divide by.",
            grad={"input": gradient},
        )
        op(
            f"{name}{suffix}.dim(input: Tensor, dim: Dims | None, unbiased: bool, keepdim: bool = False{keyword_out})"
            f" -> {result}",
            kind=native,
            dtypes=floating_complex,
            forms=method,
            doc=f"The {what} over ``dim``{tail}, divided by n - 1 if unbiased, else by n.",
            grad=composite,
        )

op(
    "norm(input: Tensor, p: Number | None = None, dim: Dims | None = None, keepdim: bool = False,"
    " dtype: DType | None = None, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    out="exact",
    doc="The vector norm of order ``p`` (2 by default; 0 counts, inf and -inf are extrema).",
    grad={"input": "norm_backward(grad, input, result, p, dim, keepdim)"},
    node="LinalgVectorNormBackward0",
)
op(
    "norm.str(input: Tensor, p: str, dim: Dims | None = None, keepdim: bool = False,"
    " dtype: DType | None = None, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    cpp="named_norm",
    out="exact",
    doc="The Frobenius norm ``'fro'`` or the nuclear norm ``'nuc'``.",
    grad=composite,
)
op(
    "segment_reduce(data: Tensor, reduce: str, *, lengths: Tensor | None = None, indices: Tensor | None = None,"
    " offsets: Tensor | None = None, axis: int = 0, unsafe: bool = False, initial: Any = None) -> Tensor",
    kind=python,
    body="flambeau._operators.segments:segment_reduce",
    dtypes=floating,
    forms="function",
    doc="The sum, mean, prod, max or min of segments along axis, by their lengths or offsets.",
)
