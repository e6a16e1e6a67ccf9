"""Samples of matrix products and contractions."""

import numpy as np

from tests.ops.registry import call, errors, inf, samples

# Sums of many products of 16-bit numbers: the result is rounded once, the reference not at all.
LOW = {
    "float16": (2e-2, 1e-1),
    "bfloat16": (5e-2, 5e-1),
    "float32": (1e-4, 1e-4),
    "complex64": (1e-4, 1e-4),
}


@samples("matmul", reference=np.matmul, tolerance=LOW)
def matmul(make):
    yield make(3), make(3)
    yield make(2, 3), make(3)
    yield make(3), make(3, 4)
    yield make(8, 8), make(8, 8)
    yield make(2, 3), make(3, 5)
    yield make(5, 2, 3), make(3, 4)
    yield make(2, 3), make(5, 3, 4)
    yield make(6, 1, 2, 3), make(5, 3, 4)
    yield make(1, 2, 3).expanded(5, 2, 3), make(5, 3, 4).transposed()
    yield make(0, 3), make(3, 4)
    yield make(2, 0), make(0, 4)
    yield make(0, 2, 3), make(3, 1)
    yield make(70, 65), make(65, 90)  # beyond the small kernel
    yield make(1, 300), make(300, 40)  # matrix times vector
    yield make(130, 140, low=0, high=1), make(140, 150, low=0, high=1).transposed()


@errors("matmul")
def matmul_errors(make):
    yield (make(2, 3), make(2, 3)), RuntimeError, "matmul: shapes (2, 3) and (2, 3)"
    yield (make(), make(2)), RuntimeError, "matmul: both operands need at least 1 dimension"
    yield (make(4, 2, 3), make(3, 3, 5)), RuntimeError, "matmul: "
    yield (
        (make(2, 2), make(2, 2, dtype="int8" if make.dtype != "int8" else "int16")),
        RuntimeError,
        "same dtype",
    )


@samples("mm", reference=np.matmul, tolerance=LOW)
def mm(make):
    yield make(2, 3), make(3, 4)
    yield make(1, 1), make(1, 1)
    yield make(2, 0), make(0, 3)
    yield make(33, 65), make(65, 47)


@errors("mm")
def mm_errors(make):
    yield (make(2), make(2, 2)), RuntimeError, "mm: expected input to be a matrix"
    yield (make(2, 3), make(2, 3)), RuntimeError, "mm: shapes"


@samples("bmm", reference=np.matmul, tolerance=LOW)
def bmm(make):
    yield make(5, 2, 3), make(5, 3, 4)
    yield make(0, 2, 3), make(0, 3, 4)
    yield make(20, 16, 16), make(20, 16, 16)


@errors("bmm")
def bmm_errors(make):
    yield (make(2, 3, 3), make(1, 3, 3)), RuntimeError, "bmm: batches of different length"
    yield (make(3, 3), make(3, 3)), RuntimeError, "bmm: expected the first batch"


@samples("mv", reference=np.matmul, tolerance=LOW)
def mv(make):
    yield make(2, 3), make(3)
    yield make(0, 3), make(3)
    yield make(40, 200), make(200)


@errors("mv")
def mv_errors(make):
    yield (make(2, 3), make(2)), RuntimeError, "mv: "


@samples("dot", reference=np.dot, tolerance=LOW)
def dot(make):
    yield make(3), make(3)
    yield make(0), make(0)
    yield make(1000, low=0, high=1), make(1000, low=0, high=1)


@errors("dot", "vdot")
def dot_errors(make):
    yield (make(3), make(4)), RuntimeError, "expected vectors of the same length"
    yield (make(3, 3), make(3)), RuntimeError, "expected two 1-d tensors"


@samples("vdot", reference=np.vdot, tolerance=LOW)
def vdot(make):
    yield make(3), make(3)
    yield make(50), make(50)


@samples("inner", reference=np.inner, tolerance=LOW)
def inner(make):
    yield make(3), make(3)
    yield make(2, 3), make(4, 3)
    yield make(2, 5, 3), make(3)
    yield make(), make(3)


@errors("inner")
def inner_errors(make):
    yield (make(2, 3), make(2, 4)), RuntimeError, "inner: expected last dimensions of the same size"


@samples("outer", "ger", reference=np.outer)
def outer(make):
    yield make(3), make(4)
    yield make(0), make(4)


@errors("outer", "ger")
def outer_errors(make):
    yield (make(2, 2), make(2)), RuntimeError, "expected input to be 1-d"


def _scaled(product):
    def reference(input, a, b, beta=1, alpha=1):
        if input.dtype.kind in "iu":
            beta, alpha = int(beta), int(alpha)
        if input.dtype == bool:
            return (input if beta else False) | (product(a, b) if alpha else False)
        return (0 if beta == 0 else beta * input) + alpha * product(a, b)

    return reference


def _combinations(make, *operands):
    yield operands
    yield call(*operands, beta=2, alpha=3)
    yield call(*operands, beta=0)
    if make.is_floating or make.is_complex:
        yield call(*operands, beta=0.5, alpha=-1.5)


@samples("addmm", reference=_scaled(np.matmul), tolerance=LOW)
def addmm(make):
    yield from _combinations(make, make(2, 4), make(2, 3), make(3, 4))
    yield make(4), make(2, 3), make(3, 4)
    yield make(2, 1), make(2, 0), make(0, 4)
    yield make(70), make(80, 60), make(60, 70)


@errors("addmm")
def addmm_errors(make):
    yield (make(3), make(2, 2), make(2, 2)), RuntimeError, "addmm: "


@samples("addmv", reference=_scaled(np.matmul), tolerance=LOW)
def addmv(make):
    yield from _combinations(make, make(2), make(2, 3), make(3))


@samples("addr", reference=_scaled(np.outer), tolerance=LOW)
def addr(make):
    yield from _combinations(make, make(2, 3), make(2), make(3))


@samples("baddbmm", reference=_scaled(np.matmul), tolerance=LOW)
def baddbmm(make):
    yield from _combinations(make, make(5, 2, 4), make(5, 2, 3), make(5, 3, 4))
    yield make(4), make(5, 2, 3), make(5, 3, 4)


@samples("addbmm", reference=_scaled(lambda a, b: np.matmul(a, b).sum(0)), tolerance=LOW)
def addbmm(make):
    yield from _combinations(make, make(2, 4), make(5, 2, 3), make(5, 3, 4))


@samples("tensordot", reference=lambda a, b, dims=2: np.tensordot(a, b, dims), tolerance=LOW)
def tensordot(make):
    yield make(2, 3, 4), make(3, 4, 5)
    yield call(make(2, 3, 4), make(4, 3, 5), dims=([1, 2], [1, 0]))
    yield call(make(2), make(3), dims=0)
    yield call(make(2, 0), make(0, 3), dims=1)


@errors("tensordot")
def tensordot_errors(make):
    yield call(make(2, 3), make(2, 3), dims=1), RuntimeError, "contracted dimensions need to match"


@samples(
    "einsum", reference=lambda equation, *operands: np.einsum(equation, *operands), tolerance=LOW
)
def einsum(make):
    def small(*shape):  # sums that int8 can hold: summed alone, integers become int64
        return make(*shape, low=-1, high=2)

    yield "ij,jk->ik", small(2, 3), small(3, 4)
    yield "ij,jk", small(2, 3), small(3, 4)
    yield "ii", small(3, 3)
    yield "ii->i", small(3, 3)
    yield "ij->ji", small(2, 3)
    yield "ij->", small(2, 3)
    yield "bij,bjk->bik", small(5, 2, 3), small(5, 3, 4)
    yield "...ij,...jk->...ik", small(5, 2, 3), small(1, 3, 4)
    yield "bhid,bhjd->bhij", small(2, 3, 4, 5), small(2, 3, 6, 5)
    yield "ij,jk,kl->il", small(2, 3), small(3, 4), small(4, 5)
    yield "ijk,l->jl", small(2, 3, 4), small(5)
    yield "iji->j", small(3, 2, 3)
    yield "ij,kj->", small(2, 3), small(4, 3)
    yield "ij,ij->ij", small(2, 3), small(2, 3)
    yield "ij,jk->ik", small(2, 0), small(0, 3)
    yield " i j , j -> i ", small(2, 3), small(3)


@errors("einsum")
def einsum_errors(make):
    yield ("ij,jk->ik", make(2, 2), make(3, 2)), RuntimeError, "operand 1 has size 3"
    yield ("ij->ijk", make(2, 2)), RuntimeError, "the output subscript 'k' is in no operand"
    yield ("ij", make(2, 2, 2)), RuntimeError, "operand 0 of shape (2, 2, 2)"
    yield ("i.j", make(2, 2)), RuntimeError, "not part of one ellipsis"


@samples("kron", reference=np.kron, strides=False)
def kron(make):
    yield make(2, 3), make(4, 5)
    yield make(0, 2), make(3, 1)


def _cross(a, b, dim=None):
    if dim is None:
        dim = a.shape.index(3)
    return np.cross(a, b, axis=dim)


@samples("cross", reference=_cross, tolerance=LOW)
def cross(make):
    yield call(make(2, 3), make(2, 3), dim=1)
    yield call(make(3, 2), make(3, 2), dim=0)


@errors("cross")
def cross_errors(make):
    yield (
        call(make(2, 2), make(2, 2), dim=0),
        RuntimeError,
        "cross: expected dimension 0 to be of size 3",
    )


@samples("chain_matmul", reference=lambda *m: np.linalg.multi_dot(m), tolerance=LOW)
def chain_matmul(make):
    yield make(2, 3), make(3, 4), make(4, 5)


def _cdist(a, b, p=2.0, compute_mode=None):
    difference = np.abs(a[..., :, None, :] - b[..., None, :, :])
    if p == 0:
        return (difference != 0).sum(-1).astype(a.dtype)
    if p == inf:
        return difference.max(-1)
    return (difference**p).sum(-1) ** (1 / p)


@samples("cdist", reference=_cdist, dtypes=("float32", "float64"), tolerance=LOW)
def cdist(make):
    yield make(3, 4), make(5, 4)
    for p in (0.0, 1.0, 2.5, inf):
        yield call(make(2, 3, 4), make(1, 5, 4), p=p)
    yield call(make(30, 4), make(5, 4)).within(1e-3, 1e-3, "near points lose digits in products")
    yield call(make(30, 4), make(5, 4), compute_mode="donot_use_mm_for_euclid_dist")
    yield make(0, 4), make(5, 4)


@errors("cdist")
def cdist_errors(make):
    yield (make(2, 2), make(2, 3)), RuntimeError, "cdist: expected as many columns"
