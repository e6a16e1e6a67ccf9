"""Linear algebra beyond values: error classes, named results, laying out of memory."""

import math

import numpy as np
import pytest

import flambeau as fb


def test_singular_input_raises_linalg_error() -> None:
    assert issubclass(fb.linalg.LinAlgError, RuntimeError)
    zeros = fb.zeros(2, 3, 3)
    with pytest.raises(fb.linalg.LinAlgError, match=r"batch element 0.*singular"):
        fb.linalg.inv(zeros)
    with pytest.raises(fb.linalg.LinAlgError, match="singular"):
        fb.linalg.solve(zeros[0], fb.ones(3))
    with pytest.raises(fb.linalg.LinAlgError, match="not positive-definite"):
        fb.linalg.cholesky(-fb.eye(3))


def test_info_instead_of_an_error() -> None:
    singular = fb.stack([fb.eye(2), fb.zeros(2, 2)])
    assert fb.linalg.inv_ex(singular).info.tolist() == [0, 1]
    assert fb.linalg.cholesky_ex(singular).info.tolist() == [0, 1]
    assert fb.linalg.solve_ex(singular, fb.ones(2, 2, 1)).info.tolist() == [0, 1]
    assert fb.linalg.lu_factor_ex(singular).info.tolist() == [0, 1]


def test_named_results() -> None:
    a = fb.eye(3)
    assert fb.linalg.eigh(a).eigenvalues.tolist() == [1.0, 1.0, 1.0]
    assert fb.linalg.svd(a).S.tolist() == [1.0, 1.0, 1.0]
    assert fb.linalg.qr(a).R.shape == (3, 3)
    assert fb.linalg.lstsq(a, fb.ones(3, 1)).rank.item() == 3
    assert fb.linalg.slogdet(a).logabsdet.item() == 0.0
    assert type(fb.linalg.eigh(a)).__name__ == "linalg_eigh"


def test_factors_are_stored_by_columns() -> None:
    assert fb.linalg.inv(fb.eye(3).expand(2, 3, 3)).stride() == (9, 1, 3)
    assert fb.linalg.cholesky(fb.eye(4)).stride() == (1, 4)


def test_pivots_outside_of_the_matrix_are_refused() -> None:
    pivots = fb.tensor([5, 1, 1], dtype=fb.int32)
    with pytest.raises(RuntimeError, match="expected pivots from 1 to 3"):
        fb.linalg.lu_solve(fb.eye(3), pivots, fb.ones(3, 1))


def test_matrix_exp_of_a_large_matrix() -> None:
    a = fb.tensor([[0.0, 30.0], [-30.0, 0.0]], dtype=fb.float64)  # a rotation by 30 radians
    expected = [[np.cos(30), np.sin(30)], [-np.sin(30), np.cos(30)]]
    np.testing.assert_allclose(fb.linalg.matrix_exp(a).numpy(), expected, atol=1e-12)


@pytest.mark.parametrize("name", ["symeig", "eig", "lstsq", "solve", "matrix_rank"])
def test_removed_functions_name_their_replacement(name: str) -> None:
    with pytest.raises(RuntimeError, match=r"is now removed\. Use linalg\."):
        getattr(fb, name)(fb.eye(2))


EMPTY = [(0, 0), (0, 3), (3, 0), (2, 0, 3), (2, 3, 0), (0, 2, 3)]
NORMS = ["fro", "nuc", 1, 2, math.inf]


@pytest.mark.parametrize("shape", EMPTY)
@pytest.mark.parametrize("order", NORMS)
def test_norms_of_empty_matrices_are_zero(order: float | str, shape: tuple[int, ...]) -> None:
    if order in (1, math.inf) and shape[-1 if order == 1 else -2] and shape[0]:
        shape = (*shape[:-2], *reversed(shape[-2:]))  # sums without terms, of which there are some
    for result in (
        fb.linalg.matrix_norm(fb.zeros(shape), order),
        fb.linalg.norm(fb.zeros(shape), order, dim=(-2, -1)),
    ):
        assert result.tolist() == fb.zeros(shape[:-2]).tolist()
    kept = fb.linalg.matrix_norm(fb.zeros(shape), order, keepdim=True)
    assert kept.shape == (*shape[:-2], 1, 1)


@pytest.mark.parametrize("order", [-1, -2, -math.inf])
def test_least_of_no_sizes_is_refused(order: float) -> None:
    with pytest.raises(IndexError, match="non-zero size"):
        fb.linalg.matrix_norm(fb.zeros(0, 0), order)


@pytest.mark.parametrize("p", [None, 1, -1, 2, -2, math.inf, -math.inf])
def test_condition_of_empty_matrices(p: float | None) -> None:
    for shape in ((0, 0), (0, 3), (2, 0, 0)):
        assert fb.linalg.cond(fb.zeros(shape), p).tolist() == fb.zeros(shape[:-2]).tolist()


@pytest.mark.parametrize("order", [0, 1, 2, 3, math.inf, -math.inf])
def test_norm_of_complex_numbers_into_a_real_tensor(order: float) -> None:
    z = fb.tensor([3 + 4j, 2j, -1j])
    expected = fb.linalg.vector_norm(z.abs(), order)
    for name in ("vector_norm", "norm"):
        out = fb.zeros(())
        getattr(fb.linalg, name)(z, order, out=out)
        fb.testing.assert_close(out, expected)
    out = fb.zeros(())
    fb.norm(z, order, 0, out=out)
    fb.testing.assert_close(out, expected)


def test_the_nuclear_norm_of_complex_numbers_into_a_real_tensor() -> None:
    a = fb.tensor([[1 + 2j, 3j], [-2 + 1j, 1 - 1j]])
    out = fb.empty(())
    fb.norm(a, "nuc", out=out)
    fb.testing.assert_close(out, fb.linalg.svdvals(a).sum())
