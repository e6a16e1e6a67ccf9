"""Modules as functions of their parameters: ensembles, gradients of each sample, derivatives."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import flambeau as torch
from flambeau import nn
from flambeau.func import functional_call, grad, hessian, stack_module_state, vmap


def network() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()


def batch(*shape: int) -> Any:
    return torch.randn(*shape, dtype=torch.float64)


def test_other_parameters_for_one_call() -> None:
    net, x = network(), batch(5, 3)
    zeros = {name: torch.zeros_like(p) for name, p in net.named_parameters()}
    before = net(x)
    assert functional_call(net, zeros, (x,)).abs().sum() == 0
    assert torch.equal(net(x), before)
    only = functional_call(net, {"2.bias": zeros["2.bias"]}, x)
    torch.testing.assert_close(only, before - net[2].bias)


def test_a_failing_call_leaves_the_module_as_it_was() -> None:
    net = network()
    weight = net[0].weight
    with pytest.raises(RuntimeError):
        functional_call(net, {"0.weight": torch.zeros(7, 7, dtype=torch.float64)}, batch(5, 3))
    assert net[0].weight is weight


def test_hooks_run_in_functional_calls() -> None:
    net, seen = network(), []
    net[1].register_forward_hook(lambda module, args, out: seen.append(out.shape))
    functional_call(net, dict(net.named_parameters()), batch(5, 3))
    assert seen == [(5, 4)]


def test_keyword_arguments() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gain = nn.Parameter(torch.tensor(2.0))

        def forward(self, x: Any, *, by: float) -> Any:
            return x * self.gain * by

    made = functional_call(Scaled(), {"gain": torch.tensor(3.0)}, (torch.ones(1),), {"by": 5})
    assert made.item() == 15


def test_tied_weights_are_exchanged_together() -> None:
    net = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False)).double()
    net[1].weight = net[0].weight
    x, twice = batch(2, 3), {"0.weight": 2 * torch.eye(3, dtype=torch.float64)}
    torch.testing.assert_close(functional_call(net, twice, x), 4 * x)
    alone = functional_call(net, twice, x, tie_weights=False)
    torch.testing.assert_close(alone, 2 * x @ net[0].weight.t())


def test_an_ensemble_is_one_call() -> None:
    nets = [network() for _ in range(4)]
    params, buffers = stack_module_state(nets)
    skeleton, x = copy.deepcopy(nets[0]), batch(5, 3)
    made = vmap(lambda p, b: functional_call(skeleton, (p, b), x))(params, buffers)
    torch.testing.assert_close(made, torch.stack([net(x) for net in nets]))
    made.sum().backward()
    assert params["0.weight"].grad.shape == (4, 4, 3)


def test_gradients_of_each_sample() -> None:
    net, x, target = network(), batch(5, 3), batch(5, 2)
    params = {name: p.detach() for name, p in net.named_parameters()}

    def loss(p: Any, sample: Any, wanted: Any) -> Any:
        return (functional_call(net, p, (sample,)) - wanted).square().sum()

    each = vmap(grad(loss), in_dims=(None, 0, 0))(params, x, target)
    for i in range(5):
        net.zero_grad()
        (net(x[i]) - target[i]).square().sum().backward()
        for name, parameter in net.named_parameters():
            torch.testing.assert_close(each[name][i], parameter.grad)


def test_second_derivatives() -> None:
    net = nn.Linear(3, 1, bias=False).double()
    x = batch(3)
    second = hessian(lambda w: functional_call(net, {"weight": w}, x).square().sum())(
        net.weight.detach()
    )
    torch.testing.assert_close(second.reshape(3, 3), 2 * torch.outer(x, x))


def test_models_of_different_kinds_are_refused() -> None:
    with pytest.raises(RuntimeError, match="Expected at least one model, got 0"):
        stack_module_state([])
    with pytest.raises(RuntimeError, match="same class"):
        stack_module_state([nn.Linear(1, 1), network()])
    with pytest.raises(RuntimeError, match="same training/eval mode"):
        stack_module_state([nn.Linear(1, 1), nn.Linear(1, 1).eval()])
