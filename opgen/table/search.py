"""Looking up values in sorted and unsorted ones."""

from opgen.model import native, none, op, real

op(
    "searchsorted(sorted_sequence: Tensor, input: Tensor | Number, *, out_int32: bool = False,"
    " right: bool = False, side: str | None = None, sorter: Tensor | None = None,"
    " out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=real,
    type_check="own",
    grad=none,
    forms="function",
    out="exact",
    doc="Where each value would be inserted to keep the last dimension of ``sorted_sequence`` sorted: before"
    " equal elements, or after them if ``right``.",
)
op(
    "bucketize(input: Tensor | Number, boundaries: Tensor, *, out_int32: bool = False, right: bool = False,"
    " out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=real,
    grad=none,
    forms="function",
    out="exact",
    doc="Which interval between the sorted ``boundaries`` each value lies in; upper bounds belong to it, or"
    " lower bounds if ``right``.",
)
op(
    "isin(elements: Tensor | Number, test_elements: Tensor | Number, *, assume_unique: bool = False,"
    " invert: bool = False, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=real,
    grad=none,
    forms="function",
    out="exact",
    doc="Whether each element is one of ``test_elements``; NaN never is.",
)
