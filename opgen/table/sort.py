"""Sorting along a dimension, and what follows from it: top k, medians, quantiles."""

from opgen.model import FLOATS, composite, native, none, op, real, real_bool

# Every result is one element of the input, which gets its gradient.
ONE_OF_ROW = {"input": "chosen_backward(grad, indices, input.shape, dim, keepdim)"}
K_OF_ROW = {"input": "_gather_backward(grad, input.shape, dim, indices)"}

SORT_DOC = "Sorts along ``dim`` and returns the values and their old indices. Always stable; NaN counts as largest."
op(
    "sort(input: Tensor, dim: int = -1, descending: bool = False, *, out: list[Tensor] | None = None)"
    " -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=real_bool,
    returns="values indices",
    out="exact",
    doc=SORT_DOC,
    grad=K_OF_ROW,
)
op(
    "sort.stable(input: Tensor, *, stable: bool | None, dim: int = -1, descending: bool = False,"
    " out: list[Tensor] | None = None) -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=real_bool,
    returns="values indices",
    cpp="stable_sort",
    out="exact",
    doc=SORT_DOC,
    grad=K_OF_ROW,
    node="SortBackward1",
)
op(
    "argsort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Tensor",
    kind=native,
    dtypes=real_bool,
    doc="The indices that sort ``input`` along ``dim``. Always stable.",
    grad=none,
)
op(
    "msort(input: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=real_bool,
    out="exact whole",
    doc="The elements in order along the first dimension.",
    grad=composite,
)
op(
    "topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True, *,"
    " out: list[Tensor] | None = None) -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=real,
    returns="values indices",
    out="exact",
    doc="The ``k`` largest (or smallest) elements along ``dim``, in order, and their indices.",
    grad=K_OF_ROW,
)
op(
    "kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False, *,"
    " out: list[Tensor] | None = None) -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=real,
    returns="values indices",
    out="exact",
    doc="The ``k``-th smallest element along ``dim``, counted from 1, and its index.",
    grad=ONE_OF_ROW,
)
for name, about_nan in (("median", "NaN if there is one"), ("nanmedian", "NaN left out")):
    op(
        f"{name}(input: Tensor, *, out: Tensor | None = None) -> Tensor",
        kind=native,
        dtypes=real,
        out="exact",
        doc=f"The median of all elements, the lower of two; {about_nan}.",
        grad={"input": "equals_backward(grad, input, result)"},
    )
    op(
        f"{name}.dim(input: Tensor, dim: int, keepdim: bool = False, *, out: list[Tensor] | None = None)"
        " -> tuple[Tensor, Tensor]",
        kind=native,
        dtypes=real,
        returns="values indices",
        out="exact",
        doc=f"The median along ``dim``, the lower of two, and its index; {about_nan}.",
        grad=ONE_OF_ROW,
        node=f"{name.capitalize()}Backward1",
    )
op(
    "mode(input: Tensor, dim: int = -1, keepdim: bool = False, *, out: list[Tensor] | None = None)"
    " -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=real_bool,
    returns="values indices",
    out="exact",
    doc="The most frequent element along ``dim``, the smallest of several, and its last index.",
    grad=ONE_OF_ROW,
)
for name, about_nan in (("quantile", "NaN if there is one"), ("nanquantile", "NaN left out")):
    op(
        f"{name}(input: Tensor, q: Tensor, dim: int | None = None, keepdim: bool = False, *,"
        " interpolation: str = 'linear', out: Tensor | None = None) -> Tensor",
        kind=native,
        dtypes=FLOATS,
        out="exact ordered",
        doc=f"The quantiles ``q``, which come first in the result's shape; {about_nan}.",
        grad=composite,
        autocast="float32",
    )
    op(
        f"{name}.float(input: Tensor, q: float, dim: int | None = None, keepdim: bool = False, *,"
        " interpolation: str = 'linear', out: Tensor | None = None) -> Tensor",
        kind=native,
        dtypes=FLOATS,
        out="exact ordered",
        doc=f"The ``q`` quantile along ``dim``, or of all elements; {about_nan}.",
        grad=composite,
        autocast="float32",
    )
