"""Reductions: sums, extrema, logic, moments and norms over some or all dimensions."""

from opgen.model import all_types, floating, floating_complex, native, op, real, real_bool

op(
    "sum(input: Tensor, dim: Dims | None = None, keepdim: bool = False, *, dtype: DType | None = None,"
    " out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=all_types,
    doc="The sum over ``dim``, or of all elements. Integers and bool add up in int64; nothing sums to 0.",
)
op(
    "nansum(input: Tensor, dim: Dims | None = None, keepdim: bool = False, *, dtype: DType | None = None,"
    " out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=real_bool,
    doc="The sum with NaN counted as 0.",
)
op(
    "mean(input: Tensor, dim: Dims | None = None, keepdim: bool = False, *, dtype: DType | None = None,"
    " out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    doc="The mean over ``dim``, or of all elements; NaN of nothing.",
)
op(
    "nanmean(input: Tensor, dim: Dims | None = None, keepdim: bool = False, *, dtype: DType | None = None,"
    " out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=floating,
    doc="The mean of the elements that are not NaN; NaN where there are none.",
)
op(
    "prod(input: Tensor, *, dtype: DType | None = None, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=all_types,
    doc="The product of all elements. Integers and bool multiply in int64; the product of nothing is 1.",
)
op(
    "prod(input: Tensor, dim: int, keepdim: bool = False, *, dtype: DType | None = None,"
    " out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=all_types,
    doc="The product over ``dim``.",
)

for name, which in (("max", "largest"), ("min", "smallest")):
    op(
        f"a{name}(input: Tensor, dim: Dims | None = None, keepdim: bool = False, *,"
        " out: Tensor | None = None) -> Tensor",
        kind=native,
        dtypes=real_bool,
        doc=f"The {which} element over ``dim``, or of all. NaN wins; an empty dimension is an error.",
    )
    op(
        f"{name}(input: Tensor, *, out: Tensor | None = None) -> Tensor",
        kind=native,
        dtypes=real_bool,
        doc=f"The {which} of all elements. NaN wins.",
    )
    op(
        f"{name}(input: Tensor, dim: int, keepdim: bool = False, *, out: list[Tensor] | None = None)"
        " -> tuple[Tensor, Tensor]",
        kind=native,
        dtypes=real_bool,
        returns="values indices",
        doc=f"The {which} element over ``dim`` and the index where it first occurs. NaN wins.",
    )
    op(
        f"{name}(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
        kind=native,
        dtypes=real_bool,
        doc=f"Element-wise ``{name}imum(input, other)``.",
    )
    op(
        f"arg{name}(input: Tensor, dim: int | None = None, keepdim: bool = False, *,"
        " out: Tensor | None = None) -> Tensor",
        kind=native,
        dtypes=real,
        doc=f"The index of the {which} element over ``dim``, or in the flattened tensor; the first of"
        " equals, and of NaNs.",
    )
op(
    "aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False,"
    " out: list[Tensor] | None = None) -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=real_bool,
    returns="min max",
    doc="The smallest and the largest element. NaN wins both.",
)

for name, word in (("any", "any element is"), ("all", "all elements are")):
    op(
        f"{name}(input: Tensor, dim: Dims | None = None, keepdim: bool = False, *,"
        " out: Tensor | None = None) -> Tensor",
        kind=native,
        dtypes=all_types,
        doc=f"Whether {word} non-zero; NaN is. The result is bool, for uint8 uint8.",
    )
op(
    "count_nonzero(input: Tensor, dim: Dims | None = None) -> Tensor",
    kind=native,
    dtypes=all_types,
    doc="How many elements are not zero; NaN is not zero.",
)

for name, what in (("var", "variance"), ("std", "standard deviation")):
    for suffix, result, tail in (
        ("", "Tensor", ""),
        ("_mean", "tuple[Tensor, Tensor]", ", and the mean"),
    ):
        method = "function" if suffix else "function method"
        out = "" if suffix else ", out: Tensor | None = None"
        keyword_out = "" if suffix else ", *, out: Tensor | None = None"
        op(
            f"{name}{suffix}(input: Tensor, unbiased: bool{keyword_out}) -> {result}",
            kind=native,
            dtypes=floating_complex,
            forms=method,
            doc=f"The {what} of all elements{tail}, divided by n - 1 if unbiased, else by n.",
        )
        op(
            f"{name}{suffix}(input: Tensor, dim: Dims | None = None, *, correction: Number | None = None,"
            f" keepdim: bool = False{out}) -> {result}",
            kind=native,
            dtypes=floating_complex,
            forms=method,
            doc=f"The {what} over ``dim``{tail}, divided by n - correction (1 by default). NaN or"
            " infinite where nothing is left to divide by.",
        )
        op(
            f"{name}{suffix}(input: Tensor, dim: Dims | None, unbiased: bool, keepdim: bool = False{keyword_out})"
            f" -> {result}",
            kind=native,
            dtypes=floating_complex,
            forms=method,
            doc=f"The {what} over ``dim``{tail}, divided by n - 1 if unbiased, else by n.",
        )

op(
    "norm(input: Tensor, p: Number | None = None, dim: Dims | None = None, keepdim: bool = False,"
    " dtype: DType | None = None, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    doc="The vector norm of order ``p`` (2 by default; 0 counts, inf and -inf are extrema).",
)
op(
    "norm(input: Tensor, p: str, dim: Dims | None = None, keepdim: bool = False,"
    " dtype: DType | None = None, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    cpp="named_norm",
    doc="The Frobenius norm ``'fro'`` or the nuclear norm ``'nuc'``.",
)
