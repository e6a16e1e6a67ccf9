"""Arithmetic."""

from opgen.model import all_types, op, pointwise

op(
    "add(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=all_types,
    forms="function method inplace",
    operator="add",
    doc="Adds other, scaled by alpha, to input.",
)
op(
    "mul(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=all_types,
    forms="function method inplace",
    operator="mul",
    doc="Multiplies input by other.",
)
