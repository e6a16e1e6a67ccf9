"""Gradients added to the positions that elements came from: the adjoints of views and of picking.

Each writes into zeros of the given size where its operator would read, and adds where it would
read twice. They are operators so that a gradient is one call, and has a gradient itself.
"""

from opgen.model import floating_complex, native, op


def adjoint(of: str, arguments: str, reading: str) -> None:
    op(
        f"_{of}_backward(input: Tensor, size: Ints, {arguments}) -> Tensor",
        kind=native,
        dtypes=floating_complex,
        forms="inner",
        doc=f"The gradient of {of} with respect to a tensor of this size, from that of its result.",
        grad={"input": reading},
    )


adjoint("select", "dim: int, index: int", "grad.select(dim, index)")
adjoint("slice", "dim: int, start: int, end: int, step: int", "_slice(grad, dim, start, end, step)")
adjoint("diagonal", "offset: int, dim1: int, dim2: int", "grad.diagonal(offset, dim1, dim2)")
adjoint("unfold", "dimension: int, length: int, step: int", "grad.unfold(dimension, length, step)")
adjoint("index_select", "dim: int, index: Tensor", "grad.index_select(dim, index)")
adjoint("gather", "dim: int, index: Tensor", "grad.gather(dim, index)")
adjoint("index", "indices: list[Tensor | None]", "_index(grad, indices)")
