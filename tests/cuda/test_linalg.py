"""Matrices on the device: the host's LAPACK and our own kernels give the CPU's results."""

from typing import Any

import numpy as np
import pytest

import flambeau as fb
from flambeau import _C
from tests.cuda.moving import gradients_on

DTYPES = [fb.float32, fb.float64, fb.complex64, fb.complex128]


def matrices(dtype: Any, *sizes: int) -> Any:
    fb.manual_seed(0)
    return fb.randn(*sizes, dtype=dtype)


def compared(function: Any, *inputs: Any, tolerance: float = 2e-4) -> None:
    ours, theirs = (gradients_on(device, function, list(inputs)) for device in ("cuda", "cpu"))
    for a, b in zip(ours, theirs, strict=True):
        scale = tolerance if b.dtype in (fb.float32, fb.complex64) else 1e-9
        np.testing.assert_allclose(a.resolve_conj(), b.resolve_conj(), scale, scale)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 3, 33])
def test_factors_inverses_and_their_gradients(dtype: Any, n: int) -> None:
    a = matrices(dtype, 2, n, n) + 2 * n**0.5 * fb.eye(n, dtype=dtype)
    compared(fb.linalg.inv, a)
    compared(fb.linalg.slogdet, a)
    compared(lambda a: fb.linalg.cholesky(a @ a.mH), a)
    compared(fb.linalg.qr, a)
    compared(lambda a, b: fb.linalg.solve_triangular(a.triu(), b, upper=True), a, a.mT)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 3, 33])
def test_decompositions_and_their_gradients(dtype: Any, n: int) -> None:
    a = matrices(dtype, 2, n, n) + 2 * n**0.5 * fb.eye(n, dtype=dtype)
    compared(fb.linalg.solve, a, matrices(dtype, 2, n, 4))
    compared(lambda a: fb.linalg.lu_factor(a)[0], a)
    compared(fb.linalg.det, a / n**0.5)
    compared(fb.linalg.svdvals, a)
    compared(lambda a: fb.linalg.eigvalsh(a @ a.mH), a)


def test_matrices_with_gaps_and_without_elements() -> None:
    wide = matrices(fb.float64, 3, 7, 70)
    compared(lambda a: fb.linalg.qr(a[:, :, ::10].transpose(0, 1).mT), wide)
    r = fb.linalg.qr(wide.cuda(), mode="r").R.cpu()
    np.testing.assert_allclose(r, fb.linalg.qr(wide, mode="r").R, 1e-12, 1e-12)
    empty = fb.zeros(2, 0, 0).cuda()
    assert fb.linalg.det(empty).tolist() == [1, 1]
    assert fb.linalg.slogdet(empty).logabsdet.tolist() == [0, 0]
    assert fb.linalg.inv(empty).shape == (2, 0, 0)
    assert fb.linalg.solve(fb.zeros(0, 3, 3).cuda(), fb.zeros(0, 3, 2).cuda()).shape == (0, 3, 2)


def test_determinants_of_large_matrices() -> None:
    a = matrices(fb.float64, 2, 100, 100)
    a[0, :, 5] = a[0, :, 6]
    sign, log = fb.linalg.slogdet(a.cuda())
    expected = fb.linalg.slogdet(a)
    np.testing.assert_allclose(log.cpu()[1:], expected.logabsdet[1:], 1e-12)
    assert sign[1].item() == expected.sign[1].item()
    assert log[0].item() < log[1].item() - 20


def test_a_singular_matrix_is_an_error() -> None:
    with pytest.raises(fb.linalg.LinAlgError, match="zero"):
        fb.linalg.inv(fb.zeros(3, 3).cuda())


def test_streams_wait_for_what_the_host_computes() -> None:
    a = matrices(fb.float32, 8, 8) + 8 * fb.eye(8)
    stream = fb.cuda.Stream()
    with fb.cuda.stream(stream):
        inverse = fb.linalg.inv(a.cuda()) @ a.cuda()
    stream.synchronize()
    np.testing.assert_allclose(inverse.cpu(), fb.eye(8), 1e-5, 1e-5)


def test_the_table_says_that_the_host_computes() -> None:
    runs = {each["name"]: each["runs"] for each in _C.op_info() if each["namespace"] == "linalg"}
    assert runs["inv_ex"] == "host"
    assert runs["inv"] == "parts"
    assert runs["cross"] == "kernel"
    trips = _C._cuda_round_trips()
    fb.linalg.cross(fb.ones(3).cuda(), fb.ones(3).cuda())
    assert _C._cuda_round_trips() == trips
    fb.linalg.inv_ex(fb.eye(3).cuda())
    assert _C._cuda_round_trips() == trips + 1


def test_drivers_have_the_names_of_pytorch() -> None:
    with pytest.raises(RuntimeError, match="expected driver 'gesvd'"):
        fb.linalg.svd(fb.eye(2).cuda(), driver="other")
