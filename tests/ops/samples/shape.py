"""Samples of concatenation, repetition, rotation and triangles."""

import numpy as np

from tests.ops.registry import call, errors, samples


def _cat(tensors, dim=0):
    kept = [each for each in tensors if each.shape != (0,)]
    return np.concatenate(kept or tensors, dim if kept else 0)


@samples("cat", reference=_cat)
def cat(make):
    yield ([make(2, 3), make(4, 3)],)
    yield [make(2, 3), make(2, 1), make(2, 0)], 1
    yield [make(2, 3, 4), make(2, 3, 2)], -1
    yield [make(3), make(0), make(2)], 0
    yield [make(2, 3).transposed(), make(2, 4)], 1
    yield [make(2, 3, 4, 5).channels_last(), make(2, 2, 4, 5).channels_last()], 1
    yield [make(3), make(2, dtype="float64")], 0
    yield ([make(0), make(0)],)
    yield [make(200, 300), make(200, 100)], 1
    yield call([make(2, 3)], dim=0)


@errors("cat")
def cat_errors(make):
    yield ([],), ValueError, "expected a non-empty list"
    yield ([make(2, 3), make(2, 4)],), RuntimeError, "sizes must match except in dimension 0"
    yield ([make(), make()],), RuntimeError, "0-dimensional"
    yield ([make(2), make(2)], 1), IndexError, "dim 1 is out of range"
    yield ([make(2, 3), make(2)],), RuntimeError, "sizes must match"


@samples("stack", reference=lambda tensors, dim=0: np.stack(tensors, dim))
def stack(make):
    yield ([make(2, 3), make(2, 3)],)
    yield [make(2, 3), make(2, 3)], -1
    yield [make(2, 3).transposed(), make(2, 3).transposed()], 1
    yield ([make(), make()],)


@errors("stack")
def stack_errors(make):
    yield ([],), RuntimeError, "expected a non-empty list"
    yield ([make(2), make(3)],), RuntimeError, "stack: expected tensors of equal size"


def _tile(x, *repeats):
    return np.tile(x, repeats[0] if isinstance(repeats[0], tuple) else repeats)


@samples("repeat", reference=_tile)
def repeat(make):
    yield make(2, 3), 2, 3
    yield make(3), (2, 1, 2)
    yield make(2, 3).transposed(), 2, 1
    yield make(2, 3), 0, 1
    yield make(), 3


@errors("repeat")
def repeat_errors(make):
    yield (make(2, 3), 2), RuntimeError, "at least as many entries"
    yield (make(2), -1), RuntimeError, "repeats must not be negative"


@samples("tile", reference=_tile)
def tile(make):
    yield make(2, 3), (2,)
    yield make(3), (2, 2)


def _repeat_interleave(x=None, repeats=None, dim=None, output_size=None):
    return np.arange(len(repeats)).repeat(repeats) if x is None else np.repeat(x, repeats, dim)


@samples("repeat_interleave", reference=_repeat_interleave)
def repeat_interleave(make):
    yield make(2, 3), 2
    yield make(2, 3), 2, 1
    yield make(2, 3), make.of(2, 0, 1, dtype="int64"), 1
    yield call(make(3), make.of(2, 0, 1, dtype="int64"), output_size=3)
    yield make(2, 3), make.of(2, dtype="int64"), 0
    yield call(repeats=make.of(1, 0, 2, dtype="int64"))


@errors("repeat_interleave")
def repeat_interleave_errors(make):
    yield (make(2), -1), RuntimeError, "repeats must not be negative"
    yield (make(3), make.of(1, 2, dtype="int64")), RuntimeError, "one entry for each of the 3"
    yield make.of(1, -2, dtype="int64"), RuntimeError, "repeats must not be negative"


def _roll(x, shifts, dims=None):
    return np.roll(x, shifts, dims)


@samples("roll", reference=_roll)
def roll(make):
    yield make(5), 2
    yield make(2, 3), -1
    yield make(4, 3), 1, 0
    yield make(4, 3), (1, -2), (0, 1)
    yield make(4, 3).transposed(), 7, 1
    yield call(make(4, 3), shifts=1, dims=-1)


@errors("roll")
def roll_errors(make):
    yield (make(4, 3), (1, 2), (0,)), RuntimeError, "must have equal length"
    yield (make(4, 3), 1, 2), IndexError, "roll: dim 2 is out of range"


@samples("flip", reference=lambda x, dims: np.flip(x, dims))
def flip(make):
    yield make(4, 3), (0,)
    yield make(4, 3), (0, 1)
    yield make(2, 3, 4), (-1,)
    yield make(4, 3).transposed(), (1,)
    yield make(), ()
    yield make(200, 300), (1,)


@errors("flip")
def flip_errors(make):
    yield (make(4, 3), (0, 0)), RuntimeError, "appears twice"
    yield (make(4, 3), (2,)), IndexError, "flip: dim 2 is out of range"


@samples("fliplr", reference=np.fliplr)
def fliplr(make):
    yield make(2, 3)


@samples("flipud", reference=np.flipud)
def flipud(make):
    yield make(2, 3)
    yield make(3)


@errors("fliplr")
def fliplr_errors(make):
    yield make(3), RuntimeError, "fliplr: input must have at least 2 dimensions"


def _rot90(x, k=1, dims=(0, 1)):
    return np.rot90(x, k, dims)


@samples("rot90", reference=_rot90)
def rot90(make):
    yield make(2, 3)
    yield make(2, 3), 2
    yield make(2, 3), -1
    yield make(2, 3), 4
    yield make(2, 3, 4), 1, (1, 2)


@errors("rot90")
def rot90_errors(make):
    yield (make(2, 3), 1, (0, 0)), RuntimeError, "dims must be different"
    yield (make(3), 1), RuntimeError, "at least 2 dimensions"
    yield (make(2, 3), 1, (0,)), RuntimeError, "expected two dims"


def _triangles(make):
    yield make(3, 4)
    yield make(4, 3), 1
    yield make(4, 3), -1
    yield make(2, 3, 3), 0
    yield make(3, 4).transposed(), 9
    yield make(0, 3)


@samples("tril", "tril_", reference=lambda x, diagonal=0: np.tril(x, diagonal))
def tril(make):
    yield from _triangles(make)


@samples("triu", "triu_", reference=lambda x, diagonal=0: np.triu(x, diagonal))
def triu(make):
    yield from _triangles(make)


@errors("tril", "triu")
def triangle_errors(make):
    yield make(3), RuntimeError, "at least 2 dimensions"


@samples("diag", reference=lambda x, diagonal=0: np.diag(x, diagonal))
def diag(make):
    yield make(3)
    yield make(3), 1
    yield make(3, 4)
    yield make(3, 4), -1


@errors("diag")
def diag_errors(make):
    yield make(2, 3, 4), RuntimeError, "diag: input must be a vector or a matrix"


def _diag_embed(x, offset=0, dim1=-2, dim2=-1):
    side = x.shape[-1] + abs(offset)
    result = np.zeros((*x.shape[:-1], side, side), x.dtype)
    rows = np.arange(x.shape[-1]) + max(-offset, 0)
    result[..., rows, rows + offset] = x
    return np.moveaxis(result, (-2, -1), (dim1, dim2))


@samples("diag_embed", reference=_diag_embed)
def diag_embed(make):
    yield make(2, 3)
    yield make(2, 3), 1
    yield make(2, 3), -1, 0, 2
    yield make(3)


@errors("diag_embed")
def diag_embed_errors(make):
    yield (make(3), 0, 1, 1), RuntimeError, "must be different"


@samples("diagflat", reference=lambda x, offset=0: np.diagflat(x, offset))
def diagflat(make):
    yield make(2, 2)
    yield make(3), -1


def _with(x, src, at):
    result = x.copy()
    result[at] = src
    return result


def _select_scatter(x, src, dim, index):
    return _with(x, src, (slice(None),) * dim + (index,))


@samples("select_scatter", reference=_select_scatter)
def select_scatter(make):
    yield make(4, 3), make(3), 0, 1
    yield make(4, 3), make(4), 1, -1


@errors("select_scatter")
def select_scatter_errors(make):
    yield (make(4, 3), make(4), 0, 1), RuntimeError, "expected src of shape (3,), got (4,)"


def _slice_scatter(x, src, dim=0, start=None, end=None, step=1):
    return _with(x, src, (slice(None),) * dim + (slice(start, end, step),))


@samples("slice_scatter", reference=_slice_scatter)
def slice_scatter(make):
    yield make(4, 3), make(2, 3), 0, 1, 3
    yield call(make(4, 6), make(4, 2), dim=1, start=-5, step=3)
    yield make(4, 3), make(4, 3)


def _diagonal_scatter(x, src, offset=0, dim1=0, dim2=1):
    result = x.copy()
    np.einsum("ii->i", result[: len(src), offset : offset + len(src)])[...] = src
    return result


@samples("diagonal_scatter", reference=_diagonal_scatter)
def diagonal_scatter(make):
    yield make(3, 3), make(3)
    yield make(3, 4), make(3), 1


# What lies where in memory depends on the strides of the input.
@samples("as_strided_scatter", values=False)
def as_strided_scatter(make):
    yield make(4, 4), make(2, 2), (2, 2), (1, 2)
    yield make(3, 4), make(2, 3), (2, 3), (4, 1), 5


@errors("as_strided_scatter")
def as_strided_scatter_errors(make):
    shape = "as_strided_scatter: src must have the shape (2, 2), got (3,)"
    yield (make(4, 4), make(3), (2, 2), (1, 2)), RuntimeError, shape
    yield (make(4, 4), make(2, 2), (2, 2), (200, 200)), RuntimeError, "reach outside"
