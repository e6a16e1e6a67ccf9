"""Gradient clipping."""

import math

import numpy as np
import pytest

import flambeau as torch
from flambeau.nn import utils

inf = math.inf


def parameters(*shapes: tuple[int, ...]) -> list[torch.Tensor]:
    torch.manual_seed(0)
    made = [torch.zeros(shape, requires_grad=True) for shape in shapes]
    for p in made:
        p.grad = torch.randn(p.shape)
    return made


def joined(grads: list[torch.Tensor]) -> np.ndarray:
    return np.concatenate([p.grad.numpy().ravel() for p in grads])


@pytest.mark.parametrize("order", [2.0, 1, 3, 0.5, inf, -inf])
@pytest.mark.parametrize("max_norm", [0.5, 1e6])
def test_clip_grad_norm(order: float, max_norm: float) -> None:
    given = parameters((3,), (4, 5), (2, 3, 4), ())
    before = joined(given)
    norm = utils.clip_grad_norm_(given, max_norm, norm_type=order)
    expected = np.linalg.norm(before, order)
    assert norm.item() == pytest.approx(expected, rel=1e-5)
    factor = min(1.0, max_norm / (expected + 1e-6))
    np.testing.assert_allclose(joined(given), before * factor, rtol=1e-5)


def test_of_an_iterator_and_of_one_tensor() -> None:
    given = parameters((3,), (2,))
    utils.clip_grad_norm_(iter(given), 0.1)
    assert np.linalg.norm(joined(given)) == pytest.approx(0.1, rel=1e-4)
    utils.clip_grad_norm_(given[0], 0.01)
    assert np.linalg.norm(joined(given[:1])) == pytest.approx(0.01, rel=1e-4)


def test_parameters_without_gradients_do_not_count() -> None:
    given = [*parameters((3,)), torch.zeros(4, requires_grad=True)]
    assert utils.clip_grad_norm_(given, 1.0).item() > 0
    assert given[1].grad is None
    assert utils.clip_grad_norm_([given[1]], 1.0).item() == 0
    with pytest.warns(UserWarning, match="empty generator"):
        utils.clip_grad_norm_((p for p in ()), 1.0)


def test_gradients_are_changed_in_place_and_unrecorded() -> None:
    given = parameters((3,))
    grad = given[0].grad
    x = torch.ones(3, requires_grad=True)
    given[0].grad = (x * 5).detach()
    utils.clip_grad_norm_(given, 1.0)
    assert not given[0].grad.requires_grad
    given[0].grad = grad
    utils.clip_grad_norm_(given, 0.1)
    assert given[0].grad is grad


def test_gradients_that_are_not_numbers() -> None:
    given = parameters((3,))
    given[0].grad[1] = math.nan
    with pytest.raises(RuntimeError, match="non-finite"):
        utils.clip_grad_norm_(given, 1.0, error_if_nonfinite=True)
    assert np.isnan(joined(given)).sum() == 1
    assert utils.clip_grad_norm_(given, 1.0).isnan()
    assert np.isnan(joined(given)).all()


def test_total_norm_of_several_types() -> None:
    tensors = [torch.ones(2, dtype=torch.bfloat16), torch.ones(2, dtype=torch.float64)]
    norm = utils.get_total_norm(tensors)
    assert norm.dtype == torch.float64
    assert norm.item() == pytest.approx(2.0, rel=1e-3)  # the first norm is rounded to 16 bits
    assert utils.get_total_norm([torch.tensor([3 + 4j])]).item() == pytest.approx(5.0)
    assert utils.get_total_norm(torch.ones(4)).item() == 2.0


def test_norm_and_clipping_apart() -> None:
    given = parameters((3,), (4,))
    norm = utils.get_total_norm([p.grad for p in given])
    before = joined(given)
    utils.clip_grads_with_norm_(given, 0.5, norm)
    np.testing.assert_allclose(joined(given), before * 0.5 / norm.item(), rtol=1e-5)


def test_clip_grad_value() -> None:
    given = parameters((30,), (4, 5))
    before = joined(given)
    utils.clip_grad_value_(given, 0.3)
    np.testing.assert_array_equal(joined(given), before.clip(-np.float32(0.3), np.float32(0.3)))


def test_old_name() -> None:
    with pytest.warns(FutureWarning, match="clip_grad_norm_"):
        utils.clip_grad_norm(parameters((3,)), 1.0)


def test_parameters_as_one_vector() -> None:
    model = torch.nn.Linear(3, 2)
    vector = utils.parameters_to_vector(model.parameters())
    assert vector.shape == (8,)
    vector.sum().backward()
    assert torch.equal(model.weight.grad, torch.ones(2, 3))
    utils.vector_to_parameters(torch.arange(8.0), model.parameters())
    assert model.weight.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert model.bias.tolist() == [6, 7]
    with pytest.raises(TypeError, match=r"expected torch.Tensor"):
        utils.vector_to_parameters([1.0], model.parameters())  # type: ignore[arg-type]
