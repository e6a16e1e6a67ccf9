"""Covariance and related statistics of samples."""

from opgen.model import all_types, integers, numeric, op, python

op(
    "cov(input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None)"
    " -> Tensor",
    kind=python,
    body="flambeau._operators.statistics:cov",
    dtypes=numeric,
    doc="The covariance matrix of variables (rows) over observations (columns).",
)
op(
    "corrcoef(input: Tensor) -> Tensor",
    kind=python,
    body="flambeau._operators.statistics:corrcoef",
    dtypes=numeric,
    doc="The matrix of correlation coefficients of variables (rows); NaN for a constant one.",
)
op(
    "vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor",
    kind=python,
    body="flambeau._operators.statistics:vander",
    dtypes=all_types,
    forms="function",
    doc="Powers of x, one row an element, the highest first unless increasing.",
)
op(
    "unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]",
    kind=python,
    body="flambeau._operators.statistics:unravel_index",
    dtypes=integers,
    forms="function",
    doc="Converts positions in a flattened tensor of this shape into coordinates.",
)
