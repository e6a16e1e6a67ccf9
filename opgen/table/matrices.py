"""Small operators on matrices and their diagonals."""

from opgen.model import all_types, native, numeric, op, python

op(
    "adjoint(input: Tensor) -> Tensor",
    kind=python,
    body="flambeau._operators.matrices:adjoint",
    dtypes=all_types,
    doc="The last two dimensions swapped, and complex elements conjugated.",
)
op(
    "trace(input: Tensor) -> Tensor",
    kind=native,
    dtypes=numeric,
    grad={"input": "trace_backward(grad, input.shape)"},
    doc="The sum of the elements on the diagonal of a matrix; integers sum to int64.",
    autocast="float32",
)
op(
    "fill_diagonal_(input: Tensor, fill_value: Number, wrap: bool = False) -> Tensor",
    kind=python,
    body="flambeau._operators.matrices:fill_diagonal_",
    dtypes=all_types,
    forms="method",
    doc="Sets the elements whose coordinates are all equal; wrap restarts below the square of a tall matrix.",
)
