"""Exchange with NumPy, buffers and lists; tests/core/test_interop.py checks what is shared."""

import numpy as np

from tests.ops import dtypes
from tests.ops.registry import attr, call, errors, samples

NUMPY_TYPES = tuple(name for name in dtypes.ALL if name != "bfloat16")


@samples("from_numpy", reference=lambda array: array, dtypes=NUMPY_TYPES)
def from_numpy(make):
    array = np.arange(6).reshape(2, 3).astype(make.dtype)
    yield array
    yield array.T
    yield array[:, ::2]
    yield array[:0]
    yield np.array(array[0, 1])


@errors("from_numpy")
def from_numpy_errors(make):
    yield ([1],), TypeError, "from_numpy: expected np.ndarray (got list)"
    yield (np.arange(3)[::-1],), ValueError, "from_numpy: "


@samples(
    "frombuffer",
    reference=lambda buffer, dtype, **options: np.frombuffer(buffer, dtype, **options),
    dtypes=("uint8", "int64", "float64", "complex128"),  # those that are as wide in the reference
)
def frombuffer(make):
    carrier = "int16" if make.dtype == "bfloat16" else make.dtype  # which NumPy does not know
    data = bytearray(np.arange(6).astype(carrier))
    yield call(data, dtype=make.dtype)
    yield call(data, dtype=make.dtype, count=2, offset=1)


@errors("frombuffer")
def frombuffer_errors(make):
    yield call(3, dtype=make.dtype), ValueError, "buffer protocol"
    yield call(bytearray(8), dtype=make.dtype, count=3), ValueError, "frombuffer: "


@samples("numpy", reference=lambda input: input)
def numpy(make):
    yield make(2, 3)
    yield make(2, 3).transposed()
    yield make()
    yield make(2, 0)


@samples("tolist", reference=lambda input: input.tolist())
def tolist(make):
    yield make(2, 3)
    yield make(2, 3).transposed()
    yield make()
    yield make(2, 0)


@samples("set_", reference=lambda input, source: source)
def set_(make):
    yield make(2, 3), make(4)
    yield make(2, 3), make(3, 2).transposed()


@errors("set_")
def set_errors(make):
    yield (make(2), make(2, dtype="int64")), RuntimeError, "set_: expected a source of"


@samples("as_subclass", dtypes=("float32",))
def as_subclass(make):
    yield make(2, 3), attr("Tensor")


@errors("as_subclass")
def as_subclass_errors(make):
    yield (make(2), 3), TypeError, "as_subclass"


@samples("item", reference=lambda input: input.item(), keeps_precision=False)
def item(make):
    yield make()
    yield make(1, 1)


@errors("item")
def item_errors(make):
    yield (make(2),), RuntimeError, "item: a Tensor with 2 elements cannot be converted to Scalar"
