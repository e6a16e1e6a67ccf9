"""Networks whose graph is another one for every input: trees, sequences, shared weights."""

from __future__ import annotations

from typing import Any

import pytest

import flambeau as torch
from flambeau import nn

Tree = Any  # a number, or a pair of trees


class TreeNet(nn.Module):
    """A vector for a tree: leaves have theirs, two subtrees are merged into one."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.leaves = nn.Parameter(torch.randn(10, width, dtype=torch.float64))
        self.merge = nn.Linear(2 * width, width, dtype=torch.float64)

    def forward(self, tree: Tree) -> Any:
        if isinstance(tree, int):
            return self.leaves[tree]
        left, right = tree
        return torch.tanh(self.merge(torch.cat([self(left), self(right)])))


class Recurrent(nn.Module):
    """One step at a time, as many as the sequence has."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.step = nn.Linear(inputs + width, width)

    def forward(self, sequence: Any) -> Any:
        state = sequence.new_zeros(sequence.shape[1], self.width)
        for x in sequence:
            state = torch.tanh(self.step(torch.cat([x, state], 1)))
        return state


TREES: list[Tree] = [3, (1, 2), ((1, 2), 3), (((4, 1), 2), (5, (6, (7, 8))))]


@pytest.mark.parametrize("tree", TREES)
def test_a_recursive_tree_network(tree: Tree) -> None:
    torch.manual_seed(0)
    net = TreeNet(3)
    assert torch.autograd.gradcheck(
        lambda *parameters: torch.func.functional_call(
            net, dict(zip(dict(net.named_parameters()), parameters, strict=True)), (tree,)
        ),
        tuple(p.detach().clone().requires_grad_() for p in net.parameters()),
    )


def test_only_the_leaves_of_a_tree_have_gradients() -> None:
    net = TreeNet(3)
    net(((1, 2), 2)).sum().backward()
    rows = net.leaves.grad.abs().sum(1) > 0
    assert rows.nonzero().flatten().tolist() == [1, 2]


def test_trees_are_learnt() -> None:
    torch.manual_seed(0)
    net, out = TreeNet(4), nn.Linear(4, 1, dtype=torch.float64)
    parameters = [*net.parameters(), *out.parameters()]
    first = last = None
    for _ in range(30):
        loss = sum((out(net(tree)) - i).square().sum() for i, tree in enumerate(TREES))
        grads = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for parameter, grad in zip(parameters, grads, strict=True):
                parameter.sub_(grad * 0.05)
        last = loss.item()
        first = last if first is None else first
    assert last < first * 0.2


@pytest.mark.parametrize(("length", "batch"), [(1, 1), (5, 2), (2, 7), (13, 3), (0, 4)])
def test_sequences_of_any_length_and_batch(length: int, batch: int) -> None:
    torch.manual_seed(0)
    net = Recurrent(3, 4)
    sequence = torch.randn(length, batch, 3)
    state = net(sequence)
    assert state.shape == (batch, 4)
    # No padding: each sequence of the batch gives what it gives alone.
    alone = torch.cat([net(sequence[:, i : i + 1]) for i in range(batch)])
    torch.testing.assert_close(state, alone)
    if length:
        state.sum().backward()
        assert net.step.weight.grad.abs().sum() > 0


def test_a_weight_that_is_used_twice() -> None:
    """An encoder and a decoder with one matrix: its gradient is the sum of both uses."""

    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encode = nn.Linear(4, 3, bias=False, dtype=torch.float64)

        def forward(self, x: Any) -> Any:
            return torch.tanh(self.encode(x)) @ self.encode.weight

    torch.manual_seed(0)
    net, x = Tied(), torch.randn(5, 4, dtype=torch.float64)
    net(x).square().sum().backward()
    w1 = net.encode.weight.detach().clone().requires_grad_()
    w2 = net.encode.weight.detach().clone().requires_grad_()
    (torch.tanh(x @ w1.t()) @ w2).square().sum().backward()
    torch.testing.assert_close(net.encode.weight.grad, w1.grad + w2.grad)


def test_one_layer_repeated_as_often_as_the_input_says() -> None:
    layer = nn.Linear(2, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.eye(2))
        layer.bias.fill_(1)

    class Repeat(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, x: Any, times: int) -> Any:
            for _ in range(times):
                x = self.layer(x)
            return x

    net = Repeat()
    for times in (0, 1, 4):
        layer.zero_grad()
        out = net(torch.zeros(1, 2, requires_grad=True), times)
        out.sum().backward()
        assert out.tolist() == [[times, times]]
        grad = layer.bias.grad
        assert (0 if grad is None else grad[0].item()) == times
