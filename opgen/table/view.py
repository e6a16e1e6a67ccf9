"""Views: nothing is copied, unless reshape has to."""

from opgen.model import bound, composite, native, none, op, view

# --- other shapes

op(
    "view(input: Tensor, size: Size) -> Tensor",
    kind=view,
    forms="method",
    doc="The same memory with another shape, in which one size may be -1, or read as another dtype.",
    grad={"input": "grad.reshape(input.shape)"},
)
op(
    "view.dtype(input: Tensor, dtype: DType) -> Tensor",
    kind=native,
    forms="method",
    cpp="view_dtype",
    doc="The same memory with another shape, in which one size may be -1, or read as another dtype.",
    grad=none,
)
op(
    "view_as(input: Tensor, other: Tensor) -> Tensor",
    kind=view,
    forms="method",
    doc="The same memory with the shape of other.",
    grad=composite,
)
op(
    "reshape(input: Tensor, shape: Size) -> Tensor",
    kind=view,
    doc="The same elements in another shape; one size may be -1. Copies where strides allow no view.",
    grad=composite,
)
op(
    "reshape_as(input: Tensor, other: Tensor) -> Tensor",
    kind=view,
    forms="method",
    doc="The same elements in the shape of other. Copies where strides allow no view.",
    grad=composite,
)
op(
    "flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor",
    kind=view,
    doc="Flattens dimensions start_dim to end_dim into one. Copies where strides allow no view.",
    grad=composite,
)
op(
    "_reshape_alias(input: Tensor, size: Ints) -> Tensor",
    kind=view,
    forms="inner",
    doc="The view that reshape makes of memory with gaps.",
    grad={"input": "grad.reshape(input.shape)"},
)
op(
    "_unsafe_view(input: Tensor, size: Ints) -> Tensor",
    kind=native,
    forms="inner",
    doc="Memory that nothing else uses, with another shape: not a view to the graph.",
    grad={"input": "grad.reshape(input.shape)"},
)
op(
    "unflatten(input: Tensor, dim: int, sizes: Ints) -> Tensor",
    kind=view,
    doc="Splits one dimension into several; one of sizes may be -1.",
    grad=composite,
)
op(
    "ravel(input: Tensor) -> Tensor",
    kind=view,
    doc="All elements in one dimension. Copies where strides allow no view.",
    grad=composite,
)
op(
    "squeeze(input: Tensor) -> Tensor",
    kind=view,
    forms="function method inplace",
    doc="Removes dimensions of size 1: all of them, or those among dim.",
    grad={"input": "grad.reshape(input.shape)"},
    batch="own",
)
for overload, dims, node in (
    ("dim", "int", "SqueezeBackward1"),
    ("dims", "Ints", "SqueezeBackward2"),
):
    op(
        f"squeeze.{overload}(input: Tensor, dim: {dims}) -> Tensor",
        kind=view,
        forms="function method inplace",
        doc="Removes dimensions of size 1: all of them, or those among dim.",
        grad={"input": "grad.reshape(input.shape)"},
        node=node,
    )
op(
    "unsqueeze(input: Tensor, dim: int) -> Tensor",
    kind=view,
    forms="function method inplace",
    doc="Inserts a dimension of size 1 at dim.",
    grad={"input": "grad.squeeze(dim)"},
    batch="own",
)
op(
    "expand(input: Tensor, size: Size, *, implicit: bool = False) -> Tensor",
    kind=view,
    forms="method",
    doc="Expands dimensions of size 1 to size without copying; -1 keeps a dimension as it is.",
    grad={"input": "grad"},
    batch="own",
)
op(
    "expand_as(input: Tensor, other: Tensor) -> Tensor",
    kind=view,
    forms="method",
    doc="Expands dimensions of size 1 to the shape of other without copying.",
    grad=composite,
)
op(
    "broadcast_to(input: Tensor, size: Ints) -> Tensor",
    kind=view,
    doc="Expands dimensions of size 1 to size without copying.",
    grad=composite,
)

# --- other orders of dimensions

op(
    "t(input: Tensor) -> Tensor",
    kind=view,
    forms="function method inplace",
    doc="The transpose of a matrix; tensors of fewer dimensions stay as they are.",
    grad={"input": "grad.t()"},
    batch="own",
    sparse="own",
)
op(
    "transpose(input: Tensor, dim0: int, dim1: int) -> Tensor",
    kind=view,
    forms="function method inplace",
    aliases="swapdims",
    doc="Swaps two dimensions.",
    grad={"input": "grad.transpose(dim0, dim1)"},
    sparse="own",
)
op(
    "swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor",
    kind=view,
    forms="function method inplace",
    doc="Swaps two dimensions.",
    grad=composite,
)
op(
    "permute(input: Tensor, dims: Size) -> Tensor",
    kind=view,
    doc="Permutes the dimensions into the order of dims.",
    grad={"input": "permute_backward(grad, dims)"},
    batch="own",
    sparse="own",
)
op(
    "movedim(input: Tensor, source: Dims, destination: Dims) -> Tensor",
    kind=view,
    aliases="moveaxis",
    doc="Moves dimensions to new positions; the rest keep their order.",
    grad=composite,
)

# --- parts

op(
    "narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor",
    kind=view,
    doc="The length elements along dim that begin at start.",
    grad=composite,
)
op(
    "_alias(input: Tensor) -> Tensor",
    kind=view,
    forms="named",
    doc="Another view of the same elements.",
    grad={"input": "grad"},
    batch="same",
)
op(
    "_slice(input: Tensor, dim: int, start: int, end: int, step: int) -> Tensor",
    kind=view,
    forms="named",
    doc="Every step-th position along dim from start to before end, by the rules of Python's slices.",
    grad={"input": "_slice_backward(grad, input.shape, dim, start, end, step)"},
)
op(
    "select(input: Tensor, dim: int, index: int) -> Tensor",
    kind=view,
    doc="Selects one position along dim, which is removed.",
    grad={"input": "_select_backward(grad, input.shape, dim, index)"},
    sparse="own",
)
op(
    "diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor",
    kind=view,
    doc="The diagonals of dim1 and dim2 as a last dimension; offset > 0 lies above the main one.",
    grad={"input": "_diagonal_backward(grad, input.shape, offset, dim1, dim2)"},
)
op(
    "unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor",
    kind=view,
    forms="method",
    doc="Sliding windows of the given size along dimension, every step elements, as a new last dimension.",
    grad={"input": "_unfold_backward(grad, input.shape, dimension, size, step)"},
)
op(
    "as_strided(input: Tensor, size: Ints, stride: Ints, storage_offset: int | None = None) -> Tensor",
    kind=view,
    forms="function method inplace",
    doc="A view of the storage with any shape and strides; it may not reach outside.",
    grad={"input": "as_strided_backward(grad, input.window, size, stride, storage_offset)"},
    batch="own",
)
op(
    "unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]",
    kind=view,
    doc="The slices at every position along dim.",
    grad={"input": "stack(grads, dim)"},
    sparse="own",
)
SPLIT_DOC = "Splits into parts along dim of a given size, the last one smaller if need be, or of given sizes."
for overload, arguments, cpp, node in (
    ("size", "int", "split", "SplitBackward0"),
    ("sizes", "Ints", "split_with_sizes", "SplitWithSizesBackward0"),
):
    op(
        f"split.{overload}(tensor: Tensor, split_size_or_sections: {arguments}, dim: int = 0) -> tuple[Tensor, ...]",
        kind=view,
        forms="function",
        cpp=cpp,
        doc=SPLIT_DOC,
        grad={"tensor": "cat(grads, dim)"},
        node=node,
    )
    op(
        f"split.method_{overload}(input: Tensor, split_size: {arguments}, dim: int = 0) -> tuple[Tensor, ...]",
        kind=view,
        forms="method",
        cpp=cpp,
        doc=SPLIT_DOC,
        grad={"input": "cat(grads, dim)"},
        node=node,
    )
op(
    "split_with_sizes(input: Tensor, split_sizes: Ints, dim: int = 0) -> tuple[Tensor, ...]",
    kind=view,
    doc="Splits into parts along dim of the given sizes.",
    grad={"input": "cat(grads, dim)"},
)
op(
    "chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]",
    kind=view,
    doc="Splits into at most chunks parts along dim, equally large but for the last.",
    grad=composite,
)
op(
    "unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]",
    kind=native,
    doc="The same as split, but the parts may be changed in place: they are not views to the graph.",
    grad={"input": "cat(grads, dim)"},
)
op(
    "unsafe_split_with_sizes(input: Tensor, split_sizes: Ints, dim: int = 0) -> tuple[Tensor, ...]",
    kind=native,
    doc="The same as split_with_sizes, but the parts may be changed in place: they are not views to the graph.",
    grad={"input": "cat(grads, dim)"},
)
op(
    "unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]",
    kind=native,
    doc="The same as chunk, but the parts may be changed in place: they are not views to the graph.",
    grad=composite,
)
# --- other readings of the elements

COMPLEX = ("complex64", "complex128")
op(
    "view_as_real(input: Tensor) -> Tensor",
    kind=view,
    dtypes=COMPLEX,
    forms="function",
    doc="Complex elements as pairs of real and imaginary part, in a last dimension of size 2.",
    grad={"input": "view_as_complex(grad.contiguous())"},
    retypes=True,
    batch="same",
)
op(
    "view_as_complex(input: Tensor) -> Tensor",
    kind=view,
    dtypes=("float32", "float64"),
    forms="function",
    doc="Pairs in the last dimension as complex elements.",
    grad={"input": "view_as_real(grad)"},
    retypes=True,
    batch="same",
    autocast="float32",
)
op(
    "real(input: Tensor) -> Tensor",
    kind=view,
    forms="function",
    doc="The real parts; a real tensor is its own.",
    grad=composite,
)
op(
    "imag(input: Tensor) -> Tensor",
    kind=view,
    dtypes=COMPLEX,
    forms="function",
    doc="The imaginary parts of a complex tensor.",
    grad=composite,
)
op(
    "detach(input: Tensor) -> Tensor",
    kind=native,
    grad=composite,
    doc="The same elements, detached from the autograd graph.",
    sparse="any",
)
op(
    "detach_(input: Tensor) -> Tensor",
    kind=bound,
    grad=none,
    doc="Detaches the tensor itself from the autograd graph.",
)

# --- other sizes and strides for the same tensor object

op(
    "resize_(input: Tensor, size: Size, *, memory_format: MemoryFormat | None = None) -> Tensor",
    kind=native,
    forms="method",
    mutates=True,
    doc="Changes the shape; new elements, if there are more, are uninitialised.",
    grad=none,
    batch="refuse",
)
op(
    "resize_as_(input: Tensor, the_template: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor",
    kind=native,
    forms="function method",
    mutates=True,
    doc="Changes the shape to that of the_template.",
    grad=none,
    batch="refuse",
)
