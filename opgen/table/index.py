"""Elements picked by position or mask, read and written."""

from opgen.model import bound, composite, native, none, op

OUT = "out: Tensor | None = None"
Gradients = dict[str, str]


def reading(
    signature: str,
    doc: str,
    grad: Gradients | str,
    forms: str = "function method",
    cpp: str = "",
    node: str = "",
    batch: str = "",
) -> None:
    op(
        signature,
        kind=native,
        forms=forms,
        cpp=cpp,
        out="exact apart" if OUT in signature else "",
        doc=doc,
        grad=grad,
        node=node,
        batch=batch,
    )


def writing(
    name: str,
    arguments: str,
    doc: str,
    grad: Gradients | str,
    out: bool = False,
    overload: str = "",
    number: int = 0,
    batch: str = "",
    autocast: str = "",
) -> None:
    """An operator and the form that changes its input, which is the one with a kernel.

    number: of the overload, by which the names of nodes tell them apart.
    """
    separator = ", " if "*" in arguments else ", *, "
    tail = f"{separator}{OUT}" if out else ""
    node = "".join(word.capitalize() for word in name.split("_")) + f"Backward{number}"
    op(
        f"{name}{overload}(input: Tensor, {arguments}{tail}) -> Tensor",
        kind=native,
        out="exact changed" if out else "",
        doc=f"Returns a copy of input: {doc[0].lower()}{doc[1:]}",
        grad=grad,
        node=node,
        batch=batch,
        autocast=autocast,
    )
    op(
        f"{name}_{overload}(input: Tensor, {arguments}) -> Tensor",
        kind=native,
        forms="method",
        mutates=True,
        doc=doc,
        grad=grad,
        node=node,
        batch=batch,
    )


reading(
    f"index_select(input: Tensor, dim: int, index: Tensor, *, {OUT}) -> Tensor",
    "Selects the positions along dim that the vector index lists.",
    {"input": "_index_select_backward(grad, input.shape, dim, index)"},
    batch="own",
)
reading(
    f"gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, {OUT}) -> Tensor",
    "For every element of index the element of input at that position along dim.",
    {"input": "_gather_backward(grad, input.shape, dim, index)"},
    batch="dims",
)
reading(
    f"take(input: Tensor, index: Tensor, *, {OUT}) -> Tensor",
    "Elements by their position in the flattened input.",
    {"input": "put(grad.new_zeros(input.shape), index, grad, True)"},
)
reading(
    f"take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None, *, {OUT}) -> Tensor",
    "Like gather, with broadcasting; without dim both are flattened.",
    composite,
)
reading(
    f"masked_select(input: Tensor, mask: Tensor, *, {OUT}) -> Tensor",
    "The elements where mask, which broadcasts with input, is True, in one dimension.",
    {"input": "masked_scatter(grad.new_zeros(input.shape), mask, grad)"},
    batch="refuse",
)
reading(
    "argwhere(input: Tensor) -> Tensor",
    "The coordinates of the elements that are not zero, one a row.",
    none,
    batch="refuse",
)
reading(
    "_index(input: Tensor, indices: list[Tensor | None]) -> Tensor",
    "input[indices] with positions or masks for its dimensions, None for those that stay whole.",
    {"input": "_index_backward(grad, input.shape, indices)"},
    forms="named",
    cpp="index",
    node="IndexBackward0",
    batch="own",
)
op(
    "nonzero(input: Tensor, *, as_tuple: bool = False) -> Any",
    kind=bound,
    doc="The coordinates of the elements that are not zero: one a row, or with as_tuple one tensor per dimension.",
    grad=none,
)

writing(
    "scatter",
    "dim: int, index: Tensor, src: Tensor",
    "Stores every element of src at its position along dim.",
    {"input": "scatter(grad, dim, index, 0)", "src": "gather_part(grad, dim, index, src.shape)"},
    out=True,
    batch="dims",
)
writing(
    "scatter",
    "dim: int, index: Tensor, value: Number",
    "Stores value at every position along dim.",
    {"input": "scatter(grad, dim, index, 0)"},
    out=True,
    overload=".value",
    number=1,
    batch="dims",
)
for argument, overload in (("src: Tensor", ".src_reduce"), ("value: Number", ".value_reduce")):
    writing(
        "scatter",
        f"dim: int, index: Tensor, {argument}, *, reduce: str",
        f"Combines every position along dim with {argument.partition(':')[0]}; reduce is 'add' or 'multiply'.",
        composite,
        out=True,
        overload=overload,
        batch="dims",
    )
writing(
    "scatter_add",
    "dim: int, index: Tensor, src: Tensor",
    "Adds every element of src at its position along dim.",
    {"input": "grad", "src": "gather_part(grad, dim, index, src.shape)"},
    out=True,
    batch="dims",
)
writing(
    "scatter_reduce",
    "dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True",
    "Combines elements that meet at a position along dim by sum, prod, mean, amax or amin.",
    {
        "input": "reduced_input_backward(grad, input, dim, index, src, reduce, include_self, result)",
        "src": "reduced_src_backward(grad, input, dim, index, src, reduce, include_self, result)",
    },
    out=True,
    batch="dims",
)
writing(
    "index_add",
    "dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1",
    "Adds slices of source, scaled by alpha, at the positions along dim that index lists.",
    {"input": "grad", "source": "picked_parts(grad, dim, index, source.shape) * alpha.conj()"},
    out=True,
)
writing(
    "index_copy",
    "dim: int, index: Tensor, source: Tensor",
    "Stores slices of source at the positions along dim that index lists.",
    {
        "input": "index_fill(grad, dim, index, 0)",
        "source": "picked_parts(grad, dim, index, source.shape)",
    },
    out=True,
    autocast="promote",
)
for kind, overload, number, gradients in (
    ("Tensor", "", 1, {"value": "filled_positions(grad, dim, index)"}),
    ("Number", ".number", 0, {}),
):
    writing(
        "index_fill",
        f"dim: int, index: Tensor, value: {kind}",
        "Sets the positions along dim that index lists to value.",
        {"input": "index_fill(grad, dim, index, 0)", **gradients},
        overload=overload,
        number=number,
    )
writing(
    "index_reduce",
    "dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True",
    "Combines slices of source that meet at a position along dim by prod, mean, amax or amin.",
    {
        "input": "reduced_input_backward(grad, input, dim, spread_index(index, dim, source.shape), source,"
        " reduce, include_self, result)",
        "source": "reduced_src_backward(grad, input, dim, spread_index(index, dim, source.shape), source,"
        " reduce, include_self, result)",
    },
    out=True,
)
writing(
    "index_put",
    "indices: list[Tensor | None], values: Tensor, accumulate: bool = False",
    "Stores values where the indices point, as input[indices] = values does, or adds them.",
    {
        "input": "grad if accumulate else without_positions(grad, indices)",
        "values": "put_values_backward(grad, indices, values.shape)",
    },
)
for kind, overload, number, gradients in (
    ("Tensor", "", 1, {"value": "sum(where(mask, grad, 0))"}),
    ("Number", ".number", 0, {}),
):
    writing(
        "masked_fill",
        f"mask: Tensor, value: {kind}",
        "Sets the elements where mask, which broadcasts, is True to value.",
        {"input": "masked_fill(grad, mask, 0)", **gradients},
        overload=overload,
        number=number,
        batch="aligned" if kind == "Number" else "",
    )
writing(
    "masked_scatter",
    "mask: Tensor, source: Tensor",
    "Stores the elements of source, in order, where mask is True.",
    {
        "input": "masked_fill(grad, mask, 0)",
        "source": "masked_source_backward(grad, mask, source.shape)",
    },
)
writing(
    "put",
    "index: Tensor, source: Tensor, accumulate: bool = False",
    "Stores elements of source by their position in the flattened input, or adds them.",
    {
        "input": "grad if accumulate else without_elements(grad, index)",
        "source": "take(grad, index).reshape(source.shape)",
    },
)
