"""A table with one operator of each kind that the generator treats in its own way."""

from opgen.model import all_types, floating, native, numeric, op, pointwise, python, view

op(
    "add(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1, "
    "out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=all_types,
    forms="function method inplace",
    operator="add",
    doc="Adds other, scaled by alpha, to input.",
)
op(
    "logaddexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    promote="float",
    doc="Logarithm of the sum of exponentials.",
)
op(
    "transpose(input: Tensor, dim0: int, dim1: int) -> Tensor",
    kind=view,
    forms="function method inplace",
    doc="A view with two dimensions swapped.",
)
op(
    "sum(input: Tensor, *, dtype: DType | None = None) -> Tensor",
    kind=native,
    doc="The sum of all elements.",
)
op(
    "sum.dim(input: Tensor, dim: Dims | None, keepdim: bool = False, *,"
    " dtype: DType | None = None, out: Tensor | None = None) -> Tensor",
    kind=native,
    cpp="sum_dim",
    doc="The sum over dim.",
)
op(
    "sort(input: Tensor, dim: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=numeric,
    returns="values indices",
    doc="The elements in order along dim.",
)
op(
    "fill_(input: Tensor, value: Number) -> Tensor",
    kind=native,
    forms="method",
    mutates=True,
    doc="Writes value to every element.",
)
op(
    "_scale_all(tensors: list[Tensor], largest: Tensor, factor: float) -> None",
    kind=native,
    forms="function",
    dtypes=floating,
    writes="tensors largest",
    doc="Multiplies every tensor in place and remembers the largest element.",
)
op(
    "pick(input: Tensor, indices: list[Tensor | None]) -> Tensor",
    kind=native,
    forms="function",
    doc="The elements at indices, which leave dimensions out.",
)
op(
    "solve(A: Tensor, B: Tensor) -> Tensor",
    kind=native,
    forms="function",
    namespace="linalg",
    dtypes=floating,
    doc="The solution of a linear system.",
)
op(
    "meshgrid(tensors: Any) -> Any",
    kind=python,
    forms="function",
    body="flambeau._operators.joining:meshgrid",
    doc="Coordinate grids.",
)
