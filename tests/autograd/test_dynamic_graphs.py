"""Graphs that differ at every call: loops, conditions, recursion; against exact derivatives."""

from __future__ import annotations

import random
from typing import Any

import pytest

import flambeau as torch
from tests.autograd.finite import assert_gradient


def double(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize("seed", range(8))
def test_a_loop_of_random_length(seed: int) -> None:
    length = random.Random(seed).randrange(0, 50)
    x = torch.tensor(1.01, dtype=torch.float64, requires_grad=True)
    y = x
    for _ in range(length):
        y = y * x
    y.backward()
    assert x.grad.item() == pytest.approx((length + 1) * 1.01**length)


def test_one_leaf_through_calls_of_different_length() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    expected = 0.0
    for length in (3, 0, 5, 1):
        y = torch.ones(())
        for _ in range(length):
            y = y * x
        if length:
            y.backward()
            expected += length * 2.0 ** (length - 1)
        else:
            assert not y.requires_grad
    assert x.grad.item() == expected


@pytest.mark.parametrize("start", [0.3, 1.7, 40.0])
def test_a_while_loop_that_looks_at_values(start: float) -> None:
    x = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    y, doublings = x, 0
    while y.abs() < 1000:
        y = y * 2
        doublings += 1
    y.backward()
    assert x.grad.item() == 2.0**doublings


def test_newton_until_it_has_converged() -> None:
    """The derivative of the square root, through however many steps Newton needs."""
    a = torch.tensor(7.0, dtype=torch.float64, requires_grad=True)
    root = a.detach() / 2
    while (root * root - a).abs() > 1e-12:
        root = (root + a / root) / 2
    # The start is a constant, so one more step makes the derivative exact.
    root = (root + a / root) / 2
    root.backward()
    assert a.grad.item() == pytest.approx(0.5 / 7.0**0.5, rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_branches_chosen_by_values(seed: int) -> None:
    torch.manual_seed(seed)

    def function(x: torch.Tensor) -> torch.Tensor:
        y = x
        for i in range(6):
            y = torch.sin(y) * x if y.sum() > 0 else y * y[i % 3] + 0.3
        return y.sum()

    assert_gradient(function, torch.randn(3, dtype=torch.float64))


Tree = Any  # an int, the index of a leaf, or a pair of trees


def random_tree(rng: random.Random, leaves: int) -> Tree:
    """A tree over `leaves` values."""

    def build(indices: list[int]) -> Tree:
        if len(indices) == 1:
            return indices[0]
        cut = rng.randrange(1, len(indices))
        return build(indices[:cut]), build(indices[cut:])

    return build(list(range(leaves)))


def evaluate(tree: Tree, values: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """A recursive net: a leaf is a value, a pair is tanh(weight @ [left, right])."""
    if isinstance(tree, int):
        return values[tree]
    left, right = (evaluate(each, values, weight) for each in tree)
    return torch.tanh(weight @ torch.cat((left, right)))


@pytest.mark.parametrize("seed", range(5))
def test_recursion_over_trees(seed: int) -> None:
    rng = random.Random(seed)
    torch.manual_seed(seed)
    leaves = rng.randrange(2, 9)
    tree = random_tree(rng, leaves)
    values = torch.randn(leaves, 2, dtype=torch.float64)
    weight = torch.randn(2, 4, dtype=torch.float64)
    assert_gradient(lambda w: evaluate(tree, values, w).sum(), weight)
    assert_gradient(lambda v: evaluate(tree, v, weight).sum(), values)


def test_one_weight_under_trees_of_different_shape() -> None:
    """Gradients of a batch of trees add up as the sum of their losses would have it."""
    rng = random.Random(1)
    torch.manual_seed(1)
    weight = torch.randn(2, 4, dtype=torch.float64, requires_grad=True)
    losses = []
    for leaves in (2, 5, 3, 8):
        values = torch.randn(leaves, 2, dtype=torch.float64)
        losses.append(evaluate(random_tree(rng, leaves), values, weight).sum())
    (together,) = torch.autograd.grad(sum(losses), weight, retain_graph=True)
    for loss in losses:
        loss.backward()
    torch.testing.assert_close(weight.grad, together)


def test_mutual_recursion() -> None:
    def even(x: torch.Tensor, depth: int) -> torch.Tensor:
        return x if depth == 0 else x * odd(x, depth - 1)

    def odd(x: torch.Tensor, depth: int) -> torch.Tensor:
        return x if depth == 0 else x + even(x, depth - 1)

    for depth in range(7):
        assert_gradient(lambda x, depth=depth: even(x, depth).sum(), double(0.7, -1.2))


@pytest.mark.parametrize("lengths", [[1], [4, 2], [3, 7, 1, 5]])
def test_sequences_of_different_length_without_padding(lengths: list[int]) -> None:
    torch.manual_seed(0)
    batch = [torch.randn(length, 3, dtype=torch.float64) for length in lengths]

    def function(weight: torch.Tensor) -> torch.Tensor:
        total = torch.zeros((), dtype=torch.float64)
        for sequence in batch:
            state = torch.zeros(3, dtype=torch.float64)
            for step in sequence:
                state = torch.tanh(weight @ (state + step))
            total = total + state.sum()
        return total

    assert_gradient(function, torch.randn(3, 3, dtype=torch.float64))


def test_a_list_grown_in_a_loop() -> None:
    x = double(0.5, -0.25, 2.0).requires_grad_()
    pieces: list[torch.Tensor] = []
    while len(pieces) < 5:
        pieces.append(x * len(pieces) + sum(pieces, torch.zeros(3, dtype=torch.float64)))
    torch.cat(pieces).sum().backward()
    # s(k) = k + s(0) + ... + s(k - 1): each piece is this multiple of x.
    multiples: list[int] = []
    for k in range(5):
        multiples.append(k + sum(multiples))
    assert x.grad.tolist() == [float(sum(multiples))] * 3


def test_a_graph_shared_by_many_losses() -> None:
    x = double(0.5, 1.5).requires_grad_()
    shared = torch.exp(x)
    losses = [(shared * i).sum() for i in range(1, 6)]
    for loss in losses:
        loss.backward(retain_graph=True)
    torch.testing.assert_close(x.grad, 15 * torch.exp(x.detach()))


def test_dropout_of_whole_steps() -> None:
    """Another random graph each time; its expectation is not needed to know its gradient."""
    rng = random.Random(3)
    for _ in range(10):
        kept = [rng.random() < 0.5 for _ in range(12)]

        def function(x: torch.Tensor, kept: list[bool] = kept) -> torch.Tensor:
            y = x
            for step, keep in enumerate(kept):
                y = torch.sin(y + step) if keep else y
            return y.sum()

        assert_gradient(function, double(0.1, 0.9))


def test_collatz_of_gradients() -> None:
    """The path depends on whole numbers, the gradient on the path alone."""
    for start in (1, 6, 7, 27):
        x = torch.tensor(float(start), dtype=torch.float64, requires_grad=True)
        y, number, slope = x, start, 1.0
        while number != 1:
            factor = 3.0 if number % 2 else 0.5
            y = y * factor + (1 if number % 2 else 0)
            number = 3 * number + 1 if number % 2 else number // 2
            slope *= factor
        assert y.item() == 1.0
        if y is not x:
            y.backward()
            assert x.grad.item() == pytest.approx(slope)


def test_polynomials_by_generators() -> None:
    def powers(x: torch.Tensor):
        term = torch.ones_like(x)
        while True:
            yield term
            term = term * x

    x = double(1.5).requires_grad_()
    coefficients = [2.0, -1.0, 0.5, 3.0]
    terms = [c * p for c, p in zip(coefficients, powers(x), strict=False)]
    sum(terms).backward()
    assert x.grad.item() == pytest.approx(-1 + 2 * 0.5 * 1.5 + 3 * 3 * 1.5**2)
