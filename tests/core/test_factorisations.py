"""Factorisations around the sizes at which the algorithm changes, judged by their residuals."""

from typing import Any

import numpy as np
import pytest

import flambeau as fb

SIZES = (1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 129, 200, 300, 513)
SHAPES = (
    (5, 3),
    (3, 5),
    (33, 32),
    (32, 33),
    (200, 7),
    (7, 200),
    (300, 129),
    (129, 300),
    (513, 400),
)
TYPES = ("float32", "float64")
# What rounding may leave, in units of the type's epsilon and of the matrix's size and norm; LAPACK
# stays below 1.
ALLOWED = 4.0


def random(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


def give(array: Any, dtype: str) -> Any:
    return fb.tensor(array.astype(dtype))


def take(tensor: Any) -> Any:
    return tensor.numpy().astype(np.float64)


def check_small(residual: Any, *factors: Any, dtype: str) -> None:
    """Whether a residual is rounding, beside the product of the norms of `factors`."""
    size = max(residual.shape, default=1)
    bound = np.finfo(dtype).eps * size * np.prod([np.linalg.norm(f) for f in factors])
    assert np.isfinite(residual).all()
    assert np.linalg.norm(residual) <= ALLOWED * bound


def check_orthogonal(q: Any, dtype: str) -> None:
    check_small(q.T @ q - np.eye(q.shape[1]), np.eye(q.shape[1]), dtype=dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(n, n) for n in SIZES] + list(SHAPES))
def test_lu(shape: tuple[int, int], dtype: str) -> None:
    given = give(random(*shape), dtype)
    p, lower, upper = (take(x) for x in fb.linalg.lu(given))
    check_small(p @ lower @ upper - take(given), take(given), dtype=dtype)
    assert np.abs(lower).max() <= 1


@pytest.mark.parametrize("n", [5, 9, 40, 70])
def test_lu_of_a_tall_matrix(n: int) -> None:
    given = random(9000, n)
    packed, pivots = (x.numpy() for x in fb.linalg.lu_factor(fb.tensor(given)))
    exchanged = given.copy()
    for i, pivot in enumerate(pivots):
        exchanged[[i, pivot - 1]] = exchanged[[pivot - 1, i]]
    lower, upper = np.tril(packed, -1) + np.eye(*packed.shape), np.triu(packed[:n])
    check_small(lower @ upper - exchanged, given, dtype="float64")
    assert np.abs(lower).max() <= 1


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("columns", [1, 4, 33, 100])
def test_solve(n: int, columns: int, dtype: str) -> None:
    a, b = give(random(n, n), dtype), give(random(n, columns, seed=1), dtype)
    x = take(fb.linalg.solve(a, b))
    check_small(take(a) @ x - take(b), take(a), x, dtype=dtype)
    right = take(fb.linalg.solve(a, b.mT, left=False))
    check_small(right @ take(a) - take(b.mT), take(a), right, dtype=dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", SIZES)
def test_inverse_and_determinant(n: int, dtype: str) -> None:
    a = give(random(n, n) / np.sqrt(n) + 2 * np.eye(n), dtype)
    inverse = take(fb.linalg.inv(a))
    check_small(take(a) @ inverse - np.eye(n), take(a), inverse, dtype=dtype)
    sign, log = fb.linalg.slogdet(a)
    wanted = np.linalg.slogdet(take(a))
    assert sign.item() == wanted[0]
    assert log.item() == pytest.approx(wanted[1], rel=n * 10 * float(np.finfo(dtype).eps), abs=1e-4)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("n", SIZES)
def test_cholesky(n: int, upper: bool, dtype: str) -> None:
    square = random(n, n)
    full = give(square @ square.T + n * np.eye(n), dtype)
    # What the other triangle holds does not matter.
    other = fb.full_like(full, float("nan"))
    read = (full.triu() if upper else full.tril()) + fb.where(
        fb.ones_like(full, dtype=fb.bool).tril(-1)
        if upper
        else fb.ones_like(full, dtype=fb.bool).triu(1),
        other,
        0,
    )
    factor = take(fb.linalg.cholesky(read, upper=upper))
    assert np.array_equal(factor, np.triu(factor) if upper else np.tril(factor))
    product = factor.T @ factor if upper else factor @ factor.T
    check_small(product - take(full), take(full), dtype=dtype)


@pytest.mark.parametrize("n", SIZES[1:])
def test_cholesky_of_indefinite(n: int) -> None:
    for i in {0, n // 2, n - 1}:
        a = np.eye(n)
        a[i, i] = -1
        for upper in (False, True):
            assert fb.linalg.cholesky_ex(fb.tensor(a), upper=upper).info.item() == i + 1


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(n, n) for n in SIZES] + list(SHAPES))
def test_qr(shape: tuple[int, int], dtype: str) -> None:
    given = give(random(*shape), dtype)
    for mode in ("reduced", "complete"):
        q, r = (take(x) for x in fb.linalg.qr(given, mode=mode))
        assert np.array_equal(r, np.triu(r))
        check_orthogonal(q, dtype)
        check_small(q @ r - take(given), take(given), dtype=dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(5, 5), (100, 40), (300, 129)])
def test_products_with_q(shape: tuple[int, int], dtype: str) -> None:
    packed, tau = fb.geqrf(give(random(*shape), dtype))
    m = shape[0]
    q = take(
        fb.linalg.householder_product(
            fb.cat([packed, fb.zeros(m, m - shape[1], dtype=packed.dtype)], 1), tau
        )
    )
    check_orthogonal(q, dtype)
    c = give(random(m, 70), dtype)
    for transpose in (False, True):
        op = q.T if transpose else q
        left = take(fb.ormqr(packed, tau, c, True, transpose))
        check_small(left - op @ take(c), take(c), dtype=dtype)
        right = take(fb.ormqr(packed, tau, c.mT, False, transpose))
        check_small(right - take(c).T @ op, take(c), dtype=dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [1, 2, 33, 127, 128, 129, 130, 161, 200, 300, 513])
@pytest.mark.parametrize("uplo", "LU")
def test_eigh(n: int, uplo: str, dtype: str) -> None:
    a = random(n, n)
    given = give(a + a.T, dtype)
    read = given.tril() if uplo == "L" else given.triu()
    values, vectors = (take(x) for x in fb.linalg.eigh(read, uplo))
    check_orthogonal(vectors, dtype)
    check_small(take(given) @ vectors - vectors * values, take(given), dtype=dtype)
    assert (np.diff(values) >= 0).all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "shape",
    [
        (1, 1),
        (128, 128),
        (129, 129),
        (130, 129),
        (200, 150),
        (150, 200),
        (300, 140),
        (140, 300),
        (513, 513),
    ],
)
@pytest.mark.parametrize("full", [False, True])
def test_svd(shape: tuple[int, int], full: bool, dtype: str) -> None:
    given = give(random(*shape), dtype)
    u, s, vh = (take(x) for x in fb.linalg.svd(given, full_matrices=full))
    check_orthogonal(u, dtype)
    check_orthogonal(vh.T, dtype)
    k = min(shape)
    check_small((u[:, :k] * s) @ vh[:k] - take(given), take(given), dtype=dtype)
    assert (np.diff(s) <= 0).all()
    assert (s >= 0).all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1e18, 1e30])
def test_sizes_whose_squares_do_not_fit(scale: float, dtype: str) -> None:
    n = 150
    a = random(n, n)
    given = give((a + a.T) * scale, dtype)
    exact = take(given)
    q, r = (take(x) for x in fb.linalg.qr(given))
    check_orthogonal(q, dtype)
    check_small((q @ r - exact) / scale, exact / scale, dtype=dtype)
    values, vectors = (take(x) for x in fb.linalg.eigh(given))
    check_small((exact @ vectors - vectors * values) / scale, exact / scale, dtype=dtype)
    u, s, vh = (take(x) for x in fb.linalg.svd(given))
    check_small(((u * s) @ vh - exact) / scale, exact / scale, dtype=dtype)
    b = give(random(n, 2), dtype)
    x = take(fb.linalg.lstsq(given, b).solution)
    check_small(exact @ x - take(b), exact, x, dtype=dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "shape", [(3, 3), (64, 64), (65, 65), (130, 100), (300, 70), (70, 300), (513, 513)]
)
@pytest.mark.parametrize("columns", [1, 4, 40])
def test_least_squares(shape: tuple[int, int], columns: int, dtype: str) -> None:
    a, b = give(random(*shape), dtype), give(random(shape[0], columns, seed=1), dtype)
    solved = fb.linalg.lstsq(a, b)
    assert solved.rank.item() == min(shape)
    x = take(solved.solution)
    # The residual is orthogonal to the columns, and a solution that is not unique is the shortest.
    residual = take(a) @ x - take(b)
    check_small(take(a).T @ residual, take(a), take(a), x, dtype=dtype)
    wanted = np.linalg.lstsq(take(a), take(b), rcond=None)[0]
    condition = np.linalg.cond(take(a))
    error = np.linalg.norm(x - wanted) / np.linalg.norm(wanted)
    assert error <= ALLOWED * condition**2 * np.finfo(dtype).eps * max(shape)


@pytest.mark.parametrize("dtype", TYPES)
def test_least_squares_of_lower_rank(dtype: str) -> None:
    a = give(random(200, 50) @ random(50, 100, seed=1), dtype)
    b = give(random(200, 3, seed=2), dtype)
    solved = fb.linalg.lstsq(a, b)
    assert solved.rank.item() == 50
    wanted = np.linalg.pinv(take(a), rcond=1e-4) @ take(b)
    assert np.linalg.norm(take(solved.solution) - wanted) <= 1e-3 * np.linalg.norm(wanted)


@pytest.mark.parametrize("n", [1, 5, 16, 33, 64, 65, 130, 300])
def test_singular(n: int) -> None:
    for column in {0, n // 2, n - 1}:
        a = random(n, n)
        a[:, column] = 0
        given = fb.tensor(a)
        assert fb.linalg.inv_ex(given).info.item() == column + 1
        assert fb.linalg.solve_ex(given, fb.ones(n, 2, dtype=fb.float64)).info.item() == column + 1
        assert fb.linalg.det(given).item() == 0


@pytest.mark.parametrize("n", [1, 5, 17, 64, 65, 130])
def test_not_a_number(n: int) -> None:
    a = random(n, n) + n * np.eye(n)
    a[n // 2, n // 2] = np.nan
    given = fb.tensor(a)
    assert fb.linalg.det(given).isnan().item()
    assert fb.linalg.solve(given, fb.ones(n, 2, dtype=fb.float64)).isnan().any().item()
    assert fb.linalg.inv(given).isnan().any().item()
    assert fb.linalg.qr(given).R.isnan().any().item()
    # Columns before do not see it.
    finite = fb.linalg.qr(given).R[:, : n // 2]
    assert finite.isfinite().all().item()


def results(dtype: str) -> list[Any]:
    found: list[Any] = []
    for shape in ((300,), (3, 150), (200, 17)):
        n = shape[-1]
        a = give(random(*shape, n) + 3 * np.eye(n), dtype)
        s = a @ a.mT + fb.eye(n, dtype=a.dtype)
        b = give(random(*shape, 4, seed=1), dtype)
        found += [
            fb.linalg.solve(a, b),
            fb.linalg.inv(a),
            fb.linalg.cholesky(s),
            fb.linalg.det(a / 2),
        ]
        found += [
            *fb.linalg.qr(a),
            *fb.linalg.eigh(s),
            *fb.linalg.svd(a),
            fb.linalg.lstsq(a, b).solution,
        ]
    return found


@pytest.mark.parametrize("dtype", TYPES)
def test_bits_do_not_depend_on_threads(dtype: str, restored_threads: None) -> None:
    fb.set_num_threads(1)
    wanted = results(dtype)
    for threads in (2, 3, 7, 16):
        fb.set_num_threads(threads)
        for one, other in zip(wanted, results(dtype), strict=True):
            assert fb.equal(one, other)
