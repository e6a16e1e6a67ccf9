"""What can be asked of a tensor: its size, type, place in memory, and single values."""

from opgen.model import native, op

FACTS = (
    ("numel(input: Tensor) -> int", "function method", "The number of elements."),
    ("nelement(input: Tensor) -> int", "method", "The number of elements."),
    ("dim(input: Tensor) -> int", "method", "The number of dimensions."),
    ("ndimension(input: Tensor) -> int", "method", "The number of dimensions."),
    ("size(input: Tensor) -> Size", "method", "The size along every dimension, or along dim."),
    ("size(input: Tensor, dim: int) -> int", "method", "The size along every dimension, or along dim."),
    ("stride(input: Tensor) -> tuple[int, ...]", "method", "The elements to skip for the next one along every dimension, or along dim."),
    ("stride(input: Tensor, dim: int) -> int", "method", "The elements to skip for the next one along every dimension, or along dim."),
    ("storage_offset(input: Tensor) -> int", "method", "Where the first element lies in the storage, counted in elements."),
    ("is_contiguous(input: Tensor, memory_format: MemoryFormat | None = None) -> bool", "method", "Whether the elements lie in memory one after another in the order of memory_format."),
    ("element_size(input: Tensor) -> int", "method", "Bytes of one element."),
    ("data_ptr(input: Tensor) -> int", "method", "The address of the first element; 0 without elements."),
    ("get_device(input: Tensor) -> int", "function method", "The number of the GPU, or -1 on the CPU."),
    ("is_floating_point(input: Tensor) -> bool", "function method", "Whether the elements are floating point numbers."),
    ("is_complex(input: Tensor) -> bool", "function method", "Whether the elements are complex."),
    ("is_signed(input: Tensor) -> bool", "function method", "Whether the elements can be negative."),
    ("is_conj(input: Tensor) -> bool", "function method", "Always False: conjugation is never put off."),
    ("is_neg(input: Tensor) -> bool", "function method", "Always False: negation is never put off."),
    ("is_inference(input: Tensor) -> bool", "function method", "Always False."),
    ("is_nonzero(input: Tensor) -> bool", "function method", "Whether the one element is not zero."),
    ("is_same_size(input: Tensor, other: Tensor) -> bool", "function method", "Whether two tensors have equal sizes."),
    ("is_set_to(input: Tensor, tensor: Tensor) -> bool", "method", "Whether two tensors are the same window on the same storage."),
    ("is_pinned(input: Tensor) -> bool", "method", "Whether the memory is page-locked: never on the CPU."),
    ("is_shared(input: Tensor) -> bool", "method", "Whether other processes see the memory."),
)

for signature, forms, doc in FACTS:
    op(signature, kind=native, forms=forms, doc=doc)
