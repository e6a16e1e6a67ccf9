"""Linear algebra on LAPACK, and what is composed of it. Batches are the dimensions before the last two."""

from opgen.model import (
    COMPLEX,
    FLOATS,
    all_types,
    composite,
    floating_complex,
    integers,
    native,
    not_implemented,
    numeric,
    op,
    python,
)

LAPACK = FLOATS + COMPLEX
LINALG = "flambeau._operators.linalg"

# --- factorisations

op(
    "cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False,"
    " out: list[Tensor] | None = None) -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=LAPACK,
    forms="function",
    namespace="linalg",
    returns="L info",
    grad={"A": "cholesky_backward(grad, L, upper)"},
    out="exact",
    doc="Cholesky factor and, per matrix, 0 or the order of the first minor that is not positive.",
    autocast="float32",
    host="cuda",
)
op(
    "cholesky(A: Tensor, *, upper: bool = False, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=LAPACK,
    forms="function",
    namespace="linalg",
    grad=composite,
    out="exact",
    doc="The Cholesky factor L of A = L L^H, or U of A = U^H U; LinAlgError if A is not positive-definite.",
)
op(
    "lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False,"
    " out: list[Tensor] | None = None) -> tuple[Tensor, Tensor, Tensor]",
    kind=native,
    dtypes=LAPACK,
    forms="function",
    namespace="linalg",
    returns="LU pivots info",
    grad={"A": "lu_factor_backward(grad, LU, pivots)"},
    out="exact",
    doc="L and U in one matrix, the exchanged rows (from 1) and, per matrix, 0 or the zero on U's diagonal.",
    host="cuda",
)
op(
    "lu_factor(A: Tensor, *, pivot: bool = True, out: list[Tensor] | None = None)"
    " -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=LAPACK,
    forms="function",
    namespace="linalg",
    returns="LU pivots",
    grad=composite,
    out="exact",
    doc="The LU factorization: L and U in one matrix, and the exchanged rows (from 1).",
)
op(
    "lu(A: Tensor, *, pivot: bool = True, out: list[Tensor] | None = None)"
    " -> tuple[Tensor, Tensor, Tensor]",
    kind=native,
    dtypes=LAPACK,
    forms="function",
    namespace="linalg",
    returns="P L U",
    grad={"A": "lu_backward(grads[1], grads[2], P, L, U)"},
    out="exact",
    doc="The LU factorization A = P L U with a permutation P, unit lower L and upper U.",
    host="cuda",
)
op(
    "lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True,"
    " unpack_pivots: bool = True, *, out: list[Tensor] | None = None)"
    " -> tuple[Tensor, Tensor, Tensor]",
    kind=native,
    dtypes=all_types,
    forms="function",
    returns="P L U",
    grad={"LU_data": "lu_unpack_backward(grads[1], grads[2], LU_data.shape)"},
    out="exact",
    doc="P, L and U from what lu_factor gives; what is not wanted is empty.",
)
op(
    "qr(A: Tensor, mode: str = 'reduced', *, out: list[Tensor] | None = None)"
    " -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=LAPACK,
    forms="function",
    namespace="linalg",
    returns="Q R",
    grad={"A": "qr_backward(grads[0], grads[1], Q, R, mode)"},
    out="exact",
    doc="The QR factorization A = Q R with orthonormal Q and upper R.",
    autocast="float32",
    host="cuda",
)
op(
    "geqrf(input: Tensor, *, out: list[Tensor] | None = None) -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=LAPACK,
    returns="a tau",
    grad=not_implemented,
    doc="The QR factorisation as LAPACK stores it: R, and Q as Householder reflectors.",
    autocast="float32",
    host="cuda",
)
op(
    "householder_product(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=LAPACK,
    forms="function",
    namespace="linalg",
    grad={
        "input": "householder_backward(grad, input, tau)",
        "tau": "householder_tau_backward(grad, input, tau)",
    },
    doc="The first columns of the product of Householder reflectors, as geqrf gives them.",
    autocast="float32",
    host="cuda",
)
op(
    "orgqr(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=LAPACK,
    cpp="linalg_householder_product",
    grad=composite,
    doc="An older name of linalg.householder_product.",
)
op(
    "ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False, *,"
    " out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=LAPACK,
    grad={
        "input": "ormqr_backward(grad, input, tau, other, left, transpose)",
        "tau": "ormqr_tau_backward(grad, input, tau, other, left, transpose)",
        "other": "ormqr(input, tau, grad, left, not transpose)",
    },
    out="exact",
    doc="Product of a matrix with the Q whose reflectors geqrf gives, or with its adjoint.",
    autocast="float32",
    host="cuda",
)

# --- systems and inverses

op(
    "_linalg_solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False)"
    " -> tuple[Tensor, Tensor, Tensor, Tensor]",
    kind=native,
    dtypes=LAPACK,
    forms="inner",
    returns="result LU pivots info",
    grad={
        "A": "solve_matrix_backward(grads[0], A, LU, pivots, result, left)",
        "B": "solve_side_backward(grads[0], A, LU, pivots, result, left)",
    },
    doc="linalg.solve_ex, and the factors of A, or of its transpose if not left.",
    batch="dims",
    autocast="float32",
    host="cuda",
)
op(
    "solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False,"
    " out: list[Tensor] | None = None) -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=LAPACK,
    forms="function",
    namespace="linalg",
    returns="result info",
    grad=composite,
    out="exact",
    doc="Solves A X = B; also returns, per matrix, 0 or where A is singular.",
    batch="dims",
)
op(
    "solve(A: Tensor, B: Tensor, *, left: bool = True, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=LAPACK,
    forms="function",
    namespace="linalg",
    grad=composite,
    out="exact",
    doc="Solves A X = B, or X A = B if not left; LinAlgError if A is singular.",
)
op(
    "inv_ex(A: Tensor, *, check_errors: bool = False, out: list[Tensor] | None = None)"
    " -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=LAPACK,
    forms="function",
    namespace="linalg",
    returns="inverse info",
    grad={"A": "inverse_backward(grad, inverse)"},
    out="exact",
    doc="The inverse and, per matrix, 0 or where A is singular.",
    autocast="float32",
    host="cuda",
)
op(
    "inv(A: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=LAPACK,
    forms="function",
    namespace="linalg",
    grad=composite,
    out="exact",
    doc="The inverse of square matrices; LinAlgError if one is singular.",
)
op(
    "inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=LAPACK,
    cpp="linalg_inv",
    grad=composite,
    out="exact",
    doc="The inverse of square matrices; LinAlgError if one is singular.",
)
op(
    "lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False,"
    " out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=LAPACK,
    forms="function",
    namespace="linalg",
    grad={
        "LU": "lu_solve_factor_backward(grad, LU, pivots, result, left, adjoint)",
        "B": "linalg.lu_solve(LU, pivots, grad, left=left, adjoint=not adjoint)",
    },
    out="exact",
    doc="Solves A X = B, or with A^H or X A, for A factored by lu_factor.",
    batch="dims",
    autocast="float32",
    host="cuda",
)
op(
    "lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=LAPACK,
    grad=composite,
    out="exact",
    doc="Solves A X = b for A factored by lu_factor.",
)
op(
    "solve_triangular(input: Tensor, B: Tensor, *, upper: bool, left: bool = True,"
    " unitriangular: bool = False, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=LAPACK,
    forms="function",
    namespace="linalg",
    grad={
        "input": "solve_triangular_backward(grad, input, result, upper, left, unitriangular)",
        "B": "linalg.solve_triangular(adjoint_of(input), grad, upper=not upper, left=left, unitriangular=unitriangular)",
    },
    out="exact whole",
    doc="Solves A X = B, or X A = B, for triangular A; zeros on its diagonal give infinities.",
    batch="dims",
    host="cuda",
)
op(
    "triangular_solve(b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False,"
    " unitriangular: bool = False, *, out: list[Tensor] | None = None) -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=LAPACK,
    returns="solution cloned_coefficient",
    grad={
        "b": "triangular_solve_side_backward(grads[0], A, upper, transpose, unitriangular)",
        "A": "triangular_solve_backward(grads[0], grads[1], A, solution, upper, transpose, unitriangular)",
    },
    out="exact",
    doc="Solves A X = b for triangular A, and returns a copy of A; the older form of linalg.solve_triangular.",
    batch="dims",
    autocast="float32",
    host="cuda",
)
op(
    "cholesky_solve(input: Tensor, L: Tensor, upper: bool = False, *, out: Tensor | None = None)"
    " -> Tensor",
    kind=native,
    dtypes=LAPACK,
    grad={
        "input": "cholesky_solve(grad, L, upper)",
        "L": "cholesky_solve_backward(grad, L, result, upper)",
    },
    out="ordered",
    doc="Solves A X = input, given the Cholesky factor of A.",
    batch="dims",
    autocast="float32",
    host="cuda",
)
op(
    "cholesky_inverse(L: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=LAPACK,
    grad={"L": "cholesky_inverse_backward(grad, L, result, upper)"},
    doc="The inverse of A, given its Cholesky factor.",
    autocast="float32",
    host="cuda",
)
op(
    "lstsq(input: Tensor, b: Tensor, rcond: float | None = None, *, driver: str | None = None,"
    " out: list[Tensor] | None = None)"
    " -> tuple[Tensor, Tensor, Tensor, Tensor]",
    kind=native,
    dtypes=LAPACK,
    forms="function",
    namespace="linalg",
    returns="solution residuals rank singular_values",
    grad={
        "input": "lstsq_matrix_backward(grads[0], grads[1], input, b, solution)",
        "b": "lstsq_side_backward(grads[0], grads[1], input, b, solution)",
    },
    doc="Least squares: the X that minimizes |A X - B|.",
    autocast="float32",
    host="cuda",
)
op(
    "det(A: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=LAPACK,
    forms="function",
    namespace="linalg",
    grad={"A": "det_backward(grad, A, result)"},
    out="exact",
    doc="Determinant of square matrices; 1 for empty ones.",
    host="cuda",
)
op(
    "det(input: Tensor) -> Tensor",
    kind=native,
    dtypes=LAPACK,
    cpp="linalg_det",
    grad=composite,
    doc="Determinant of square matrices; 1 for empty ones.",
)
op(
    "slogdet(A: Tensor, *, out: list[Tensor] | None = None) -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=LAPACK,
    forms="function",
    namespace="linalg",
    returns="sign logabsdet",
    grad={"A": "slogdet_backward(grads[0], grads[1], A, sign)"},
    out="exact",
    doc="Sign and logarithm of the absolute determinant; 0 and -inf for a singular matrix.",
    host="cuda",
)
op(
    "slogdet(input: Tensor, *, out: list[Tensor] | None = None) -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=LAPACK,
    cpp="linalg_slogdet",
    returns="sign logabsdet",
    grad=composite,
    out="exact",
    doc="Sign and logarithm of the absolute determinant; 0 and -inf for a singular matrix.",
)
op(
    "logdet(input: Tensor) -> Tensor",
    kind=python,
    dtypes=LAPACK,
    body=f"{LINALG}:logdet",
    doc="Logarithm of the determinant; -inf for a singular matrix, NaN for a negative determinant.",
)

# --- eigenvalues and singular values

op(
    "eigh(input: Tensor, UPLO: str = 'L', *, out: list[Tensor] | None = None)"
    " -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=LAPACK,
    forms="function",
    namespace="linalg",
    returns="eigenvalues eigenvectors",
    grad={"input": "eigh_backward(given_grads[0], given_grads[1], eigenvalues, eigenvectors)"},
    out="exact",
    doc="Eigenvalues, smallest first, and eigenvectors of Hermitian matrices; reads one triangle.",
    autocast="float32",
    host="cuda",
)
op(
    "eigvalsh(input: Tensor, UPLO: str = 'L', *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=LAPACK,
    forms="function",
    namespace="linalg",
    grad=composite,
    out="exact",
    doc="Eigenvalues of Hermitian matrices, smallest first; reads one triangle.",
    autocast="float32",
)
op(
    "eig(input: Tensor, *, out: list[Tensor] | None = None) -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=LAPACK,
    forms="function",
    namespace="linalg",
    returns="eigenvalues eigenvectors",
    grad={"input": "eig_backward(given_grads[0], given_grads[1], eigenvalues, eigenvectors)"},
    doc="Eigenvalues and eigenvectors of square matrices, complex whatever the input is.",
    autocast="float32",
    host="cuda",
)
op(
    "eigvals(input: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=LAPACK,
    forms="function",
    namespace="linalg",
    grad=composite,
    doc="Eigenvalues of square matrices, complex whatever the input is.",
    autocast="float32",
)
op(
    "svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None,"
    " out: list[Tensor] | None = None) -> tuple[Tensor, Tensor, Tensor]",
    kind=native,
    dtypes=LAPACK,
    forms="function",
    namespace="linalg",
    returns="U S Vh",
    grad={"A": "svd_backward(given_grads[0], given_grads[1], given_grads[2], U, S, Vh)"},
    out="exact",
    doc="The singular value decomposition A = U diag(S) Vh, with S in descending order.",
    autocast="float32",
    host="cuda",
)
op(
    "svdvals(A: Tensor, *, driver: str | None = None, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=LAPACK,
    forms="function",
    namespace="linalg",
    grad=composite,
    out="exact",
    doc="Singular values in descending order.",
    autocast="float32",
)
op(
    "svd(input: Tensor, some: bool = True, compute_uv: bool = True, *,"
    " out: list[Tensor] | None = None) -> tuple[Tensor, Tensor, Tensor]",
    kind=native,
    dtypes=LAPACK,
    returns="U S V",
    grad=composite,
    out="exact",
    doc="input = U diag(S) V^H; an older form of linalg.svd. Without compute_uv U and V are zeros.",
)

# --- compositions

op(
    "cholesky(input: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=LAPACK,
    type_check="own",
    grad={"input": "cholesky_backward(grad, result, upper)"},
    out="ordered",
    doc="The older form of linalg.cholesky.",
    autocast="float32",
    host="cuda",
)
op(
    "qr(input: Tensor, some: bool = True, *, out: list[Tensor] | None = None)"
    " -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=LAPACK,
    returns="Q R",
    grad=composite,
    out="exact",
    doc="The older form of linalg.qr; some means 'reduced'.",
)
op(
    "lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any",
    kind=python,
    dtypes=LAPACK,
    body=f"{LINALG}:lu",
    out="own",
    doc="The older form of linalg.lu_factor; get_infos adds a tensor of error codes.",
    autocast="float32",
)
op(
    "vector_norm(x: Tensor, ord: Number = 2, dim: Dims | None = None, keepdim: bool = False, *,"
    " dtype: DType | None = None, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    forms="function",
    namespace="linalg",
    grad=composite,
    out="exact",
    doc="(sum |x|^ord)^(1/ord); inf and -inf are the largest and smallest, 0 counts what is not zero.",
)
op(
    "cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=numeric,
    forms="function",
    namespace="linalg",
    grad={
        "input": "linalg.cross(other.conj(), grad, dim=dim)",
        "other": "linalg.cross(grad, input.conj(), dim=dim)",
    },
    out="exact apart",
    doc="Vector product along a dimension of size 3.",
    batch="dims",
)
op(
    "matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=numeric,
    forms="function",
    namespace="linalg",
    cpp="matmul",
    grad=composite,
    out="exact",
    doc="Matrix product, as the @ operator.",
)

op(
    "matrix_exp(A: Tensor) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    forms="function",
    namespace="linalg",
    grad={"A": "matrix_exp_backward(grad, A)"},
    doc="Matrix exponential, by a Taylor polynomial of the scaled matrix and repeated squaring.",
    autocast="off",
)
op(
    "matrix_exp(input: Tensor) -> Tensor",
    kind=native,
    dtypes=floating_complex,
    cpp="linalg_matrix_exp",
    grad=composite,
    doc="Matrix exponential, by a Taylor polynomial of the scaled matrix and repeated squaring.",
)
op(
    "_linalg_pinv(A: Tensor, atol: Tensor | None = None, rtol: Tensor | None = None,"
    " hermitian: bool = False) -> Tensor",
    kind=native,
    dtypes=LAPACK,
    forms="function",
    grad={"A": "pinv_backward(grad, result, A)"},
    doc="Moore-Penrose inverse; singular values up to max(atol, rtol * the largest) count as 0.",
    autocast="own",
    host="cuda",
)


def composed(
    signature: str,
    doc: str,
    namespace: str = "linalg",
    body: str = "",
    forms: str = "function",
    autocast: str = "",
    dtypes: tuple[str, ...] = floating_complex,
    out: str = "",
) -> None:
    """An operator whose body is Python; `body` is the function's name where it is another."""
    name = body or signature.split("(")[0]
    op(
        signature,
        kind=python,
        dtypes=dtypes,
        forms=forms,
        namespace=namespace,
        body=f"{LINALG}:{name}",
        out=out,
        doc=doc,
        autocast=autocast,
    )


composed(
    "matrix_norm(A: Tensor, ord: Any = 'fro', dim: Dims = (-2, -1), keepdim: bool = False, *,"
    " dtype: DType | None = None, out: Tensor | None = None) -> Tensor",
    "Norm of matrices: 'fro', 'nuc', inf, -inf, 1, -1, 2 or -2.",
    out="exact",
)
composed(
    "norm(A: Tensor, ord: Any = None, dim: Dims | None = None, keepdim: bool = False, *,"
    " dtype: DType | None = None, out: Tensor | None = None) -> Tensor",
    "vector_norm of one dimension or, without ord, of all; matrix_norm of two.",
    out="exact",
)
composed(
    "cond(A: Tensor, p: Any = None, *, out: Tensor | None = None) -> Tensor",
    "Condition number in one of matrix_norm's norms; inf for a singular matrix.",
    dtypes=LAPACK,
)
composed(
    "matrix_rank(A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None,"
    " rtol: Any = None, out: Tensor | None = None) -> Tensor",
    "How many singular values exceed max(atol, rtol * the largest).",
    dtypes=LAPACK,
)
composed(
    "pinv(A: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None,"
    " rtol: Any = None, out: Tensor | None = None) -> Tensor",
    "Moore-Penrose inverse by singular values; those up to max(atol, rtol * the largest) count as 0.",
    dtypes=LAPACK,
)
composed(
    "pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor",
    "The older form of linalg.pinv.",
    namespace="",
    forms="function method",
    autocast="float32",
    dtypes=LAPACK,
)
composed(
    "matrix_power(A: Tensor, n: int, *, out: Tensor | None = None) -> Tensor",
    "Product of n copies of a matrix; of its inverse for negative n.",
    out="exact",
)
composed(
    "matrix_power(input: Tensor, n: int, *, out: Tensor | None = None) -> Tensor",
    "Product of n copies of a matrix; of its inverse for negative n.",
    namespace="",
    forms="function method",
    out="exact",
)
composed(
    "multi_dot(tensors: list[Tensor], *, out: Tensor | None = None) -> Tensor",
    "Product of several matrices in the order that costs least; the ends may be vectors.",
    out="exact",
)
composed(
    "tensorinv(A: Tensor, ind: int = 2, *, out: Tensor | None = None) -> Tensor",
    "Inverse of a tensor as a map between its first ind dimensions and the others.",
    dtypes=LAPACK,
    out="ordered",
)
composed(
    "tensorsolve(A: Tensor, B: Tensor, dims: Ints | None = None, *, out: Tensor | None = None) -> Tensor",
    "Solves tensordot(A, X, B.ndim) = B.",
    dtypes=LAPACK,
)
composed(
    "vander(x: Tensor, N: int | None = None) -> Tensor",
    "Powers 0 ... N-1 of each element, as a new last dimension.",
    dtypes=integers + LAPACK,
)
composed(
    "vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor",
    "Dot products along a dimension, with the conjugate of x.",
    autocast="lower",
    out="exact",
)
op(
    "diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor",
    kind=python,
    dtypes=all_types,
    forms="function",
    namespace="linalg",
    body=f"{LINALG}:diagonal",
    doc="A view of the diagonals of matrices.",
)
