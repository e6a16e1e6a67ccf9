"""Lifting, broadcasting and joining of several tensors."""

from opgen.model import op, python


def join(signature: str, doc: str, aliases: str = "", out: str = "") -> None:
    name = signature.partition("(")[0]
    op(
        signature,
        kind=python,
        body=f"flambeau._operators.joining:{name}",
        aliases=aliases,
        forms="function",
        out=out,
        doc=doc,
    )


for dims, meaning in (
    (1, "0-d tensors become 1-d"),
    (2, "vectors become rows"),
    (3, "vectors become (1, n, 1)"),
):
    join(
        f"atleast_{dims}d(tensors: Tensors) -> Any",
        f"Views of the tensors with at least {dims} dimensions; {meaning}. One tensor alone gives one tensor.",
    )
for name, aliases, doc in (
    ("hstack", "", "Joins along the second dimension; vectors and numbers along the first."),
    ("vstack", "row_stack", "Joins along the first dimension; vectors are rows."),
    ("dstack", "", "Joins along the third dimension, after atleast_3d."),
    ("column_stack", "", "Joins along the second dimension; vectors are columns."),
):
    join(
        f"{name}(tensors: list[Tensor], *, out: Tensor | None = None) -> Tensor",
        doc,
        aliases,
        out="type_error",
    )
join(
    "block_diag(tensors: Tensors) -> Tensor",
    "The tensors on the diagonal of a matrix of zeros; a vector counts as one row.",
)
join(
    "broadcast_shapes(shapes: Any) -> Size",
    "The shape that tensors of these shapes broadcast to; an int stands for one size.",
)
join(
    "broadcast_tensors(tensors: Tensors) -> tuple[Tensor, ...]",
    "Views of the tensors, expanded to the shape that they broadcast to.",
)
join(
    "meshgrid(tensors: Tensors, *, indexing: str = 'ij') -> tuple[Tensor, ...]",
    "Vectors expanded to the grids of their coordinates; 'xy' swaps the first two dimensions.",
)
join(
    "cartesian_prod(tensors: Tensors) -> Tensor",
    "Every combination of one element of each vector, one combination a row.",
)
join(
    "combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor",
    "Every choice of r elements in the order of the vector, one choice a row.",
)
