"""Distinct elements and slices."""

from opgen.model import composite, native, op, python, real_bool

op(
    "unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,"
    " dim: int | None = None) -> Any",
    kind=python,
    body="flambeau._operators.unique:unique",
    dtypes=real_bool,
    doc="The distinct elements, or slices along ``dim``, in order; NaNs are distinct from each other.",
)
op(
    "unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False,"
    " dim: int | None = None) -> Any",
    kind=python,
    body="flambeau._operators.unique:unique_consecutive",
    dtypes=real_bool,
    doc="The elements, or slices along ``dim``, that differ from the one before.",
)
op(
    "_unique(input: Tensor, consecutive: bool, dim: int | None) -> tuple[Tensor, Tensor, Tensor]",
    kind=native,
    dtypes=real_bool,
    forms="function",
    doc="Distinct elements or slices, which of them each input is, and how often each occurs.",
    grad={"input": "unique_backward(grads[0], results[1], results[2], dim)"},
    batch="refuse",
)
op(
    "_distinct(input: Tensor, consecutive: bool) -> Tensor",
    kind=native,
    dtypes=real_bool,
    forms="function",
    doc="Distinct elements alone, which needs no positions.",
    grad=composite,
)
