"""Weights used at every step of a loop: their gradients are computed together, unobserved."""

import pytest

import flambeau as torch
from flambeau import nn

STEPS = 100  # more than are collected at once


@pytest.fixture
def loop():
    """A cell, and a function that runs it over inputs that are always the same."""
    torch.manual_seed(0)
    cell = nn.GRUCell(3, 4)
    inputs = torch.randn(STEPS, 2, 3).unbind(0)

    def run(step=cell):
        state = torch.zeros(2, 4)
        for x in inputs:
            state = step(x, state)
        return state.square().sum()

    return cell, run


def expected(cell, run):
    """The gradients from a graph in which every step is differentiated by itself."""
    weights = list(cell.parameters())
    grads = torch.autograd.grad(run(), weights, create_graph=True)
    return [g.detach() for g in grads]


def test_a_long_loop(loop):
    cell, run = loop
    run().backward()
    for weight, grad in zip(cell.parameters(), expected(cell, run), strict=True):
        torch.testing.assert_close(weight.grad, grad)


def test_gradients_that_are_given_back(loop):
    cell, run = loop
    given = torch.autograd.grad(run(), list(cell.parameters()))
    torch.testing.assert_close(list(given), expected(cell, run))
    assert cell.weight_ih.grad is None


def test_gradients_accumulate(loop):
    cell, run = loop
    run().backward()
    once = cell.weight_hh.grad
    kept = once.clone()
    run().backward()
    assert cell.weight_hh.grad is once
    torch.testing.assert_close(once, 2 * kept)


def test_other_uses_of_the_weight(loop):
    cell, run = loop
    (run() + cell.weight_hh.square().sum()).backward()
    grad = expected(cell, run)[1] + 2 * cell.weight_hh.detach()
    torch.testing.assert_close(cell.weight_hh.grad, grad)


def test_a_hook_on_the_weight_sees_the_whole(loop):
    cell, run = loop
    seen = []
    cell.weight_ih.register_hook(seen.append)
    run().backward()
    assert len(seen) == 1
    torch.testing.assert_close(seen[0], expected(cell, run)[0])


def test_hooks_on_a_step_see_its_own(loop):
    cell, _ = loop
    state = cell(torch.randn(2, 3), torch.zeros(2, 4))
    state = cell(torch.randn(2, 3), state)
    seen = []
    state.grad_fn.register_hook(lambda grads, _: seen.extend(grads))
    state.sum().backward()
    assert any(g is not None and g.shape == cell.weight_ih.shape for g in seen)


def test_a_weight_that_is_computed(loop):
    cell, run = loop
    scale = torch.tensor(1.5, requires_grad=True)

    def step(x, state):
        return torch.gru_cell(x, state, scaled, cell.weight_hh, cell.bias_ih, cell.bias_hh)

    scaled = cell.weight_ih * scale
    run(step).backward()
    scaled = cell.weight_ih * scale
    (grad,) = torch.autograd.grad(run(step), scale, create_graph=True)
    torch.testing.assert_close(scale.grad, grad.detach())


def test_a_graph_that_is_kept(loop):
    cell, run = loop
    loss = run()
    loss.backward(retain_graph=True)
    first = cell.weight_hh.grad.clone()
    loss.backward()
    torch.testing.assert_close(cell.weight_hh.grad, 2 * first)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("rows", [1, 2, 40])
def test_a_linear_layer_in_a_loop(rows, bias):
    torch.manual_seed(0)
    layer = nn.Linear(4, 4, bias)

    def run():
        state = torch.ones(rows, 4)
        for _ in range(STEPS):
            state = torch.tanh(layer(state)) + 0.1
        return state.square().sum()

    run().backward()
    for weight, grad in zip(layer.parameters(), expected(layer, run), strict=True):
        torch.testing.assert_close(weight.grad, grad)


def test_a_linear_layer_whose_weight_has_changed_since():
    """The weight itself is not needed for its own gradient."""
    layer = nn.Linear(3, 2)
    inputs = torch.randn(5, 1, 3)
    loss = sum(layer(x).sum() for x in inputs)
    with torch.no_grad():
        layer.weight.add_(1)
    loss.backward()
    torch.testing.assert_close(layer.weight.grad, inputs.sum((0, 1)).expand(2, 3))
