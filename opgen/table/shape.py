"""Concatenation, repetition, rotation, triangles and diagonals."""

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
    "Concatenates tensors along dim; empty vectors are left out.",
    {"tensors": "cat_backward(grad, tensors.shapes, dim)"},
    forms="function",
    aliases="concat concatenate",
    autocast="promote",
    out="type_error",
)
arrangement(
    f"stack(tensors: list[Tensor], dim: int = 0, *, {OUT}) -> Tensor",
    "Stacks tensors of one shape along a new dimension.",
    {"tensors": "grad.unbind(dim)"},
    forms="function",
    batch="own",
    autocast="promote",
    out="type_error",
)

# --- repeated

arrangement(
    "repeat(input: Tensor, repeats: Size) -> Tensor",
    "Repeats the whole tensor along every dimension, new ones in front.",
    {"input": "repeat_backward(grad, repeats, input.shape)"},
    forms="method",
    batch="own",
)
arrangement(
    "tile(input: Tensor, dims: Size) -> Tensor",
    "Like repeat; missing repeats in front are 1.",
    composite,
)
REPEAT_DOC = "Repeats each element, or slice along dim, in place; counts may differ between slices."
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
    "Shifts elements along dims; those that leave at one end enter at the other. Without dims, of the flattened tensor.",
    {"input": "roll_backward(grad, shifts, dims)"},
)
arrangement(
    "flip(input: Tensor, dims: Size) -> Tensor",
    "Reverses the order of the elements along dims.",
    {"input": "grad.flip(dims)"},
)
arrangement(
    "fliplr(input: Tensor) -> Tensor",
    "Reverses the order of the columns, which are the second dimension.",
    composite,
)
arrangement(
    "flipud(input: Tensor) -> Tensor",
    "Reverses the order of the rows, which are the first dimension.",
    composite,
)
arrangement(
    "rot90(input: Tensor, k: int = 1, dims: Ints = (0, 1)) -> Tensor",
    "Rotates by 90 degrees k times, from the first of dims towards the second.",
    {"input": "rot90(grad, -k, dims)"},
)

# --- triangles and diagonals

for name, kept in (("tril", "lower"), ("triu", "upper")):
    gradient = {"input": f"grad.{name}(diagonal)"}
    arrangement(
        f"{name}(input: Tensor, diagonal: int = 0, *, {OUT}) -> Tensor",
        f"The {kept} triangle of matrices, with zeros elsewhere.",
        gradient,
        batch="same",
        out="exact",
    )
    op(
        f"{name}_(input: Tensor, diagonal: int = 0) -> Tensor",
        kind=native,
        forms="method",
        mutates=True,
        doc=f"Keeps the {kept} triangle of matrices and sets the other elements to 0.",
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
