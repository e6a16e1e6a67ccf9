"""Elements picked by position or mask, read and written."""

from opgen.model import bound, native, op

OUT = "out: Tensor | None = None"


def reading(signature: str, doc: str, forms: str = "function method") -> None:
    op(signature, kind=native, forms=forms, doc=doc)


def writing(name: str, arguments: str, doc: str, out: bool = False) -> None:
    """An operator and the form that changes its input, which is the one with a kernel."""
    separator = ", " if "*" in arguments else ", *, "
    tail = f"{separator}{OUT}" if out else ""
    op(
        f"{name}(input: Tensor, {arguments}{tail}) -> Tensor",
        kind=native,
        doc=f"A copy of input. {doc}",
    )
    op(
        f"{name}_(input: Tensor, {arguments}) -> Tensor",
        kind=native,
        forms="method",
        mutates=True,
        doc=doc,
    )


reading(
    f"index_select(input: Tensor, dim: int, index: Tensor, *, {OUT}) -> Tensor",
    "The places along dim that index, a vector of positions, names.",
)
reading(
    f"gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, {OUT}) -> Tensor",
    "For every element of index the element of input at that position along dim.",
)
reading(
    f"take(input: Tensor, index: Tensor, *, {OUT}) -> Tensor",
    "Elements by their position in the flattened input.",
)
reading(
    f"take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None, *, {OUT}) -> Tensor",
    "Like gather, with broadcasting; without dim both are flattened.",
)
reading(
    f"masked_select(input: Tensor, mask: Tensor, *, {OUT}) -> Tensor",
    "The elements where mask, which broadcasts with input, is True, in one dimension.",
)
reading(
    "argwhere(input: Tensor) -> Tensor",
    "The coordinates of the elements that are not zero, one a row.",
)
op(
    "nonzero(input: Tensor, *, as_tuple: bool = False) -> Any",
    kind=bound,
    doc="The coordinates of the elements that are not zero: one a row, or with as_tuple one tensor per dimension.",
)

writing(
    "scatter",
    "dim: int, index: Tensor, src: Tensor, *, reduce: str | None = None",
    "Stores every element of src at its position along dim; reduce may be 'add' or 'multiply'.",
    out=True,
)
writing(
    "scatter",
    "dim: int, index: Tensor, value: Number, *, reduce: str | None = None",
    "Stores value at every position along dim; reduce may be 'add' or 'multiply'.",
    out=True,
)
writing(
    "scatter_add",
    "dim: int, index: Tensor, src: Tensor",
    "Adds every element of src at its position along dim.",
    out=True,
)
writing(
    "scatter_reduce",
    "dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True",
    "Combines elements that meet at a position along dim by sum, prod, mean, amax or amin.",
    out=True,
)
writing(
    "index_add",
    "dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1",
    "Adds the parts of source, scaled by alpha, at the places along dim that index names.",
    out=True,
)
writing(
    "index_copy",
    "dim: int, index: Tensor, source: Tensor",
    "Stores the parts of source at the places along dim that index names.",
    out=True,
)
writing(
    "index_fill",
    "dim: int, index: Tensor, value: Tensor | Number",
    "Sets the places along dim that index names to value.",
)
writing(
    "index_reduce",
    "dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True",
    "Combines the parts of source that meet at a place along dim by prod, mean, amax or amin.",
    out=True,
)
writing(
    "index_put",
    "indices: list[Tensor], values: Tensor, accumulate: bool = False",
    "Stores values where the indices point, as input[indices] = values does, or adds them.",
)
writing(
    "masked_fill",
    "mask: Tensor, value: Tensor | Number",
    "Sets the elements where mask, which broadcasts, is True to value.",
)
writing(
    "masked_scatter",
    "mask: Tensor, source: Tensor",
    "Stores the elements of source, in order, where mask is True.",
)
writing(
    "put",
    "index: Tensor, source: Tensor, accumulate: bool = False",
    "Stores elements of source by their position in the flattened input, or adds them.",
)
