"""Samples of copies and conversions."""

import numpy as np

from tests.ops.registry import DType, attr, call, errors, samples


def _copied(x, src, non_blocking=False):
    return np.broadcast_to(src, x.shape).astype(x.dtype)


@samples("copy_", reference=_copied)
def copy_(make):
    yield make(2, 3), make(2, 3)
    yield make(2, 3), make(3)
    yield make(2, 3).transposed(), make(2, 3)
    yield make(2, 3), make(2, 3, low=0, high=9, dtype="int16")


@errors("copy_")
def copy_errors(make):
    yield (make(2, 3), make(2)), RuntimeError, "copy_: shape (2,) does not broadcast to (2, 3)"


def _same(x, *args, **kwargs):
    return x


@samples("clone", reference=_same)
def clone(make):
    yield make(2, 3)
    yield make(2, 3).transposed()
    yield make(2, 3).strided()
    yield make(1, 3).expanded(2, 3)
    yield make(2, 3, 4, 5).channels_last()
    yield call(make(2, 3).transposed(), memory_format=attr("contiguous_format"))
    yield call(make(2, 3, 4, 5), memory_format=attr("channels_last"))
    yield make()
    yield make(0, 3)
    yield make(130, 70).transposed()


@samples("contiguous", reference=_same)
def contiguous(make):
    yield make(2, 3)
    yield make(2, 3).transposed()
    yield make(37, 53).transposed()
    yield call(make(2, 3, 4, 5), memory_format=attr("channels_last"))


@errors("clone", "contiguous")
def format_errors(make):
    yield call(make(2), memory_format=attr("channels_last")), RuntimeError, "4 dimensions"


def _to(x, *args, dtype=None, **kwargs):
    dtype = dtype or next((a for a in args if isinstance(a, (np.dtype, np.ndarray))), None)
    if isinstance(dtype, np.ndarray):
        dtype = dtype.dtype
    return x if dtype is None else _converted(x, dtype)


def _converted(x, dtype):
    if np.iscomplexobj(x) and np.dtype(dtype).kind not in "cb":
        x = x.real
    return x.astype(dtype)


@samples("to", reference=_to, keeps_precision=False)
def to(make):
    for name in ("float64", "int64", "bool", "complex64", "bfloat16", "float16"):
        yield make(2, 3, low=0, high=9), DType(name)
    yield call(make(2, 3), dtype=make.dtype)
    yield make(2, 3), "cpu"
    yield make(2, 3, low=0, high=9), "cpu", DType("float32")
    yield call(make(2, 3, low=0, high=9), device="cpu", dtype=DType("float32"), copy=True)
    yield make(2, 3, low=0, high=9), make(1, dtype="int32")
    yield call(make(2, 3, 4, 5), memory_format=attr("channels_last"))
    yield make(2, 3).transposed(), DType("float64")
    yield make(40, 70), DType("float32")


@errors("to")
def to_errors(make):
    yield (make(2), "nowhere"), RuntimeError, "Expected one of cpu, cuda"


@samples("type_as", reference=lambda x, other: _converted(x, other.dtype), keeps_precision=False)
def type_as(make):
    yield make(2, 3, low=0, high=9), make(1, dtype="int32")
    yield make(2, 3, low=0, high=9), make(1, dtype="float64")


def _casts(make):
    yield make(2, 3, low=0, high=9)
    yield make(2, 3, low=0, high=9).transposed()
    yield make(0, 3)
    yield call(make(2, 3, 4, 5, low=0, high=9), memory_format=attr("channels_last"))


def _cast_to(dtype):
    return lambda x, **_: _converted(x, dtype)


for _name, _dtype in {
    "bool": "bool",
    "byte": "uint8",
    "char": "int8",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "half": "float64",
    "bfloat16": "float64",
    "float": "float64",
    "double": "float64",
    "cfloat": "complex128",
    "cdouble": "complex128",
}.items():
    samples(_name, reference=_cast_to(_dtype), keeps_precision=False)(_casts)


@samples("cpu", reference=_same)
def cpu(make):
    yield make(2, 3)


@samples("requires_grad_", reference=_same, dtypes=("float32", "float64", "complex64"))
def requires_grad_(make):
    yield make(2, 3)
    yield make(2, 3), False


@errors("requires_grad_")
def requires_grad_errors(make):
    yield make(2, dtype="int64"), RuntimeError, "floating point and complex"
