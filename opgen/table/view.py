"""Windows on the same elements: nothing is copied."""

from opgen.model import op, view

op(
    "transpose(input: Tensor, dim0: int, dim1: int) -> Tensor",
    kind=view,
    forms="function method inplace",
    doc="Swaps two dimensions.",
)
