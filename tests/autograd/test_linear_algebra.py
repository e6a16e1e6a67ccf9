"""Derivatives of matrix operators that samples do not cover: names, limits, refusals."""

from __future__ import annotations

import math
from typing import Any

import pytest

import flambeau as torch


def random(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(1))


def leaf(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return random(*shape, dtype=dtype).requires_grad_()


def name(result: torch.Tensor) -> str:
    assert result.grad_fn is not None
    return result.grad_fn.name()


NAMES = {
    "MmBackward0": lambda: leaf(2, 3) @ leaf(3, 4),
    "BmmBackward0": lambda: torch.bmm(leaf(2, 3, 4), leaf(2, 4, 5)),
    "MvBackward0": lambda: leaf(2, 3) @ leaf(3),
    "DotBackward0": lambda: leaf(3) @ leaf(3),
    "VdotBackward0": lambda: torch.vdot(leaf(3), leaf(3)),
    "UnsafeViewBackward0": lambda: leaf(2, 3, 4) @ leaf(4, 5),
    "AddmmBackward0": lambda: torch.addmm(leaf(4), leaf(2, 3), leaf(3, 4)),
    "LinalgCrossBackward0": lambda: torch.cross(leaf(2, 3), leaf(2, 3), dim=1),
    "CdistBackward0": lambda: torch.cdist(leaf(2, 3), leaf(4, 3)),
    "LinalgSolveExBackward0": lambda: torch.linalg.solve(leaf(3, 3), leaf(3)),
    "LinalgInvExBackward0": lambda: torch.linalg.inv(leaf(3, 3)),
    "LinalgDetBackward0": lambda: torch.det(leaf(3, 3)),
    "LinalgEighBackward0": lambda: torch.linalg.eigvalsh(leaf(3, 3)),
    "LinalgSvdBackward0": lambda: torch.linalg.svdvals(leaf(3, 3)),
    "LinalgPinvBackward0": lambda: torch.linalg.pinv(leaf(3, 2)),
    "LinalgMatrixExpBackward0": lambda: torch.matrix_exp(leaf(3, 3)),
    "TraceBackward0": lambda: torch.trace(leaf(3, 3)),
    "DistBackward0": lambda: torch.dist(leaf(3), random(3) + 1),
    "FftR2CBackward0": lambda: torch.fft.rfft(leaf(6)),
    "FftC2CBackward0": lambda: torch.fft.ifft(leaf(6, dtype=torch.complex128)),
    "FftC2RBackward0": lambda: torch.fft.irfft(leaf(4, dtype=torch.complex128)),
}


@pytest.mark.parametrize("expected", NAMES)
def test_the_graph_names_the_operator(expected: str) -> None:
    assert name(NAMES[expected]()) == expected


def test_many_rows_are_one_product() -> None:
    """The gradient of a weight that a batch shares is no sum of a batch of gradients."""
    x, weight = leaf(2, 3, 4), leaf(4, 5)
    (product, _), *_ = (x @ weight).grad_fn.next_functions
    assert product.name() == "MmBackward0"


def test_a_transposed_weight_gets_a_contiguous_gradient() -> None:
    x, weight = random(6, 4), leaf(5, 4)
    (x @ weight.t()).sum().backward()
    assert weight.grad.is_contiguous()
    torch.testing.assert_close(weight.grad, x.sum(0).expand(5, 4))


def test_the_gradient_of_a_vanishing_determinant_is_its_cofactors() -> None:
    a = torch.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=torch.float64, requires_grad=True)
    torch.det(a).backward()
    cofactors = torch.tensor([[4.0, -2.0], [-2.0, 1.0]], dtype=torch.float64)
    torch.testing.assert_close(a.grad, cofactors)


@pytest.mark.parametrize("function", ["eigvalsh", "svdvals"])
def test_equal_values_have_gradients_as_long_as_no_vector_is_used(function: str) -> None:
    a = torch.eye(3, dtype=torch.float64, requires_grad=True)
    getattr(torch.linalg, function)(a).sum().backward()
    torch.testing.assert_close(a.grad, torch.eye(3, dtype=torch.float64))


@pytest.mark.parametrize(
    ("function", "vectors"), [("eigh", 1), ("eig", 1), ("svd", 0)], ids=lambda each: str(each)
)
def test_a_function_of_the_phase_of_complex_vectors_is_refused(function: str, vectors: int) -> None:
    a = leaf(3, 3, dtype=torch.complex128)
    result = getattr(torch.linalg, function)(a + a.mH)[vectors]
    with pytest.raises(RuntimeError, match="ill-defined"):
        (result * random(3, 3, dtype=torch.complex128)).sum().abs().backward()


def test_qr_without_q_or_with_a_free_part_is_refused() -> None:
    with pytest.raises(RuntimeError, match="mode='r'"):
        torch.linalg.qr(leaf(3, 2), mode="r").R.sum().backward()
    with pytest.raises(RuntimeError, match="mode='complete' and nrows > ncols"):
        torch.linalg.qr(leaf(3, 2), mode="complete").R.sum().backward()


def test_an_unknown_derivative_is_refused_when_it_is_asked_for() -> None:
    packed = torch.geqrf(leaf(3, 2)).a
    assert name(packed) == "GeqrfBackward0"
    with pytest.raises(NotImplementedError, match="the derivative for 'geqrf' is not implemented"):
        packed.sum().backward()


@pytest.mark.parametrize("function", [torch.linalg.pinv, torch.linalg.matrix_norm])
def test_a_result_stored_elsewhere_cannot_be_differentiated(function: Any) -> None:
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        function(leaf(3, 3), out=torch.empty(0, dtype=torch.float64))


def test_results_that_choose_have_no_gradient() -> None:
    assert not torch.linalg.lu(leaf(3, 3)).P.requires_grad
    assert not torch.linalg.lstsq(leaf(3, 2), leaf(3), driver="gelsd").singular_values.requires_grad


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, math.inf])
def test_points_that_coincide_do_not_push_each_other(p: float) -> None:
    x = leaf(3, 2)
    torch.cdist(x, x.detach().clone(), p=p).diagonal().sum().backward()
    torch.testing.assert_close(x.grad, torch.zeros_like(x))


def test_many_points_that_coincide_do_not_push_each_other() -> None:
    x = torch.arange(60.0).reshape(30, 2).requires_grad_()  # distances are exact
    torch.cdist(x, x.detach().clone()).diagonal().sum().backward()
    torch.testing.assert_close(x.grad, torch.zeros_like(x))


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("n", [None, 3, 4, 5, 8])
@pytest.mark.parametrize("function", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_transforms_that_trim_pad_and_scale(function: str, n: int | None, norm: str) -> None:
    is_real = function in ("rfft", "ihfft")
    x = leaf(2, 5, dtype=torch.float64 if is_real else torch.complex128)
    assert torch.autograd.gradcheck(
        lambda x: getattr(torch.fft, function)(x, n, -1, norm), x, fast_mode=True
    )
    assert torch.autograd.gradgradcheck(
        lambda x: getattr(torch.fft, function)(x, n, -1, norm), x, fast_mode=True
    )


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_decompositions_rebuild_the_matrix_with_its_gradient(dtype: torch.dtype) -> None:
    """The parts of a matrix depend on it in a way that leaves their product alone."""
    for shape in ((3, 3), (4, 3), (3, 4), (2, 3, 3)):
        a = leaf(*shape, dtype=dtype)
        u, s, vh = torch.linalg.svd(a, full_matrices=False)
        q, r = torch.linalg.qr(a)
        p, low, up = torch.linalg.lu(a)
        for rebuilt in ((u * s.unsqueeze(-2)) @ vh, q @ r, p @ low @ up):
            grad = random(*shape, dtype=dtype)
            (found,) = torch.autograd.grad(rebuilt, a, grad)
            torch.testing.assert_close(found, grad)
