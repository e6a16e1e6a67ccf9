"""Exchange of memory and elements with NumPy, buffers and Python lists."""

from opgen.model import all_types, bound, composite, none, op, python

NUMPY_TYPES = tuple(name for name in all_types if name != "bfloat16")

op(
    "from_numpy(ndarray: Any) -> Tensor",
    kind=bound,
    dtypes=NUMPY_TYPES,
    forms="function",
    grad=none,
    doc="A tensor that shares the memory of a NumPy array.",
)
op(
    "frombuffer(buffer: Any, *, dtype: DType, count: int = -1, offset: int = 0, requires_grad: bool = False)"
    " -> Tensor",
    kind=bound,
    forms="function",
    grad=none,
    doc="A vector that shares the memory of an object with the buffer protocol.",
)
op(
    "numpy(input: Tensor, *, force: bool = False) -> Any",
    kind=bound,
    dtypes=NUMPY_TYPES,
    forms="method",
    hands_out=True,
    doc="A NumPy array that shares the memory of the tensor; force detaches the tensor and brings it to the CPU first.",
)
op(
    "item(input: Tensor) -> Number",
    kind=bound,
    forms="method",
    hands_out=True,
    doc="The one element as a Python number.",
)
op(
    "tolist(input: Tensor) -> Any",
    kind=bound,
    forms="method",
    hands_out=True,
    doc="The elements as nested lists of Python numbers; for a zero-dimensional tensor the number itself.",
)
op(
    "as_subclass(input: Tensor, cls: Any) -> Tensor",
    kind=bound,
    cpp="as_subclass_entry",
    forms="method",
    grad=composite,
    doc="The same elements as an object of a subclass of Tensor.",
)
op(
    "set_(input: Tensor, source: Any = None, storage_offset: int = 0, size: Ints | None = None, stride: Ints | None = None) -> Tensor",
    kind=python,
    body="flambeau._core.storage:set_",
    forms="method",
    doc="Makes the tensor share the memory of source, a tensor or a storage; without source, empties it.",
)
