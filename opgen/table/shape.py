"""New arrangements of elements: joined, repeated, moved, cut to triangles and diagonals."""

from opgen.model import all_types, composite, native, none, op, python

OUT = "out: Tensor | None = None"


def arrangement(
    signature: str,
    doc: str,
    grad: dict[str, str] | str,
    forms: str = "function method",
    cpp: str = "",
    aliases: str = "",
    batch: str = "",
    autocast: str = "",
    out: str = "",
) -> None:
    op(
        signature,
        kind=native,
        forms=forms,
        cpp=cpp,
        aliases=aliases,
        doc=doc,
        grad=grad,
        batch=batch,
        autocast=autocast,
        out=out,
    )


# --- joined

arrangement(
    f"cat(tensors: list[Tensor], dim: int = 0, *, {OUT}) -> Tensor",
    "Tensors one after another along dim; empty vectors are left out.",
    {"tensors": "cat_backward(grad, tensors.shapes, dim)"},
    forms="function",
    aliases="concat concatenate",
    autocast="promote",
    out="type_error",
)
arrangement(
    f"stack(tensors: list[Tensor], dim: int = 0, *, {OUT}) -> Tensor",
    "Tensors of one shape one after another along a new dimension.",
    {"tensors": "grad.unbind(dim)"},
    forms="function",
    batch="own",
    autocast="promote",
    out="type_error",
)

# --- repeated

arrangement(
    "repeat(input: Tensor, repeats: Size) -> Tensor",
    "The whole tensor repeated along every dimension, new ones in front.",
    {"input": "repeat_backward(grad, repeats, input.shape)"},
    forms="method",
    batch="own",
)
arrangement(
    "tile(input: Tensor, dims: Size) -> Tensor",
    "Like repeat; missing repeats in front are 1.",
    composite,
)
REPEAT_DOC = (
    "Every element, or part along dim, repeated in place; repeats may differ from part to part."
)
arrangement(
    "repeat_interleave(input: Tensor, repeats: int, dim: int | None = None, *, output_size: int | None = None)"
    " -> Tensor",
    REPEAT_DOC,
    composite,
)
arrangement(
    "repeat_interleave.Tensor(input: Tensor, repeats: Tensor, dim: int | None = None, *, output_size: int | None = None)"
    " -> Tensor",
    REPEAT_DOC,
    composite,
)
arrangement(
    "repeat_interleave.counts(repeats: Tensor, *, output_size: int | None = None) -> Tensor",
    REPEAT_DOC,
    none,
    forms="function",
    cpp="repeated_positions",
    batch="refuse",
)

# --- moved

arrangement(
    "roll(input: Tensor, shifts: Dims, dims: Dims | None = None) -> Tensor",
    "Elements moved along dims; those that fall off come in at the other end. Without dims: of the flattened tensor.",
    {"input": "roll_backward(grad, shifts, dims)"},
)
arrangement(
    "flip(input: Tensor, dims: Size) -> Tensor",
    "Elements in reverse order along dims.",
    {"input": "grad.flip(dims)"},
)
arrangement(
    "fliplr(input: Tensor) -> Tensor",
    "Columns, the second dimension, in reverse order.",
    composite,
)
arrangement(
    "flipud(input: Tensor) -> Tensor",
    "Rows, the first dimension, in reverse order.",
    composite,
)
arrangement(
    "rot90(input: Tensor, k: int = 1, dims: Ints = (0, 1)) -> Tensor",
    "Turned k times by 90 degrees from the first of dims towards the second.",
    {"input": "rot90(grad, -k, dims)"},
)

# --- triangles and diagonals

for name, kept in (("tril", "Below and on"), ("triu", "Above and on")):
    gradient = {"input": f"grad.{name}(diagonal)"}
    arrangement(
        f"{name}(input: Tensor, diagonal: int = 0, *, {OUT}) -> Tensor",
        f"{kept} a diagonal of the last two dimensions the elements of input, elsewhere 0.",
        gradient,
        batch="same",
        out="exact",
    )
    op(
        f"{name}_(input: Tensor, diagonal: int = 0) -> Tensor",
        kind=native,
        forms="method",
        mutates=True,
        doc=f"{kept} a diagonal of the last two dimensions keeps the elements, elsewhere sets them to 0.",
        grad=gradient,
        batch="same",
    )
arrangement(
    f"diag(input: Tensor, diagonal: int = 0, *, {OUT}) -> Tensor",
    "A vector as the diagonal of a matrix of zeros; of a matrix, its diagonal.",
    composite,
    out="exact",
)
arrangement(
    "diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor",
    "The last dimension as diagonals, in the new dimensions dim1 and dim2, of zeros.",
    {"input": "grad.diagonal(offset, dim1, dim2)"},
    batch="own",
)
arrangement(
    "diagflat(input: Tensor, offset: int = 0) -> Tensor",
    "All elements as the diagonal of a matrix of zeros.",
    composite,
)

# --- a part replaced in a copy

arrangement(
    "select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor",
    "A copy of input with src at one place along dim.",
    {
        "input": "select_scatter(grad, zeros_like(grad.select(dim, index)), dim, index)",
        "src": "grad.select(dim, index)",
    },
)
arrangement(
    "slice_scatter(input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, "
    "step: int = 1, *, out: Tensor | None = None) -> Tensor",
    "A copy of input with src in a slice along dim.",
    {
        "input": "slice_scatter(grad, zeros_like(slice_of(grad, dim, start, end, step)), dim, start, end, step)",
        "src": "slice_of(grad, dim, start, end, step)",
    },
    out="exact",
)
arrangement(
    "diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor",
    "A copy of input with src on a diagonal.",
    {
        "input": "diagonal_scatter(grad, zeros_like(grad.diagonal(offset, dim1, dim2)), offset, dim1, dim2)",
        "src": "grad.diagonal(offset, dim1, dim2)",
    },
)
op(
    "as_strided_scatter(input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None)"
    " -> Tensor",
    kind=python,
    body="flambeau._operators.copies:as_strided_scatter",
    dtypes=all_types,
    doc="A copy of input with src where as_strided would look.",
)
