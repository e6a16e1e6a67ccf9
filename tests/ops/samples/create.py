"""Samples of new tensors."""

import numpy as np

from tests.ops.registry import DType, attr, call, errors, samples


def _filled(value):
    def reference(*size, dtype=None, **_):
        shape = size[0] if size and isinstance(size[0], (list, tuple)) else size
        return np.full(shape, value, dtype or np.float64)

    return reference


def _sizes(make):
    yield call(2, 3, dtype=make.dtype)
    yield call((2, 3), dtype=make.dtype)
    yield call(0, 2, dtype=make.dtype)
    yield call((), dtype=make.dtype)
    yield (4,)
    yield call((200, 300), dtype=make.dtype, device="cpu")


@samples("zeros", reference=_filled(0))
def zeros(make):
    yield from _sizes(make)


@samples("ones", reference=_filled(1))
def ones(make):
    yield from _sizes(make)


@samples("empty", values=False)
def empty(make):
    yield from _sizes(make)
    yield call((2, 3, 4, 5), dtype=make.dtype, memory_format=attr("channels_last"))


@errors("zeros", "ones")
def zeros_errors(make):
    yield (2, -1), RuntimeError, "negative dimension -1"
    yield (2.5,), TypeError, "must be tuple of ints, not float"
    yield call(2, dtype=DType("int64"), requires_grad=True), RuntimeError, "floating point"


@samples("empty_strided", values=False)
def empty_strided(make):
    yield call((2, 3), (1, 2), dtype=make.dtype)
    yield call((2, 3), (6, 2), dtype=make.dtype)
    yield call((), (), dtype=make.dtype)


@errors("empty_strided")
def empty_strided_errors(make):
    yield ((2, 3), (1,)), RuntimeError, "2 sizes and 1 strides"
    yield ((2,), (-1,)), RuntimeError, "negative stride"


@samples("empty_permuted", values=False)
def empty_permuted(make):
    yield call((2, 3, 4), (2, 0, 1), dtype=make.dtype)


@errors("empty_permuted")
def empty_permuted_errors(make):
    yield ((2, 3), (0, 0)), RuntimeError, "appears twice"
    yield ((2, 3), (0,)), RuntimeError, "does not name every dimension"


def _full(size, fill_value, dtype=None):
    return np.full(size, fill_value, dtype)


@samples("full", reference=_full)
def full(make):
    yield (2, 3), 2
    yield (2, 3), True
    yield (2, 3), 1.5
    yield (2,), 1 + 2j
    yield call((2, 3), 1, dtype=make.dtype)
    yield call((), 3, dtype=make.dtype)


@errors("full")
def full_errors(make):
    yield (3, 1.0), TypeError, "must be tuple of ints, not int"


@samples("scalar_tensor", reference=lambda s, dtype=None: np.array(s, dtype or np.float64))
def scalar_tensor(make):
    yield (3,)
    yield call(1, dtype=make.dtype)


def _eye(n, m=None, dtype=None):
    return np.eye(n, m, dtype=dtype or np.float64)


@samples("eye", reference=_eye)
def eye(make):
    yield call(3, dtype=make.dtype)
    yield call(2, 4, dtype=make.dtype)
    yield call(4, 2, dtype=make.dtype)
    yield (0,)


@errors("eye")
def eye_errors(make):
    yield (-1,), RuntimeError, "n must be greater or equal to 0"


def _arange(*args, dtype=None):
    return np.arange(*args, dtype=dtype)


@samples("arange", reference=_arange)
def arange(make):
    yield (5,)
    yield 2, 9, 3
    yield 9, 2, -3
    yield 0.5, 3.0, 0.25
    yield call(5, dtype=make.dtype)
    yield call(1, 6, 2, dtype=make.dtype)
    yield (0,)
    yield (100000,)


@errors("arange")
def arange_errors(make):
    yield (1, 0), RuntimeError, "inconsistent with the sign of step"
    yield (0, 5, 0), RuntimeError, "step must be nonzero"
    yield (float("nan"),), RuntimeError, "unsupported range"


def _linspace(start, end, steps, dtype=None):
    return np.linspace(start, end, steps, dtype=dtype)


@samples("linspace", reference=_linspace)
def linspace(make):
    yield 0, 1, 5
    yield call(3, 9, 4, dtype=make.dtype)
    yield 0.0, 1.0, 1
    yield 0.0, 1.0, 0
    yield 3.0, -7.0, 1000


@errors("linspace")
def linspace_errors(make):
    yield (0, 1, -1), RuntimeError, "number of steps must be non-negative"


def _logspace(start, end, steps, base=10.0, dtype=None):
    return np.logspace(start, end, steps, base=base, dtype=dtype)


@samples("logspace", reference=_logspace)
def logspace(make):
    yield 0, 2, 3
    yield -1.0, 1.0, 5
    yield call(0, 3, 4, 2.0, dtype=make.dtype)
    yield -1.0 + 1.0j, 1.0 - 2.0j, 5
    yield call(0, 3, 4, -2.0, dtype=DType("complex128"))


@errors("logspace")
def logspace_errors(make):
    yield (0, 1, -1), RuntimeError, "number of steps must be non-negative"


def _like(value):
    def reference(input, fill_value=value, dtype=None, **_):
        return np.full(input.shape, fill_value, dtype or input.dtype)

    return reference


def _likes(make, *fill):
    yield make(2, 3), *fill
    yield make(), *fill
    yield make(0, 2), *fill
    yield make(3, 2).transposed(), *fill
    yield make(2, 3, 4, 5).channels_last(), *fill
    yield call(make(2, 3), *fill, dtype=DType("float64"))
    yield call(make(2, 3).transposed(), *fill, memory_format=attr("contiguous_format"))


@samples("empty_like", values=False)
def empty_like(make):
    yield from _likes(make)


@samples("zeros_like", reference=_like(0), keeps_precision=False)
def zeros_like(make):
    yield from _likes(make)


@samples("ones_like", reference=_like(1), keeps_precision=False)
def ones_like(make):
    yield from _likes(make)


@samples("full_like", reference=_like(None), keeps_precision=False)
def full_like(make):
    yield from _likes(make, 1)


@errors("zeros_like")
def zeros_like_errors(make):
    wrong = call(make(2), memory_format=attr("channels_last"))
    yield wrong, RuntimeError, "needs a tensor of 4 dimensions"


def _new(value):
    def reference(input, *size, dtype=None):
        fill, size = (value, size) if value is not None else (size[-1], size[:-1])
        shape = size[0] if isinstance(size[0], tuple) else size
        return np.full(shape, fill, dtype or input.dtype)

    return reference


@samples("new_zeros", reference=_new(0), keeps_precision=False)
def new_zeros(make):
    yield make(2), 3, 4
    yield make(2), (3, 4)
    yield call(make(2), 3, dtype=DType("float64"))


@samples("new_ones", reference=_new(1), keeps_precision=False)
def new_ones(make):
    yield make(2), 3, 4
    yield make(2), (3, 4)
    yield call(make(2), 3, dtype=DType("float64"))


@samples("new_empty", values=False)
def new_empty(make):
    yield make(2), 3, 4
    yield make(2), (3, 4)


@samples("new_full", reference=_new(None), keeps_precision=False)
def new_full(make):
    yield make(2), (3, 4), 1
    yield call(make(2), (3,), 1, dtype=DType("float64"))


@samples("new_empty_strided", values=False)
def new_empty_strided(make):
    yield make(2), (2, 3), (1, 2)


def _new_tensor(input, data):
    return np.array(data, input.dtype)


@samples("new_tensor", reference=_new_tensor)
def new_tensor(make):
    yield make(2), [[1, 0], [0, 1]]
    yield make(2), 1


@samples("fill", reference=lambda input, value: np.full_like(input, value))
def fill(make):
    yield make(2, 3), 1
    yield make(2, 3).transposed(), make.zero_dim(1)


@samples("fill_", reference=lambda input, value: np.full_like(input, value))
def fill_(make):
    yield make(2, 3), 1
    yield make(2, 3).transposed(), make.zero_dim(1)
    yield make(4, 3).strided(), 1
    yield make(0, 3), 1


@errors("fill_")
def fill_errors(make):
    yield (make(2), make(2)), RuntimeError, "fill_: value must be a number or a zero-dimensional"


@samples("zero_", reference=np.zeros_like)
def zero_(make):
    yield make(2, 3)
    yield make(4, 3).strided()


def _triangle(indices):
    def reference(row, col, offset=0, dtype=None):
        return np.stack(indices(row, offset, col)).astype(dtype or np.int64)

    return reference


@samples("tril_indices", reference=_triangle(np.tril_indices))
def tril_indices(make):
    yield 3, 4
    yield 4, 3, -1
    yield call(3, 3, 1, dtype=DType("int32"))
    yield 0, 3


@samples("triu_indices", reference=_triangle(np.triu_indices))
def triu_indices(make):
    yield 3, 4
    yield 4, 3, -1
    yield call(3, 3, 1, dtype=DType("int32"))
    yield 3, 0


@errors("tril_indices", "triu_indices")
def triangle_errors(make):
    yield (-1, 3), RuntimeError, "row must be non-negative"


def _tensor(data, dtype=None):
    return np.array(data, dtype)


@samples("tensor", reference=_tensor)
def tensor(make):
    yield (3,)
    yield (2.5,)
    yield ([1, 2, 3],)
    yield ([True, False],)
    yield ([[1.5, 2], [3, 4]],)
    yield ((1, 2j),)
    yield call([[1, 0], [0, 1]], dtype=make.dtype)
    yield (make(2, 3),)
    yield call([[], []], dtype=make.dtype)


@errors("tensor")
def tensor_errors(make):
    yield ([[1, 2], [3]],), ValueError, "expected sequence of length 2 at dim 1 (got 1)"
    yield ([[1, 2], 3],), TypeError, "not a sequence"
    yield ("a",), TypeError, "invalid data type 'str'"
    yield (["a"],), ValueError, "too many dimensions 'str'"
    yield (None,), RuntimeError, "could not infer dtype of NoneType"
    yield (2**70,), ValueError, "Overflow"
    yield call([300], dtype=DType("uint8")), RuntimeError, "without overflow"
    yield call([1j], dtype=DType("float32")), TypeError, "must be a real number"
    yield call([1], requires_grad=True), RuntimeError, "floating point"


@samples("as_tensor", reference=_tensor)
def as_tensor(make):
    yield ([1, 2, 3],)
    yield call([[1, 0], [0, 1]], dtype=make.dtype)
    yield (make(2, 3),)


def _asarray(obj, dtype=None, copy=None):
    return np.array(obj, dtype)


@samples("asarray", reference=_asarray)
def asarray(make):
    yield ([1, 2, 3],)
    yield call([[1, 0], [0, 1]], dtype=make.dtype)
    yield call(make(2, 3), copy=True)


@errors("asarray")
def asarray_errors(make):
    yield call([1, 2], copy=False), ValueError, "copy=False"
