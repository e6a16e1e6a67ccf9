"""Samples of views."""

import numpy as np

from tests.ops.registry import DType, call, errors, samples


def _shape_of(shape):
    return shape[0] if len(shape) == 1 and isinstance(shape[0], (list, tuple)) else shape


def _reshaped(x, *shape):
    return x.reshape(_shape_of(shape))


def _view(x, *shape, dtype=None):
    return x if dtype is not None or isinstance(shape[0], np.dtype) else _reshaped(x, *shape)


@samples("view", reference=_view)
def view(make):
    yield make(2, 6), 3, 4
    yield make(2, 6), (3, 4)
    yield make(2, 6), -1
    yield make(2, 6), 2, -1, 3
    yield make(1), ()
    yield make(0, 3), 3, 0
    yield make(2, 6), make.dtype
    yield call(make(2, 6), dtype=make.dtype)


@errors("view")
def view_errors(make):
    yield (make(2, 6), 5), RuntimeError, "view: shape (5,) is invalid for input of size 12"
    yield (make(2, 6), -1, -1), RuntimeError, "only one size can be -1"
    yield (make(2, 6), -2), RuntimeError, "invalid size -2"
    yield (make(2, 6).transposed(), 12), RuntimeError, "use reshape(...) instead"
    yield (make(0), 0, -1), RuntimeError, "any size would do"
    yield (make(3), DType("float64")), RuntimeError, "not divisible by 2"
    yield (make(), DType("float64")), RuntimeError, "element sizes"
    yield (make(2), "a"), TypeError, "received an invalid combination of arguments"


@samples("view_as", "reshape_as", reference=lambda x, other: x.reshape(other.shape))
def view_as(make):
    yield make(2, 6), make(3, 4)


@samples("reshape", reference=_reshaped)
def reshape(make):
    yield make(2, 6), (3, 4)
    yield make(2, 6).transposed(), (3, 4)
    yield make(2, 3, 4).transposed(), (-1,)
    yield make(4, 6).strided(), (2, 2, 6)
    yield make(0, 3), (0,)
    yield make(), (1, 1)


@errors("reshape")
def reshape_errors(make):
    yield (make(2, 6), (5, -1)), RuntimeError, "reshape: shape (5, -1) is invalid"


def _flatten(x, start_dim=0, end_dim=-1):
    if x.ndim == 0:
        return x.reshape(1)
    end_dim %= x.ndim
    start_dim %= x.ndim
    return x.reshape(*x.shape[:start_dim], -1, *x.shape[end_dim + 1 :])


@samples("flatten", reference=_flatten)
def flatten(make):
    yield make(2, 3, 4)
    yield make(2, 3, 4), 1
    yield make(2, 3, 4), 0, 1
    yield make(2, 3, 4).transposed(), 0, -2
    yield make()


@errors("flatten")
def flatten_errors(make):
    yield (make(2, 3), 1, 0), RuntimeError, "start_dim 1 comes after end_dim 0"
    yield (make(2, 3), 2), IndexError, "flatten: dim 2 is out of range"


def _unflatten(x, dim, sizes):
    dim %= x.ndim
    return x.reshape(*x.shape[:dim], *sizes, *x.shape[dim + 1 :])


@samples("unflatten", reference=_unflatten)
def unflatten(make):
    yield make(2, 6), 1, (2, 3)
    yield make(6, 2), 0, (-1, 3)


@errors("unflatten")
def unflatten_errors(make):
    yield (make(2, 6), 1, (4, 2)), RuntimeError, "is invalid for input of size 6"


@samples("ravel", reference=np.ravel)
def ravel(make):
    yield make(2, 3)
    yield make(2, 3).transposed()
    yield make()


def _squeeze(x, dim=None):
    if dim is None:
        return np.squeeze(x)
    dims = dim if isinstance(dim, (list, tuple)) else (dim,)
    return np.squeeze(x, tuple(d for d in dims if x.ndim and x.shape[d] == 1))


@samples("squeeze", reference=_squeeze)
def squeeze(make):
    yield make(1, 3, 1)
    yield make(1, 3, 1), 0
    yield make(1, 3, 1), 1
    yield make(1, 3, 1), (0, -1)
    yield call(make(1, 3, 1), dim=-1)
    yield make()


@errors("squeeze")
def squeeze_errors(make):
    yield (make(1, 3), 2), IndexError, "squeeze: dim 2 is out of range"
    yield (make(1, 3), (0, 0)), RuntimeError, "appears twice"


@samples("unsqueeze", reference=np.expand_dims)
def unsqueeze(make):
    yield make(2, 3), 0
    yield make(2, 3), -1
    yield make(2, 3), 1
    yield make(), 0


@errors("unsqueeze")
def unsqueeze_errors(make):
    yield (make(2, 3), 3), IndexError, "unsqueeze: dim 3 is out of range"


def _expand(x, *shape):
    shape = _shape_of(shape)
    lead = len(shape) - x.ndim
    full = [x.shape[i - lead] if size == -1 else size for i, size in enumerate(shape)]
    return np.broadcast_to(x, full)


@samples("expand", reference=_expand)
def expand(make):
    yield make(3, 1), 3, 4
    yield make(3, 1), (2, -1, 4)
    yield make(), 2, 2
    yield make(1), 0
    yield make(2, 3), -1, -1


@errors("expand")
def expand_errors(make):
    yield (make(2, 3), 2, 4), RuntimeError, "expand: shape (2, 3) does not broadcast to (2, 4)"
    yield (make(2, 3), 3), RuntimeError, "at least the number of dimensions"
    yield (make(3), -1, 3), RuntimeError, "leading dimension"


@samples("expand_as", reference=lambda x, other: np.broadcast_to(x, other.shape))
def expand_as(make):
    yield make(3, 1), make(2, 3, 4)


@samples("broadcast_to", reference=np.broadcast_to)
def broadcast_to(make):
    yield make(3, 1), (2, 3, 4)


@samples("t", reference=np.transpose)
def t(make):
    yield make(2, 3)
    yield make(3)
    yield make()


@errors("t")
def t_errors(make):
    yield make(2, 3, 4), RuntimeError, "t: expected a tensor with at most 2 dimensions"


def _swapaxes(x, a, b):
    return np.swapaxes(x, a, b) if x.ndim else x


@samples("transpose", "swapaxes", reference=_swapaxes)
def transpose(make):
    yield make(2, 3, 4), 0, 2
    yield make(2, 3, 4), -1, 1
    yield make(), 0, -1


@errors("transpose")
def transpose_errors(make):
    yield (make(2, 3), 0, 2), IndexError, "transpose: dim 2 is out of range"


def _permute(x, *dims):
    return np.transpose(x, _shape_of(dims))


@samples("permute", reference=_permute)
def permute(make):
    yield make(2, 3, 4), (2, 0, 1)
    yield make(2, 3, 4), (-1, 0, 1)
    yield make(), ()


@errors("permute")
def permute_errors(make):
    yield (make(2, 3), (0,)), RuntimeError, "does not name every dimension"
    yield (make(2, 3), (0, 0)), RuntimeError, "appears twice"
    yield (make(2, 3), (0, 2)), IndexError, "permute: dim 2 is out of range"


@samples("movedim", reference=np.moveaxis)
def movedim(make):
    yield make(2, 3, 4), 0, -1
    yield make(2, 3, 4), (0, 1), (2, 0)


@errors("movedim")
def movedim_errors(make):
    yield (make(2, 3), (0, 1), (0,)), RuntimeError, "same number of dimensions"


def _narrow(x, dim, start, length):
    return np.take(x, np.arange(length) + start % max(x.shape[dim], 1), dim)


@samples("narrow", reference=_narrow)
def narrow(make):
    yield make(4, 3), 0, 1, 2
    yield make(4, 3), -1, -2, 2
    yield make(4, 3), 0, 4, 0


@errors("narrow")
def narrow_errors(make):
    yield (make(4, 3), 0, 3, 2), RuntimeError, "reach beyond dimension 0 of size 4"
    yield (make(4, 3), 0, 5, 0), IndexError, "start 5 is out of range"
    yield (make(4, 3), 0, 0, -1), RuntimeError, "length must be non-negative"
    yield (make(), 0, 0, 1), RuntimeError, "0-dimensional"


@samples("select", reference=lambda x, dim, index: np.take(x, index, dim))
def select(make):
    yield make(4, 3), 0, 1
    yield make(4, 3), -1, -1
    yield make(4), 0, 0


@errors("select")
def select_errors(make):
    yield (make(4, 3), 0, 4), IndexError, "select: index 4 is out of bounds"
    yield (make(), 0, 0), IndexError, "nothing to select"


def _diagonal(x, offset=0, dim1=0, dim2=1):
    return np.diagonal(x, offset, dim1, dim2)


@samples("diagonal", reference=_diagonal)
def diagonal(make):
    yield make(3, 4)
    yield make(3, 4), 1
    yield make(3, 4), -2
    yield make(3, 4), 9
    yield make(2, 3, 4), 0, 1, 2
    yield call(make(2, 3, 4), offset=1, dim1=-1, dim2=0)


@errors("diagonal")
def diagonal_errors(make):
    yield (make(3, 4), 0, 1, 1), RuntimeError, "must be different"


def _unfold(x, dimension, size, step):
    if x.ndim == 0:
        return np.repeat(x[None], size)
    windows = np.lib.stride_tricks.sliding_window_view(x, size, dimension)
    return windows[(slice(None),) * (dimension % x.ndim) + (slice(None, None, step),)]


@samples("unfold", reference=_unfold)
def unfold(make):
    yield make(7), 0, 3, 2
    yield make(4, 6), -1, 2, 1
    yield make(), 0, 1, 1


@errors("unfold")
def unfold_errors(make):
    yield (make(3), 0, 4, 1), RuntimeError, "larger than dimension 0 of size 3"
    yield (make(3), 0, 2, 0), RuntimeError, "step must be positive"


# What it reads depends on the storage: tests/fuzz/test_views.py checks the values.
@samples("as_strided", values=False)
def as_strided(make):
    yield make(12), (2, 3), (1, 2)
    yield make(12), (2, 3), (4, 1), 1
    yield make(12), (), ()


@errors("as_strided")
def as_strided_errors(make):
    yield (make(4), (5,), (1,)), RuntimeError, "reach outside of a storage of 4 elements"
    yield (make(4), (2,), (-1,)), RuntimeError, "negative strides"
    yield (make(4), (2,), (1, 1)), RuntimeError, "1 sizes and 2 strides"


def _unbind(x, dim=0):
    return tuple(np.moveaxis(x, dim, 0))


@samples("unbind", reference=_unbind)
def unbind(make):
    yield make(2, 3)
    yield make(2, 3), 1


@errors("unbind")
def unbind_errors(make):
    yield make(), IndexError, "unbind: a 0-dimensional tensor"


def _split(x, size, dim=0):
    bounds = range(size, x.shape[dim], size) if isinstance(size, int) else np.cumsum(size)[:-1]
    return tuple(np.split(x, bounds, dim))


@samples("split", "unsafe_split", reference=_split)
def split(make):
    yield make(5, 3), 2
    yield make(5, 3), 3, -1


@errors("split")
def split_errors(make):
    yield (make(5), -1), RuntimeError, "split: the size of parts must be non-negative"
    yield (make(5), [2, 2]), RuntimeError, "sum to 4, dimension 0 has size 5"
    yield (make(), 1), RuntimeError, "at least one dimension"


@samples("split_with_sizes", "unsafe_split_with_sizes", reference=_split)
def split_with_sizes(make):
    yield make(5, 3), [2, 0, 3]
    yield make(5, 3), [1, 2], 1


def _chunk(x, chunks, dim=0):
    size = -(-x.shape[dim] // chunks)
    return _split(x, size, dim)


@samples("chunk", "unsafe_chunk", reference=_chunk)
def chunk(make):
    yield make(5, 3), 2
    yield make(5, 3), 4
    yield make(5, 6), 3, 1


@errors("chunk")
def chunk_errors(make):
    yield (make(5), 0), RuntimeError, "chunk: the number of chunks must be positive"


@samples("view_as_real", reference=lambda x: np.stack([x.real, x.imag], -1))
def view_as_real(make):
    yield make(2, 3)
    yield make()


@errors("view_as_real")
def view_as_real_errors(make):
    yield make(2), RuntimeError, "view_as_real: not implemented for dtype float32"


# PyTorch makes complex32, which we do not have, of float16.
@samples(
    "view_as_complex",
    reference=lambda x: x[..., 0] + 1j * x[..., 1],
    dtypes=("float32", "float64"),
)
def view_as_complex(make):
    yield make(3, 2)
    yield make(4, 3, 2)


@errors("view_as_complex")
def view_as_complex_errors(make):
    yield make(2, 3), RuntimeError, "the last dimension must have size 2"


@samples("real", reference=np.real)
def real(make):
    yield make(2, 3)
    yield make()


@samples("imag", reference=np.imag)
def imag(make):
    yield make(2, 3)
    yield make(2, 3).transposed()


@errors("imag")
def imag_errors(make):
    yield make(2), RuntimeError, "imag: only complex tensors"


@samples("detach", reference=lambda x: x)
def detach(make):
    yield make(2, 3)
    yield make(2, 3).transposed()


@samples("detach_", reference=lambda x: x)
def detach_(make):
    yield make(2, 3)


# The memory of these inputs belongs to NumPy and cannot grow.
@samples("resize_", values=False)
def resize_(make):
    yield make(2, 3), 3, 2
    yield make(2, 3), (2, 2)
    yield make(2, 3), ()


@errors("resize_")
def resize_errors(make):
    yield (make(2, 3), -1), RuntimeError, "negative dimension"
    yield (make(2, 3), 7), RuntimeError, "cannot resize memory that belongs to another owner"


@samples("resize_as_", values=False)
def resize_as_(make):
    yield make(4, 5), make(2, 3)
