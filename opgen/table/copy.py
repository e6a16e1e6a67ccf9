"""Copies and conversions."""

from opgen.model import bound, composite, native, none, op

op(
    "copy_(input: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor",
    kind=native,
    forms="method",
    mutates=True,
    grad={"input": "zeros_like(grad)", "src": "grad"},
    node="CopyBackwards",
    doc="Copies the elements of src into input, converting and broadcasting them.",
    batch="aligned",
    sparse="own",
    device="any",
)
op(
    "copy_.number(input: Tensor, src: Number, non_blocking: bool = False) -> Tensor",
    kind=native,
    forms="method",
    mutates=True,
    grad=composite,
    doc="Sets every element of input to src.",
)
op(
    "clone(input: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor",
    kind=native,
    grad={"input": "grad"},
    doc="A copy with memory of its own.",
    batch="own",
    sparse="own",
)
op(
    "contiguous(input: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor",
    kind=native,
    forms="method",
    cpp="to_contiguous",
    grad=composite,
    doc="A contiguous tensor with the same elements; the tensor itself if it is contiguous already.",
)

op(
    "_to_copy(input: Tensor, dtype: DType, device: Device | None = None,"
    " memory_format: MemoryFormat | None = None) -> Tensor",
    kind=native,
    forms="named",
    cpp="to_copy",
    grad={"input": "grad"},
    doc="A copy with the given type and device.",
    batch="own",
    sparse="own",
)

TO_DOC = "The same elements in another type or place; the tensor itself if nothing changes and copy is False."
TO_OPTIONS = (
    "non_blocking: bool = False, copy: bool = False, *, memory_format: MemoryFormat | None = None"
)
for overload, arguments, cpp in (
    ("", "dtype: DType", "to_dtype"),
    (".other", "other: Tensor", "to_other"),
    (".device", "device: Device | None = None, dtype: DType | None = None", "to_device"),
):
    op(
        f"to{overload}(input: Tensor, {arguments}, {TO_OPTIONS}) -> Tensor",
        kind=native,
        forms="method",
        cpp=cpp,
        grad=composite,
        doc=TO_DOC,
        sparse="any",
    )
op(
    "type_as(input: Tensor, other: Tensor) -> Tensor",
    kind=native,
    forms="method",
    grad=composite,
    doc="The same elements in the type of other.",
    sparse="any",
)

for name, dtype in (
    ("bool", "bool"),
    ("byte", "uint8"),
    ("char", "int8"),
    ("short", "int16"),
    ("int", "int32"),
    ("long", "int64"),
    ("half", "float16"),
    ("bfloat16", "bfloat16"),
    ("float", "float32"),
    ("double", "float64"),
    ("cfloat", "complex64"),
    ("cdouble", "complex128"),
):
    op(
        f"{name}(input: Tensor, memory_format: MemoryFormat | None = None) -> Tensor",
        kind=native,
        forms="method",
        cpp=f"to_{dtype}",
        grad=composite,
        doc=f"Converts the elements to {dtype}.",
        sparse="any",
    )

op(
    "cpu(input: Tensor, memory_format: MemoryFormat | None = None) -> Tensor",
    kind=native,
    forms="method",
    grad=composite,
    doc="The same elements in main memory: the tensor itself if it is there.",
    sparse="any",
)
op(
    "requires_grad_(input: Tensor, requires_grad: bool = True) -> Tensor",
    kind=bound,
    forms="method",
    grad=none,
    doc="Sets whether autograd records operations on the tensor, and returns it.",
)
