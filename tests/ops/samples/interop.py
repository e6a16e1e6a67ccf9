"""Exchange with NumPy, buffers and lists; tests/core/test_interop.py checks what is shared."""

import numpy as np

from tests.ops.registry import call, errors, samples


@samples("from_numpy", reference=lambda array: array)
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
    data = bytearray(np.arange(6).astype(make.dtype))
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
