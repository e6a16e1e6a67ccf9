"""Samples of elements picked by position or mask."""

import numpy as np

from tests.ops.registry import call, errors, samples


@samples("index_select", reference=lambda x, dim, index: np.take(x, np.atleast_1d(index), dim))
def index_select(make):
    yield make(4, 3), 0, make.index(5, high=4)
    yield make(4, 3), -1, make.index(2, high=3)
    yield make(4, 3, 2), 1, make.index(4, high=3)
    yield make(4, 3).transposed(), 0, make.of(0, 2, dtype="int32")
    yield make(4), 0, make.index(0, high=4)
    yield make(4, 3), 0, make.index(high=4)
    yield make(300, 40), 0, make.index(2000, high=300)


@errors("index_select")
def index_select_errors(make):
    yield (make(4, 3), 0, make.index(2, 2, high=4)), IndexError, "index must be a vector"
    yield (make(4, 3), 0, make.of(4, dtype="int64")), IndexError, "index 4 is out of bounds"
    yield (make(4, 3), 2, make.index(2, high=4)), IndexError, "dim 2 is out of range"
    yield (make(4, 3), 0, make(2)), RuntimeError, "expected an index of type int64 or int32"


def _gather(x, dim, index):
    if x.ndim == 0:
        return np.broadcast_to(x, index.shape)
    part = x[
        tuple(slice(None) if d == dim % x.ndim else slice(n) for d, n in enumerate(index.shape))
    ]
    return np.take_along_axis(part, index, dim)


@samples("gather", reference=_gather)
def gather(make):
    yield make(4, 3), 0, make.index(2, 3, high=4)
    yield make(4, 3), 1, make.index(4, 5, high=3)
    yield make(4, 3), -1, make.index(2, 1, high=3)
    yield make(4, 3, 5), 1, make.index(2, 6, 4, high=3)
    yield make(4, 3).transposed(), 0, make.index(4, 2, high=4)
    yield make(), 0, make.index(high=1)
    yield make(4, 3), 0, make.index(0, 3, high=4)
    yield make(200, 300), 1, make.index(200, 250, high=300)


@errors("gather")
def gather_errors(make):
    yield (make(4, 3), 0, make.of([[4, 0, 0]], dtype="int64")), RuntimeError, "out of bounds"
    yield (make(4, 3), 0, make.of([[-1, 0, 0]], dtype="int64")), RuntimeError, "out of bounds"
    yield (make(4, 3), 0, make.index(3, high=4)), RuntimeError, "as many dimensions"
    yield (make(4, 3), 0, make.index(2, 4, high=4)), RuntimeError, "is larger than input"
    yield (make(4, 3), 0, make(2, 3)), RuntimeError, "expected an index of type int64"


@samples("take", reference=np.take)
def take(make):
    yield make(4, 3), make.index(2, 5, high=12)
    yield make(4, 3).transposed(), make.index(5, high=12)
    yield make(4, 3), make.of(-1, dtype="int64")


@errors("take")
def take_errors(make):
    yield (make(4), make.of(4, dtype="int64")), IndexError, "take: index 4 is out of bounds"


def _take_along_dim(x, indices, dim=None):
    if dim is None:
        return np.take(x.ravel(), indices.ravel())
    shape = np.broadcast_shapes(
        *(tuple(1 if d == dim % x.ndim else n for d, n in enumerate(a.shape)) for a in (x, indices))
    )
    x, indices = (
        np.broadcast_to(a, [a.shape[d] if d == dim % x.ndim else n for d, n in enumerate(shape)])
        for a in (x, indices)
    )
    return np.take_along_axis(x, indices, dim)


@samples("take_along_dim", reference=_take_along_dim)
def take_along_dim(make):
    yield make(4, 3), make.of([[0, 2], [1, 1], [0, 0], [2, 1]], dtype="int64"), 1
    yield make(4, 3), make.of([[0, 3, 2]], dtype="int64"), 0
    yield make(4, 3), make.of([[0, -1, -4]], dtype="int64"), 0  # from the end
    yield make(12), make.index(5, high=12)


@errors("take_along_dim")
def take_along_dim_errors(make):
    yield (make(4, 3), make.index(4, high=3), 1), RuntimeError, "same number of dimensions"


def _masked_select(x, mask):
    x, mask = np.broadcast_arrays(x, mask)
    return x[mask]


@samples("masked_select", reference=_masked_select)
def masked_select(make):
    yield make(4, 3), make.mask(4, 3)
    yield make(4, 3), make.mask(3)
    yield make(3), make.mask(4, 3)
    yield make(4, 3).transposed(), make.mask(4, 3)
    yield make(), make.mask()
    yield make(200, 300), make.mask(200, 300)


@errors("masked_select")
def masked_select_errors(make):
    yield (make(4), make(4)), RuntimeError, "expected a mask of type bool"
    yield (make(4), make.mask(3)), RuntimeError, "do not broadcast"


def _sparse(make):
    yield make.of([[0, 1, 0], [1, 0, 1]])
    yield make.of([[0, 1], [0, 1], [1, 0]]).transposed()
    yield make.of([0, 0])
    yield make(0, 3)
    yield make(40, 50)


@samples("argwhere", reference=np.argwhere)
def argwhere(make):
    yield from _sparse(make)


def _nonzero(x, as_tuple=False):
    return np.nonzero(np.atleast_1d(x)) if as_tuple else np.argwhere(x)


@samples("nonzero", reference=_nonzero)
def nonzero(make):
    yield from _sparse(make)
    yield make.zero_dim(1)
    yield make.zero_dim(0)
    yield call(make.of([[0, 1, 0], [1, 0, 1]]), as_tuple=True)
    yield call(make.zero_dim(1), as_tuple=True)


def _combine(combine):
    """Element by element, in order: a later one meets what an earlier one left."""

    def reference(x, dim, index, src, *args, **kwargs):
        result = np.atleast_1d(x).copy()
        index = np.atleast_1d(index)
        src = np.broadcast_to(src, index.shape) if np.ndim(src) == 0 else src
        touched = np.zeros(result.shape, int)
        for at in np.ndindex(index.shape):
            place = list(at)
            place[dim] = index[at]
            combine(result, touched, tuple(place), src[at], *args, **kwargs)
        return _means(result, touched, x, *args, **kwargs).reshape(x.shape)

    return reference


def _means(result, touched, x, reduce=None, include_self=True, **_):
    if reduce != "mean":
        return result
    counts = np.maximum(touched + (1 if include_self else 0), 1)
    mean = result // counts if result.dtype.kind in "iub" else result / counts
    return np.where(touched > 0, mean, result).astype(x.dtype)


def _store(result, touched, place, value, reduce=None):
    if reduce == "add":
        result[place] += value
    elif reduce == "multiply":
        result[place] *= value
    else:
        result[place] = value


@samples("scatter", "scatter_", reference=_combine(_store))
def scatter(make):
    yield make(4, 3), 0, make.of([[0, 1, 2], [3, 2, 0]], dtype="int64"), make(2, 3)
    yield make(4, 3), 1, make.of([[2, 0], [1, 2], [0, 1]], dtype="int64"), make(4, 3)
    yield make(4, 3), 1, make.of([[2, 0]], dtype="int64"), 1
    yield make(3), 0, make.of(2, 0, dtype="int64"), make(2)
    index = make.index(4, 3, high=4)
    if not make.is_bool:
        yield call(make(4, 3), 0, index, make(4, 3), reduce="add")
        yield call(make(4, 3), 0, index, 2, reduce="multiply")
    yield make(4, 3), 0, make.index(0, 3, high=4), make(2, 3)


@errors("scatter")
def scatter_errors(make):
    index = make.of([[4, 0, 0]], dtype="int64")
    yield (make(4, 3), 0, index, make(1, 3)), RuntimeError, "index 4 is out of bounds"
    yield (make(4, 3), 0, make.index(3, 3, high=4), make(2, 3)), RuntimeError, "larger than src"
    wrong = make(4, 3), 0, make.index(1, 3, high=4), make(1, 3, dtype="int64")
    yield wrong, RuntimeError, "expected src of the type of input"
    yield call(make(4), 0, make.index(2, high=4), 1, reduce="max"), RuntimeError, "reduce must be"


def _add(result, touched, place, value):
    result[place] += value


# Every step is rounded to the half type; the reference rounds once.
HALF = {"float16": (1e-2, 2e-2), "bfloat16": (8e-2, 2e-1)}


@samples("scatter_add", "scatter_add_", reference=_combine(_add), tolerance=HALF)
def scatter_add(make):
    yield make(4, 3), 0, make.index(5, 3, high=4), make(5, 3)
    yield make(4, 3), 1, make.index(4, 5, high=3), make(4, 5)
    yield make(3), 0, make.index(40, high=3), make(40)
    yield make(), 0, make.index(high=1), make()


def _reduce(result, touched, place, value, reduce, include_self=True):
    first = touched[place] == 0 and not include_self
    touched[place] += 1
    old = result[place]
    if first:
        result[place] = value
    elif reduce in ("sum", "mean"):
        result[place] = old + value
    elif reduce == "prod":
        result[place] = old * value
    else:
        result[place] = max(old, value) if reduce == "amax" else min(old, value)


@samples(
    "scatter_reduce",
    "scatter_reduce_",
    reference=_combine(_reduce),
    dtypes=("int32", "int64", "float16", "bfloat16", "float32", "float64"),
    tolerance=HALF,
)
def scatter_reduce(make):
    index = make.index(5, 3, high=4)
    for reduce in ("sum", "prod", "mean", "amax", "amin"):
        yield make(4, 3), 0, index, make(5, 3), reduce
        yield call(make(4, 3), 0, index, make(5, 3), reduce, include_self=False)
        yield make(4, 3), 1, make.index(4, 5, high=3), make(4, 5), reduce


@errors("scatter_reduce")
def scatter_reduce_errors(make):
    wrong = make(4), 0, make.index(2, high=4), make(2), "median"
    yield wrong, RuntimeError, "reduce must be sum, prod, mean, amax or amin"


def _index_add(x, dim, index, source, alpha=1):
    result = np.moveaxis(np.atleast_1d(x).copy(), dim, 0)
    np.add.at(result, np.atleast_1d(index), alpha * np.moveaxis(np.atleast_1d(source), dim, 0))
    return np.moveaxis(result, 0, dim).reshape(x.shape)


@samples(
    "index_add",
    "index_add_",
    reference=_index_add,
    tolerance=HALF,
)
def index_add(make):
    yield make(4, 3), 0, make.index(5, high=4), make(5, 3)
    yield make(4, 3), 1, make.index(5, high=3), make(4, 5)
    yield make(4), 0, make.index(2, high=4), make(2)
    if not make.is_bool:
        yield call(make(4, 3), 0, make.index(2, high=4), make(2, 3), alpha=2)


@errors("index_add")
def index_add_errors(make):
    yield (make(4, 3), 0, make.of(4, dtype="int64"), make(1, 3)), RuntimeError, "index 4 is out of"
    yield (
        (make(4, 3), 0, make.index(2, high=4), make(3, 3)),
        RuntimeError,
        "does not have the shape",
    )


def _index_copy(x, dim, index, source):
    result = np.moveaxis(np.atleast_1d(x).copy(), dim, 0)
    result[np.atleast_1d(index)] = np.moveaxis(np.atleast_1d(source), dim, 0)
    return np.moveaxis(result, 0, dim).reshape(x.shape)


@samples("index_copy", "index_copy_", reference=_index_copy)
def index_copy(make):
    yield make(4, 3), 0, make.of(2, 0, dtype="int64"), make(2, 3)
    yield make(4, 3), 1, make.of(2, 0, dtype="int64"), make(4, 2)


@errors("index_copy")
def index_copy_errors(make):
    wrong = make(4, 3), 0, make.of(9, dtype="int64"), make(1, 3)
    yield wrong, IndexError, "index_copy: index 9 is out of bounds"


def _index_fill(x, dim, index, value):
    result = np.moveaxis(np.atleast_1d(x).copy(), dim, 0)
    result[index] = value
    return np.moveaxis(result, 0, dim).reshape(x.shape)


@samples("index_fill", "index_fill_", reference=_index_fill)
def index_fill(make):
    yield make(4, 3), 0, make.of(2, 0, dtype="int64"), 1
    yield make(4, 3), -1, make.of(2, dtype="int64"), make.zero_dim(1)
    yield make(4, 3), 0, make.index(0, high=4), 1


@errors("index_fill")
def index_fill_errors(make):
    yield (make(4), 0, make.of(4, dtype="int64"), 1), IndexError, "index 4 is out of bounds"


def _index_reduce(x, dim, index, source, reduce, include_self=True):
    shape = [1] * source.ndim
    shape[dim] = -1
    spread = np.broadcast_to(index.reshape(shape), source.shape)
    return _combine(_reduce)(x, dim, spread, source, reduce, include_self=include_self)


@samples(
    "index_reduce",
    "index_reduce_",
    reference=_index_reduce,
    dtypes=("int32", "int64", "float16", "bfloat16", "float32", "float64"),
    tolerance=HALF,
)
def index_reduce(make):
    for reduce in ("prod", "mean", "amax", "amin"):
        yield make(4, 3), 0, make.index(5, high=4), make(5, 3), reduce
        yield call(make(4, 3), 1, make.index(5, high=3), make(4, 5), reduce, include_self=False)


@errors("index_reduce")
def index_reduce_errors(make):
    wrong = make(4), 0, make.index(2, high=4), make(2), "sum"
    yield wrong, RuntimeError, "reduce must be prod, mean, amax or amin"


def _index_put(x, indices, values, accumulate=False):
    result = x.copy()
    if accumulate:
        np.add.at(result, tuple(indices), values)
    else:
        result[tuple(indices)] = values
    return result


@samples("index_put", "index_put_", reference=_index_put)
def index_put(make):
    yield make(4, 3), [make.of(2, 0, dtype="int64")], make(2, 3)
    yield make(4, 3), [make.of(2, 0, dtype="int64"), make.of(1, 1, dtype="int64")], make(2)
    yield make(4, 3), [make.of(2, 0, dtype="int64")], make.zero_dim(1)
    yield make(4, 3), [make.mask(4, 3)], make.zero_dim(1)
    yield make(4, 3), [make.of(True, False, True, False, dtype="bool")], make(2, 3)
    yield make(4, 3), [make.of(1, 3, 0, dtype="int64")], make(3, 3), True


@errors("index_put")
def index_put_errors(make):
    index = make.of(9, dtype="int64")
    yield (make(4), [index], make(1)), IndexError, "index_put: index 9 is out of bounds"
    wrong = make(4), [make.index(2, high=4)], make(3)
    yield wrong, RuntimeError, "values of shape (3,) do not broadcast to the indexed shape (2,)"
    wrong = make(4), [make.index(2, high=4)], make(2, dtype="int64")
    yield wrong, RuntimeError, "the types of source and destination must match"
    wrong = make(4), [make(2)], make(2)
    yield wrong, IndexError, "tensors used as indices must be"


def _masked_fill(x, mask, value):
    return np.where(mask, np.asarray(value).astype(x.dtype), x)


@samples("masked_fill", reference=_masked_fill)
def masked_fill(make):
    yield make(4, 3), make.mask(4, 3), 1
    yield make(4, 3), make.mask(3), make.zero_dim(1)
    yield make(4, 3).transposed(), make.mask(4, 3), 1
    yield make(3), make.mask(4, 3), 1
    yield make(), make.mask(), 1
    yield make(200, 300), make.mask(200, 300), 1


@samples("masked_fill_", reference=_masked_fill)
def masked_fill_(make):
    yield make(4, 3), make.mask(4, 3), 1
    yield make(4, 3), make.mask(3), make.zero_dim(1)
    yield make(4, 3).transposed(), make.mask(4, 3), 1


@errors("masked_fill")
def masked_fill_errors(make):
    yield (make(4), make(4), 1), RuntimeError, "masked_fill: expected a mask of type bool"
    yield (make(4), make.mask(3), 1), RuntimeError, "masked_fill: shapes (4,) and (3,)"
    yield (make(4), make.mask(4), make(2)), RuntimeError, "value must be a number or a 0-dim"
    yield (make(4), make.mask(4), 1j), RuntimeError, "cannot be converted"


def _masked_scatter(x, mask, source):
    x, mask = (each.copy() for each in np.broadcast_arrays(x, mask))
    x[mask] = source.ravel()[: mask.sum()]
    return x


@samples("masked_scatter", "masked_scatter_", reference=_masked_scatter)
def masked_scatter(make):
    yield make(4, 3), make.mask(4, 3), make(12)
    yield make(4, 3), make.mask(3), make(4, 4)


@errors("masked_scatter")
def masked_scatter_errors(make):
    mask = make.of(True, True, dtype="bool")
    yield (make(2), mask, make(1)), RuntimeError, "source has 1 elements, but the mask selects 2"


def _put(x, index, source, accumulate=False):
    result = x.ravel().copy()
    if accumulate:
        np.add.at(result, index.ravel(), source.ravel())
    else:
        result[index.ravel()] = source.ravel()
    return result.reshape(x.shape)


@samples("put", "put_", reference=_put)
def put(make):
    yield make(4, 3), make.of(11, 0, 5, dtype="int64"), make(3)
    yield make(4, 3), make.of([[1, -1], [2, 3]], dtype="int64"), make(4)
    yield make(4, 3), make.of(3, 1, dtype="int64"), make(2), True


@errors("put")
def put_errors(make):
    yield (make(4), make.of(4, dtype="int64"), make(1)), IndexError, "index 4 is out of bounds"
    yield (make(4), make.of(1, dtype="int64"), make(2)), IndexError, "source has 2"
