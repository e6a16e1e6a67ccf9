"""Samples of linear algebra. Factors that are not unique are judged by their product."""

import numpy as np
import scipy.linalg

from tests.ops.registry import call, errors, forward_only, inf, nan, samples

# Conditioned as they are, these lose a few digits of single precision.
SINGLE = {"float32": (1e-3, 1e-4), "complex64": (1e-3, 1e-4)}
LOW = SINGLE | {"float16": (2e-2, 2e-2), "bfloat16": (5e-2, 5e-2)}
LAPACK = ("float32", "float64", "complex64", "complex128")


def _square(make):
    yield make.well_conditioned(3, 3)
    yield make.well_conditioned(2, 4, 4)
    yield make.well_conditioned(1, 1)
    yield make.well_conditioned(0, 0)
    yield make.well_conditioned(0, 3, 3)
    yield make.well_conditioned(40, 40)


def _rectangular(make):
    yield make(4, 3)
    yield make(3, 4)
    yield make(2, 5, 3)
    yield make.well_conditioned(3, 3)


def _no_info(a):
    return np.zeros(a.shape[:-2], np.int32)


@samples("linalg.inv", "inverse", reference=np.linalg.inv, tolerance=SINGLE)
def inv(make):
    yield from _square(make)


@errors("linalg.inv", "inverse")
def inv_errors(make):
    yield (make.of([[0.0, 0.0], [0.0, 0.0]]),), RuntimeError, "the matrix is singular"
    yield (make(2, 3),), RuntimeError, "expected square matrices, got shape (2, 3)"
    yield (make(2, 2, dtype="int64"),), RuntimeError, "not implemented for dtype int64"
    yield (make(2, 2, dtype="float16"),), RuntimeError, "not implemented for dtype float16"


@samples("linalg.inv_ex", reference=lambda a: (np.linalg.inv(a), _no_info(a)), tolerance=SINGLE)
def inv_ex(make):
    yield from _square(make)


@samples("linalg.det", "det", reference=np.linalg.det, tolerance=SINGLE)
def det(make):
    yield make.well_conditioned(3, 3)
    yield make.well_conditioned(2, 4, 4)
    yield make.well_conditioned(0, 0)
    yield forward_only(make.of([[1.0, 2.0], [2.0, 4.0]]))


@samples(
    "linalg.slogdet", "slogdet", reference=lambda a: tuple(np.linalg.slogdet(a)), tolerance=SINGLE
)
def slogdet(make):
    yield from _square(make)
    yield forward_only(make.of([[1.0, 2.0], [2.0, 4.0]]))


@samples(
    "logdet",
    reference=lambda a: np.linalg.slogdet(a)[1],
    dtypes=("float32", "float64"),
    tolerance=SINGLE,
)
def logdet(make):
    yield make.positive_definite(3, 3)
    yield make.positive_definite(2, 4, 4)


def _lower(a, upper=False):
    factor = np.linalg.cholesky(a)
    return np.conj(np.swapaxes(factor, -1, -2)) if upper else factor


@samples("linalg.cholesky", "cholesky", reference=_lower, tolerance=SINGLE)
def cholesky(make):
    yield make.positive_definite(3, 3)
    yield make.positive_definite(2, 4, 4)
    yield make.positive_definite(0, 0)
    yield call(make.positive_definite(3, 3), upper=True)


@errors("linalg.cholesky", "cholesky")
def cholesky_errors(make):
    yield (make.of([[-1.0, 0.0], [0.0, 1.0]]),), RuntimeError, "the leading minor of order 1"
    yield (make(2, 3),), RuntimeError, "expected square matrices"


@samples(
    "linalg.cholesky_ex",
    reference=lambda a, upper=False: (_lower(a, upper), _no_info(a)),
    tolerance=SINGLE,
)
def cholesky_ex(make):
    yield make.positive_definite(3, 3)
    yield call(make.positive_definite(2, 4, 4), upper=True)


def _cholesky_solve(b, factor, upper=False):
    matrix = np.triu(factor) if upper else np.tril(factor)
    adjoint = np.conj(np.swapaxes(matrix, -1, -2))
    return np.linalg.solve(adjoint @ matrix if upper else matrix @ adjoint, b)


@samples("cholesky_solve", reference=_cholesky_solve, tolerance=SINGLE)
def cholesky_solve(make):
    yield make(3, 2), make.well_conditioned(3, 3)
    yield call(make(2, 3, 2), make.well_conditioned(3, 3), upper=True)


def _cholesky_inverse(factor, upper=False):
    return _cholesky_solve(np.eye(factor.shape[-1]), factor, upper)


@samples("cholesky_inverse", reference=_cholesky_inverse, tolerance=SINGLE)
def cholesky_inverse(make):
    yield make.positive_definite(3, 3)  # like every factor, real on the diagonal
    yield call(make.positive_definite(2, 3, 3), upper=True)


def _solve(a, b, left=True):
    if not left:
        return np.swapaxes(np.linalg.solve(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)), -1, -2)
    if b.ndim == 1 or b.shape == a.shape[:-1]:
        return np.linalg.solve(a, b[..., None])[..., 0]
    return np.linalg.solve(a, b)


def _systems(make):
    yield make.well_conditioned(3, 3), make(3, 2)
    yield make.well_conditioned(3, 3), make(3)
    yield make.well_conditioned(2, 3, 3), make(2, 3)
    yield make.well_conditioned(2, 3, 3), make(3, 4)
    yield make.well_conditioned(0, 0), make(0, 2)
    yield call(make.well_conditioned(3, 3), make(2, 3), left=False)


@samples("linalg.solve", reference=_solve, tolerance=SINGLE)
def solve(make):
    yield from _systems(make)


@errors("linalg.solve")
def solve_errors(make):
    yield (
        (make.of([[0.0, 0.0], [0.0, 0.0]]), make(2)),
        RuntimeError,
        "solve: the diagonal element 1 is zero",
    )
    yield (make(3, 3), make(2, 2)), RuntimeError, "do not fit the equation A X = B"
    yield (make(3, 3), make(3, 2, dtype="float64")), RuntimeError, "same dtype"


@samples(
    "linalg.solve_ex",
    reference=lambda a, b, left=True: (_solve(a, b, left), np.zeros(a.shape[:-2], np.int32)),
    tolerance=SINGLE,
)
def solve_ex(make):
    yield from _systems(make)


def _triangle(a, upper, unitriangular):
    a = np.triu(a) if upper else np.tril(a)
    if unitriangular:
        a = a - a * np.eye(a.shape[-1]) + np.eye(a.shape[-1])
    return a


def _solve_triangular(a, b, *, upper, left=True, unitriangular=False):
    return _solve(_triangle(a, upper, unitriangular), b, left)


@samples("linalg.solve_triangular", reference=_solve_triangular, tolerance=SINGLE)
def solve_triangular(make):
    yield call(make.well_conditioned(3, 3), make(3, 2), upper=True)
    yield call(make.well_conditioned(2, 3, 3), make(3, 2), upper=False)
    yield call(make.well_conditioned(3, 3), make(2, 3), upper=True, left=False)
    yield call(make.well_conditioned(3, 3), make(3, 2), upper=False, unitriangular=True)


def _old_triangular_solve(b, a, upper=True, transpose=False, unitriangular=False):
    triangle = _triangle(a, upper, unitriangular)
    return np.linalg.solve(np.swapaxes(triangle, -1, -2) if transpose else triangle, b), a


@samples("triangular_solve", reference=_old_triangular_solve, tolerance=SINGLE)
def triangular_solve(make):
    yield make(3, 2), make.well_conditioned(3, 3)
    yield call(make(2, 3, 2), make.well_conditioned(2, 3, 3), upper=False, transpose=True)


def _factors(a, pivot=True):
    return tuple(scipy.linalg.lu(a))


def _plu(permutation, lower, upper):
    return permutation @ lower @ upper


@samples("linalg.lu", reference=lambda a: _factors(a), through=_plu, tolerance=SINGLE)
def lu(make):
    yield from _rectangular(make)


def _packed(a):
    flat = a.reshape(-1, *a.shape[-2:])
    made = [scipy.linalg.lu_factor(each) for each in flat]
    count = min(a.shape[-2:])
    packed = np.array([each[0] for each in made]).reshape(a.shape)
    pivots = np.array([each[1] for each in made], np.int32).reshape(
        *a.shape[:-2], count
    ) + np.int32(1)
    return packed, pivots


@samples("linalg.lu_factor", "lu", reference=_packed, tolerance=SINGLE)
def lu_factor(make):
    yield from _rectangular(make)


@errors("linalg.lu_factor")
def lu_factor_errors(make):
    yield (
        call(make(3, 3), pivot=False),
        RuntimeError,
        "LU without pivoting is not implemented on the CPU",
    )


@samples("linalg.lu_factor_ex", reference=lambda a: (*_packed(a), _no_info(a)), tolerance=SINGLE)
def lu_factor_ex(make):
    yield from _rectangular(make)


def _pivots(make):
    return make.of([2, 2, 3], dtype="int32")


def _unpacked(packed, pivots):
    m, n = packed.shape
    order = np.arange(m)
    for i, p in enumerate(pivots):
        order[[i, p - 1]] = order[[p - 1, i]]
    k = min(m, n)
    lower = np.where(np.eye(m, k) != 0, np.ones((), packed.dtype), np.tril(packed[:, :k], -1))
    return np.eye(m)[:, order].astype(packed.dtype), lower, np.triu(packed[:k])


@samples("lu_unpack", reference=_unpacked)
def lu_unpack(make):
    yield make(3, 3), _pivots(make)
    yield make(4, 3), _pivots(make)


@errors("lu_unpack")
def lu_unpack_errors(make):
    yield (
        (make(3, 3), make.of([0, 9, 1], dtype="int32")),
        RuntimeError,
        "expected pivots from 1 to 3",
    )


def _lu_solve(packed, pivots, b, left=True, adjoint=False):
    a = _plu(*_unpacked(packed, pivots))
    return _solve(np.conj(a.T) if adjoint else a, b, left)


@samples("linalg.lu_solve", reference=_lu_solve, tolerance=SINGLE)
def lu_solve(make):
    yield make.well_conditioned(3, 3), _pivots(make), make(3, 2)
    yield call(make.well_conditioned(3, 3), _pivots(make), make(3, 2), adjoint=True)


@samples(
    "lu_solve", reference=lambda b, packed, pivots: _lu_solve(packed, pivots, b), tolerance=SINGLE
)
def old_lu_solve(make):
    yield make(3, 2), make.well_conditioned(3, 3), _pivots(make)


def _product(q, r):
    return q @ r


@samples(
    "linalg.qr",
    reference=lambda a, mode="reduced": tuple(np.linalg.qr(a, mode)),
    through=_product,
    tolerance=SINGLE,
)
def qr(make):
    yield from _rectangular(make)
    yield forward_only(make(4, 3), mode="complete")
    yield make(0, 3)


@errors("linalg.qr")
def qr_errors(make):
    yield (make(3, 3), "x"), RuntimeError, "expected mode 'reduced', 'complete' or 'r', got 'x'"


@samples(
    "qr", reference=lambda a, some=True: tuple(np.linalg.qr(a)), through=_product, tolerance=SINGLE
)
def old_qr(make):
    yield from _rectangular(make)


def _raw(a):
    h, tau = np.linalg.qr(a, "raw")
    return np.swapaxes(h, -1, -2), tau


@samples("geqrf", reference=_raw, tolerance=SINGLE)
def geqrf(make):
    yield from _rectangular(make)


def _reflected(a, tau):
    m = a.shape[0]
    q = np.eye(m, dtype=a.dtype)
    for i, t in enumerate(tau):
        v = np.concatenate([np.zeros(i), [1], a[i + 1 :, i]]).astype(a.dtype)
        q = q @ (np.eye(m) - t * np.outer(v, np.conj(v)))
    return q


@samples(
    "linalg.householder_product",
    "orgqr",
    reference=lambda a, tau: _reflected(a, tau)[:, : a.shape[1]],
    tolerance=SINGLE,
)
def householder_product(make):
    yield make.unit(4, 3), make.unit(3)
    yield make.unit(3, 3), make.unit(2)


def _ormqr(a, tau, other, left=True, transpose=False):
    q = _reflected(a, tau)
    q = np.conj(q.T) if transpose else q
    return q @ other if left else other @ q


@samples("ormqr", reference=_ormqr, tolerance=SINGLE)
def ormqr(make):
    yield make.unit(4, 3), make.unit(3), make(4, 2)
    yield call(make.unit(4, 3), make.unit(3), make(2, 4), left=False, transpose=True)


def _rebuilt(u, s, vh):
    k = s.shape[-1]
    return (u[..., :k] * s[..., None, :]) @ vh[..., :k, :]


@samples(
    "linalg.svd",
    reference=lambda a, full_matrices=True: tuple(np.linalg.svd(a, full_matrices)),
    through=_rebuilt,
    tolerance=SINGLE,
)
def svd(make):
    yield from _rectangular(make)
    yield call(make(4, 3), full_matrices=False)
    yield make(30, 20)


@errors("linalg.svd")
def svd_errors(make):
    yield (make.of([[nan, 0.0], [0.0, 1.0]]),), RuntimeError, "contains infinities or NaNs"
    yield (make(3),), RuntimeError, "expected matrices"


def _old_svd(a, some=True):
    u, s, vh = np.linalg.svd(a, not some)
    return u, s, np.conj(np.swapaxes(vh, -1, -2))


def _rebuilt_from_v(u, s, v):
    return _rebuilt(u, s, np.conj(np.swapaxes(v, -1, -2)))


@samples("svd", reference=_old_svd, through=_rebuilt_from_v, tolerance=SINGLE)
def old_svd(make):
    yield from _rectangular(make)


@samples("linalg.svdvals", reference=lambda a: np.linalg.svd(a, compute_uv=False), tolerance=SINGLE)
def svdvals(make):
    yield from _rectangular(make)


def _spectrum(values, vectors):
    return vectors @ (values[..., None] * np.linalg.inv(vectors))


@samples(
    "linalg.eigh",
    reference=lambda a, UPLO="L": tuple(np.linalg.eigh(a, UPLO)),
    through=_spectrum,
    tolerance=SINGLE,
)
def eigh(make):
    yield make.positive_definite(3, 3)
    yield call(make.positive_definite(2, 4, 4), UPLO="U")
    yield make.positive_definite(0, 0)


@errors("linalg.eigh")
def eigh_errors(make):
    yield (make(3, 3), "x"), RuntimeError, "expected UPLO to be 'L' or 'U', got 'x'"
    yield (make(2, 3),), RuntimeError, "expected square matrices"


@samples(
    "linalg.eigvalsh", reference=lambda a, UPLO="L": np.linalg.eigvalsh(a, UPLO), tolerance=SINGLE
)
def eigvalsh(make):
    yield make.positive_definite(3, 3)
    yield call(make.positive_definite(2, 4, 4), UPLO="U")


def _complex(pair):
    return tuple(np.asarray(each, np.complex128) for each in pair)


@samples(
    "linalg.eig",
    reference=lambda a: _complex(np.linalg.eig(a)),
    through=_spectrum,
    tolerance=SINGLE,
)
def eig(make):
    yield make.well_conditioned(3, 3)
    yield make.well_conditioned(2, 4, 4)


@errors("linalg.eig")
def eig_errors(make):
    yield (make.of([[inf, 0.0], [0.0, 1.0]]),), RuntimeError, "expected no infinities or NaNs"


@samples(
    "linalg.eigvals",
    reference=lambda a: np.asarray(np.linalg.eigvals(a), np.complex128),
    through=lambda w: np.sum(w, -1),
    tolerance=SINGLE,
)
def eigvals(make):
    yield make.well_conditioned(3, 3)


def _lstsq(a, b, rcond=None, driver="gelsy"):
    solution, residuals, rank, values = np.linalg.lstsq(a, b, rcond=None)
    nothing = np.zeros(0)
    rank = np.zeros(0, np.int64) if driver == "gels" else np.int64(rank)
    values = values if driver in ("gelsd", "gelss") else nothing
    return solution, nothing if driver == "gelsy" else residuals, rank, values


@samples("linalg.lstsq", reference=_lstsq, tolerance=SINGLE)
def lstsq(make):
    yield make(5, 3), make(5, 2)
    yield make(3, 5), make(3, 2)
    yield make(5, 3), make(5)
    for driver in ("gels", "gelsd", "gelss"):
        yield call(make(5, 3), make(5, 2), driver=driver)


@errors("linalg.lstsq")
def lstsq_errors(make):
    yield (make(3, 3), make(2, 2)), RuntimeError, "expected as many rows in both"
    yield call(make(3, 3), make(3, 2), driver="x"), RuntimeError, "expected driver"


@samples("linalg.cross", reference=lambda a, b, dim=-1: np.cross(a, b, axis=dim), tolerance=LOW)
def cross(make):
    yield make(2, 3), make(2, 3)
    yield make(2, 3), make(1, 3)
    yield call(make(3, 4), make(3, 4), dim=0)


@samples("linalg.matmul", reference=np.matmul, tolerance=LOW)
def matmul(make):
    yield make(2, 3), make(3, 4)


def _vector_norm(x, ord=2, dim=None, keepdim=False):
    axes = tuple(range(x.ndim)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    size = np.abs(x)
    if ord == inf:
        return size.max(axes, keepdims=keepdim)
    if ord == -inf:
        return size.min(axes, keepdims=keepdim)
    if ord == 0:
        return (size != 0).sum(axes, keepdims=keepdim).astype(size.dtype)
    return (size**ord).sum(axes, keepdims=keepdim) ** (1 / ord)


@samples("linalg.vector_norm", reference=_vector_norm, tolerance=LOW)
def vector_norm(make):
    yield make(3)
    yield make(3, 4)
    yield call(make(3, 4), dim=1, keepdim=True)
    yield call(make(2, 3, 4), dim=(0, 2))
    yield make(1000)
    for order in (0, 1, 3, inf, -inf):
        yield call(make.nonzero(3, 4), ord=order, dim=0)
    yield call(make.nonzero(3, 4), ord=-2, dim=0)


@errors("linalg.vector_norm")
def vector_norm_errors(make):
    yield (make(3, dtype="int64"),), RuntimeError, "not implemented for dtype int64"
    yield call(make(3), dim=2), IndexError, "vector_norm: "
    yield call(make(0), ord=inf), RuntimeError, "has no value for an empty input"


def _matrix_norm(a, ord="fro", dim=(-2, -1), keepdim=False):
    return np.linalg.norm(a, ord, dim, keepdim)


@samples("linalg.matrix_norm", reference=_matrix_norm, dtypes=LAPACK, tolerance=SINGLE)
def matrix_norm(make):
    for order in ("fro", "nuc", inf, -inf, 1, -1, 2, -2):
        yield call(make(2, 3, 4), ord=order)
    yield call(make(2, 3, 4), ord=1, dim=(0, 2), keepdim=True)
    yield call(make(2, 3, 4), ord="nuc", dim=(0, 2), keepdim=True)


@errors("linalg.matrix_norm")
def matrix_norm_errors(make):
    yield (make(3, 3), "x"), RuntimeError, "order x is not supported"
    yield (make(3),), RuntimeError, "expected matrices"


def _norm(a, ord=None, dim=None, keepdim=False):
    if ord is None and dim is None:
        return np.linalg.norm(a.ravel()).reshape((1,) * a.ndim if keepdim else ())
    return np.linalg.norm(a, ord, dim, keepdim)


@samples("linalg.norm", reference=_norm, dtypes=LAPACK, tolerance=SINGLE)
def norm(make):
    yield make(3)
    yield make(3, 4)
    yield call(make(3, 4), ord=1)
    yield call(make(3), ord=inf)
    yield call(make(3, 4), ord=3, dim=1, keepdim=True)
    yield call(make(2, 3, 4), ord="fro", dim=(1, 2))


@samples(
    "linalg.cond",
    reference=lambda a, p=None: np.real(np.linalg.cond(a, p)),  # complex in older NumPy
    dtypes=LAPACK,
    tolerance=SINGLE,
)
def cond(make):
    yield make.well_conditioned(3, 3)
    for order in ("fro", 1, inf, 2, -2):
        yield call(make.well_conditioned(3, 3), p=order)


@samples(
    "linalg.matrix_rank",
    reference=lambda a, tol=None, hermitian=False: np.int64(
        np.linalg.matrix_rank(a, tol, hermitian)
    ),
    dtypes=LAPACK,
)
def matrix_rank(make):
    yield make.well_conditioned(3, 3)
    yield forward_only(make.of([[1.0, 2.0], [2.0, 4.0]]))
    yield make(4, 3)
    yield call(make.positive_definite(3, 3), hermitian=True)


@samples(
    "linalg.pinv",
    reference=lambda a, rcond=1e-15, hermitian=False: np.linalg.pinv(a, 1e-15, hermitian),
    dtypes=LAPACK,
    tolerance=SINGLE,
)
def pinv(make):
    yield make(4, 3)
    yield make(2, 3, 4)
    yield call(make.positive_definite(3, 3), hermitian=True)
    yield make(0, 3)


@samples("pinverse", reference=lambda a: np.linalg.pinv(a, 1e-15), dtypes=LAPACK, tolerance=SINGLE)
def pinverse(make):
    yield make(4, 3)


@samples(
    "linalg.matrix_power",
    "matrix_power",
    reference=np.linalg.matrix_power,
    dtypes=LAPACK,
    tolerance=SINGLE,
)
def matrix_power(make):
    for n in (0, 1, 2, 5, -2):
        yield make.well_conditioned(3, 3), n
    yield make.well_conditioned(2, 3, 3), 3


@samples(
    "linalg.matrix_exp", "matrix_exp", reference=scipy.linalg.expm, dtypes=LAPACK, tolerance=SINGLE
)
def matrix_exp(make):
    yield make.unit(3, 3)
    yield make(2, 3, 3)
    yield make(1, 1)


@samples("linalg.multi_dot", reference=np.linalg.multi_dot, dtypes=LAPACK, tolerance=SINGLE)
def multi_dot(make):
    yield ([make(2, 3), make(3, 4), make(4, 5)],)
    yield ([make(3), make(3, 4), make(4)],)


@errors("linalg.multi_dot")
def multi_dot_errors(make):
    yield ([make(2, 3)],), RuntimeError, "expected at least 2 tensors"
    yield ([make(2, 3), make(2, 3)],), RuntimeError, "cannot be multiplied"


@samples(
    "linalg.tensorinv",
    reference=lambda a, ind=2: np.linalg.tensorinv(a, ind),
    dtypes=LAPACK,
    tolerance=SINGLE,
)
def tensorinv(make):
    yield call(make(4, 2, 2), ind=1)
    yield make(2, 3, 6)


@samples(
    "linalg.tensorsolve",
    reference=lambda a, b: np.linalg.tensorsolve(a, b),
    dtypes=LAPACK,
    tolerance=SINGLE,
)
def tensorsolve(make):
    yield make(2, 3, 6), make(2, 3)


@samples(
    "linalg.vander",
    reference=lambda x, N=None: np.vander(x, N, increasing=True),
    tolerance=SINGLE,
)
def vander(make):
    yield make(4)
    yield call(make(4), N=3)


@samples(
    "linalg.vecdot",
    reference=lambda x, y, dim=-1: (np.conj(x) * y).sum(dim),
    dtypes=LAPACK,
    tolerance=SINGLE,
)
def vecdot(make):
    yield make(3), make(3)
    yield make(2, 3), make(2, 3)
    yield call(make(2, 3), make(2, 3), dim=0)


@samples(
    "linalg.diagonal",
    reference=lambda a, offset=0, dim1=-2, dim2=-1: np.diagonal(a, offset, dim1, dim2),
)
def diagonal(make):
    yield make(3, 3)
    yield call(make(2, 3, 4), offset=1)
