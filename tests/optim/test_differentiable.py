"""Steps that gradients flow through, and options that are tensors."""

from typing import Any

import pytest

import flambeau as torch
from flambeau import optim
from tests.optim.options import OPTIONS


def unrolled(name: str, start: torch.Tensor, slope: torch.Tensor, **options: Any) -> torch.Tensor:
    """A loss after three steps of an optimiser on another."""
    param = start.clone()
    optimizer = getattr(optim, name)([param], differentiable=True, **options)
    for step in range(3):
        param.grad = slope * (step + 1) + param
        optimizer.step()
    return (param**2).sum()


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_gradients_through_steps(name: str) -> None:
    start = torch.tensor([0.5, -1.5, 2.0], dtype=torch.float64, requires_grad=True)
    slope = torch.tensor([0.3, 0.7, -0.4], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda a, b: unrolled(name, a, b), (start, slope))


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_the_same_values_as_without(name: str) -> None:
    start = torch.tensor([0.5, -1.5, 2.0], dtype=torch.float64)
    slope = torch.tensor([0.3, 0.7, -0.4], dtype=torch.float64)
    param = start.clone().requires_grad_()
    optimizer = getattr(optim, name)([param])
    for step in range(3):
        param.grad = slope * (step + 1) + param.detach()
        optimizer.step()
    # Adam corrects its averages with tensors then, which are float32.
    torch.testing.assert_close(
        unrolled(name, start, slope), (param.detach() ** 2).sum(), rtol=1e-6, atol=0
    )


LEARNED = ["SGD", "Adam", "AdamW", "NAdam", "RAdam"]


@pytest.mark.parametrize("name", sorted(set(OPTIONS) - set(LEARNED)))
def test_a_learning_rate_that_cannot_be_learned_is_refused(name: str) -> None:
    ones = torch.ones(2, dtype=torch.float64)
    lr = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    with pytest.raises(RuntimeError, match="takes its options as numbers"):
        unrolled(name, ones, ones, lr=lr)


@pytest.mark.parametrize("name", LEARNED)
def test_the_learning_rate_is_learned(name: str) -> None:
    start = torch.tensor([0.5, -1.5], dtype=torch.float64)
    slope = torch.tensor([0.3, 0.7], dtype=torch.float64)
    lr = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda a: unrolled(name, start, slope, lr=a), (lr,))


@pytest.mark.parametrize("name", sorted(OPTIONS))
@pytest.mark.parametrize("shape", [(), (1,)])
def test_a_learning_rate_that_is_a_tensor(name: str, shape: tuple[int, ...]) -> None:
    params = [torch.ones(5, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    lr = torch.full(shape, 0.25, dtype=torch.float64)
    optimizers = [
        getattr(optim, name)([params[0]], lr=lr),
        getattr(optim, name)([params[1]], lr=0.25),
    ]
    for _ in range(3):
        for param, optimizer in zip(params, optimizers, strict=True):
            param.grad = param.detach() - 0.3
            optimizer.step()
    torch.testing.assert_close(params[0], params[1], rtol=1e-15, atol=0)
    assert optimizers[0].param_groups[0]["lr"] is lr


def test_betas_that_are_tensors() -> None:
    params = [torch.ones(5, requires_grad=True) for _ in range(2)]
    betas = (torch.tensor(0.5), torch.tensor([0.75]))
    optimizers = [optim.Adam([params[0]], betas=betas), optim.Adam([params[1]], betas=(0.5, 0.75))]
    for _ in range(3):
        for param, optimizer in zip(params, optimizers, strict=True):
            param.grad = param.detach() - 0.3
            optimizer.step()
    torch.testing.assert_close(params[0], params[1])


def test_a_step_that_requires_gradients_is_refused() -> None:
    param = torch.ones(2, requires_grad=True).clone()
    param.grad = torch.ones(2)
    optimizer = optim.Adam([param], differentiable=True)
    optimizer.step()
    optimizer.state[param]["step"].requires_grad_()
    with pytest.raises(RuntimeError, match="`requires_grad` is not supported for `step`"):
        optimizer.step()


@pytest.mark.parametrize("name", ["Adam", "AdamW"])
def test_all_options_are_learned(name: str) -> None:
    start = torch.tensor([0.5, -1.5], dtype=torch.float64)
    slope = torch.tensor([0.3, 0.7], dtype=torch.float64)
    values = [0.1, 0.9, 0.99, 0.2]
    options = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in values]

    def loss(lr: Any, beta1: Any, beta2: Any, weight_decay: Any) -> torch.Tensor:
        made = {"lr": lr, "betas": (beta1, beta2), "weight_decay": weight_decay}
        return unrolled(name, start, slope, **made)

    assert torch.autograd.gradcheck(loss, options)
