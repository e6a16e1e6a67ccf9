"""Copies and conversions."""

from opgen.model import native, op

op(
    "copy_(input: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor",
    kind=native,
    forms="method",
    mutates=True,
    doc="Copies the elements of src into input, converting and broadcasting them.",
)
op(
    "clone(input: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor",
    kind=native,
    doc="A copy with memory of its own.",
)
