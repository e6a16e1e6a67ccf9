"""Properties of a tensor: its size, type, memory, and single values."""

from opgen.model import native, op

# Operators that read the elements themselves: a sparse tensor has none.
OF_ELEMENTS = ("data_ptr", "is_set_to", "is_shared", "is_nonzero")


def fact(signature: str, doc: str, forms: str = "method", aliases: str = "") -> None:
    sparse = "" if signature.startswith(OF_ELEMENTS) else "any"
    op(signature, kind=native, forms=forms, aliases=aliases, doc=doc, sparse=sparse)


SIZE_DOC = "The size along every dimension, or along dim."
STRIDE_DOC = "The step in elements between neighbours along every dimension, or along dim."

fact("numel(input: Tensor) -> int", "The number of elements.", forms="function method")
fact("nelement(input: Tensor) -> int", "The number of elements.")
fact("dim(input: Tensor) -> int", "The number of dimensions.", aliases="ndimension")
fact("size(input: Tensor) -> Size", SIZE_DOC)
fact("size.dim(input: Tensor, dim: int) -> int", SIZE_DOC)
fact("stride(input: Tensor) -> tuple[int, ...]", STRIDE_DOC)
fact("stride.dim(input: Tensor, dim: int) -> int", STRIDE_DOC)
fact(
    "storage_offset(input: Tensor) -> int",
    "Where the first element lies in the storage, counted in elements.",
)
fact(
    "is_contiguous(input: Tensor, memory_format: MemoryFormat | None = None) -> bool",
    "Whether the elements lie in memory one after another in the order of memory_format.",
)
fact("element_size(input: Tensor) -> int", "Bytes of one element.")
fact("data_ptr(input: Tensor) -> int", "The address of the first element; 0 without elements.")
fact(
    "is_set_to(input: Tensor, tensor: Tensor) -> bool",
    "Whether both tensors view the same storage in the same way.",
)
fact("_is_view(input: Tensor) -> bool", "Whether it is a window on another tensor's elements.")
fact(
    "is_pinned(input: Tensor) -> bool",
    "Whether the memory is page-locked, so that a GPU reads it directly.",
)
fact("is_shared(input: Tensor) -> bool", "Whether other processes see the memory.")

for signature, doc in (
    ("get_device(input: Tensor) -> int", "The number of the GPU, or -1 on the CPU."),
    (
        "is_floating_point(input: Tensor) -> bool",
        "Whether the elements are floating point numbers.",
    ),
    ("is_complex(input: Tensor) -> bool", "Whether the elements are complex."),
    ("is_signed(input: Tensor) -> bool", "Whether the elements can be negative."),
    ("is_conj(input: Tensor) -> bool", "Always False: conjugation is never lazy."),
    ("is_neg(input: Tensor) -> bool", "Always False: negation is never lazy."),
    ("is_inference(input: Tensor) -> bool", "Whether inference_mode made it."),
    ("is_nonzero(input: Tensor) -> bool", "Whether the one element is not zero."),
    (
        "is_same_size(input: Tensor, other: Tensor) -> bool",
        "Whether two tensors have equal sizes.",
    ),
):
    fact(signature, doc, forms="function method")
