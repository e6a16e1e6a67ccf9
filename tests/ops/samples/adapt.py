"""Samples of operators that resize tensors to a given size or length."""

import numpy as np

from tests.ops.registry import call, errors, samples


@samples("resize", reference=lambda x, *sizes: x.reshape(sizes))
def resize(make):
    yield make(3, 4), 2, 6
    yield make(2, 3, 2).transposed(), 12


@errors("resize")
def resize_errors(make):
    yield (make(4), 5), RuntimeError, "resize: the shape (5,) has 5 elements"


@samples("resize_as", reference=lambda x, other: x.reshape(other.shape))
def resize_as(make):
    yield make(3, 4), make(2, 6)


def _sum_to_size(x, *size):
    added = x.ndim - len(size)
    stretched = [d + added for d in range(len(size)) if size[d] == 1 != x.shape[d + added]]
    over = (*range(added), *stretched)
    return x.sum(over, keepdims=True).reshape(size) if over else x


@samples("sum_to_size", reference=_sum_to_size)
def sum_to_size(make):
    yield make(2, 3, 4), 3, 1
    yield make(2, 3), 2, 3
    yield make(2, 3), 3


@errors("sum_to_size")
def sum_to_size_errors(make):
    yield (make(2, 3), 2), RuntimeError, "sum_to_size: size [2] is not expandable to size [2, 3]"


@samples("nonzero_static")
def nonzero_static(make):
    yield call(make(3, 4), size=2)
    yield call(make.of([1, 0], [0, 2]), size=4)
    yield call(make.of(1, 0, 2), size=4, fill_value=7)


@errors("nonzero_static")
def nonzero_static_errors(make):
    yield call(make(3), size=-1), RuntimeError, "nonzero_static: 'size' must be an non-negative"


def _renorm(x, p, dim, maxnorm):
    others = tuple(d for d in range(x.ndim) if d != dim % x.ndim)
    if p == float("inf"):
        norms = np.abs(x).max(others, keepdims=True)
    else:
        norms = (np.abs(x) ** p).sum(others, keepdims=True) ** (1 / p)
    return x * np.where(norms > maxnorm, maxnorm / (norms + 1e-7), 1.0)


# In 16 bits PyTorch rounds the factor first.
HALVES = {"float16": (4e-3, 1e-3), "bfloat16": (3e-2, 1e-2)}
for name in ("renorm", "renorm_"):

    @samples(name, reference=_renorm, tolerance=HALVES, strides=False)  # a product, here
    def renorm(make):
        yield make(3, 4), 2.0, 0, 1.5
        yield make(3, 4), 1.0, -1, 2.0
        yield make(2, 3, 4), float("inf"), 1, 0.5

    @errors(name)
    def renorm_errors(make):
        yield (make(4), 2.0, 0, 1.0), RuntimeError, "renorm: input needs at least 2 dimensions"
        yield (make(2, 2), 2.0, 0, -1.0), RuntimeError, "renorm: expected maxnorm to be >= 0"
        yield (make(2, 2), 2.0, 5, 1.0), IndexError, "Dimension out of range"


@samples("norm_except_dim", tolerance=HALVES)
def norm_except_dim(make):
    yield make(3, 4), 2, 0
    yield make(3, 4, 2), 1, 1
    yield make(3, 4), 2, -1


@samples("nuclear_norm", dtypes=("float32", "float64"))
def nuclear_norm(make):
    yield make.well_conditioned(3, 3)
    yield call(make(2, 3, 4), dim=(1, 2), keepdim=True)


@samples("frobenius_norm", tolerance=HALVES)
def frobenius_norm(make):
    yield make(3, 4), (0, 1)
    yield call(make(2, 3, 4), dim=1, keepdim=True)
