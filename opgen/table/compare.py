"""Comparisons, predicates, logic and selection."""

from opgen.model import (
    all_types,
    composite,
    floating_complex,
    native,
    none,
    op,
    pointwise,
    real_bool,
)

for name, aliases, kinds, doc in (
    ("eq", "", all_types, "Whether input == other; NaN equals nothing."),
    ("ne", "not_equal", all_types, "Whether input != other; NaN differs from everything."),
    ("lt", "less", real_bool, "Whether input < other."),
    ("le", "less_equal", real_bool, "Whether input <= other."),
    ("gt", "greater", real_bool, "Whether input > other."),
    ("ge", "greater_equal", real_bool, "Whether input >= other."),
):
    op(
        f"{name}(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor",
        kind=pointwise,
        dtypes=kinds,
        output="bool",
        forms="function method inplace",
        operator=name,
        aliases=aliases,
        doc=doc,
    )

for name, doc in (
    ("logical_and", "Whether both elements are non-zero; NaN is non-zero."),
    ("logical_or", "Whether an element is non-zero; NaN is non-zero."),
    ("logical_xor", "Whether exactly one element is non-zero; NaN is non-zero."),
):
    op(
        f"{name}(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
        kind=pointwise,
        output="bool",
        forms="function method inplace",
        doc=doc,
    )
op(
    "logical_not(input: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    output="bool",
    forms="function method inplace",
    doc="Whether the element is zero.",
)

for name, kinds, doc in (
    ("isnan", all_types, "Whether the element is NaN; a complex one when either part is."),
    ("isinf", all_types, "Whether the element is infinite; a complex one when either part is."),
    ("isfinite", all_types, "Whether the element is neither infinite nor NaN."),
    ("isposinf", real_bool, "Whether the element is positive infinity."),
    ("isneginf", real_bool, "Whether the element is negative infinity."),
):
    has_out = ", *, out: Tensor | None = None" if name in ("isposinf", "isneginf") else ""
    op(
        f"{name}(input: Tensor{has_out}) -> Tensor",
        kind=pointwise,
        dtypes=kinds,
        output="bool",
        out="exact" if has_out else "",
        doc=doc,
        sparse="" if name == "isfinite" else "values",
    )
op(
    "isreal(input: Tensor) -> Tensor",
    kind=pointwise,
    output="bool",
    doc="Whether the element has no imaginary part.",
)

op(
    "isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor",
    kind=native,
    grad=none,
    doc="Whether |input - other| <= atol + rtol * |other|; equal infinities are close.",
    batch="aligned",
)
op(
    "_isclose(input: Tensor, other: Tensor, rtol: float, atol: float, equal_nan: bool) -> Tensor",
    kind=pointwise,
    dtypes=floating_complex,
    output="bool",
    cpp="is_close",
    forms="inner",
    doc="isclose of elements of one type.",
)
op(
    "allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool",
    kind=native,
    doc="Whether isclose holds for all elements.",
)
op(
    "equal(input: Tensor, other: Tensor) -> bool",
    kind=native,
    doc="Whether both tensors have the same shape and the same elements; NaN equals nothing.",
)

op(
    "where(condition: Tensor, input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    bool_inputs=("condition",),
    check="condition",
    forms="function",
    grad={"input": "where(condition, grad, 0)", "other": "where(condition, 0, grad)"},
    out="exact",
    doc="The element of input where condition is True, otherwise that of other.",
)
op(
    "where.condition(condition: Tensor) -> tuple[Tensor, ...]",
    kind=native,
    cpp="where_true",
    forms="function",
    grad=none,
    doc="The coordinates of the elements that are not zero, one tensor per dimension.",
    batch="aligned",
)
op(
    "where.method(input: Tensor, condition: Tensor, other: Tensor | Number) -> Tensor",
    kind=native,
    cpp="where_method",
    forms="method",
    grad=composite,
    doc="The element of input where condition is True, otherwise that of other.",
    batch="aligned",
)
