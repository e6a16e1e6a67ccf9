"""Sparse tensors as parameters and buffers."""

import copy

import pytest

import flambeau as torch
from flambeau import nn


class Product(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        matrix = torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2))
        self.weight = nn.Parameter(matrix)
        self.register_buffer("start", torch.eye(2).to_sparse())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sparse.mm(self.weight, x) + self.start @ x


def test_training() -> None:
    module = Product()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    module(torch.ones(2, 3)).sum().backward()
    optimizer.step()
    assert module.weight.is_sparse
    assert module.weight.to_dense().flatten().tolist() == pytest.approx([0, 0.7, 1.7, 0])


def test_copies_types_and_state() -> None:
    module = Product()
    copied = copy.deepcopy(module).double()
    assert copied.weight.is_sparse
    assert copied.start.dtype is torch.float64
    assert copied(torch.ones(2, 1).double()).flatten().tolist() == [2, 3]
    with torch.no_grad():
        copied.weight.mul_(2)
    module.load_state_dict(copied.state_dict())
    assert module.weight.dtype is torch.float32
    assert module.weight._values().tolist() == [2, 4]


def test_sums_of_products() -> None:
    module = Product()
    total = torch.sparse.addmm(torch.ones(2, 2), module.weight, torch.eye(2), beta=3, alpha=2)
    assert total.tolist() == [[3, 5], [7, 3]]


def test_switch_of_the_checks() -> None:
    switch = torch.sparse.check_sparse_tensor_invariants
    assert not switch.is_enabled()
    with switch():
        assert switch.is_enabled()
        assert not switch(False)(switch.is_enabled)()
    assert not switch.is_enabled()
    switch.enable()
    assert switch.is_enabled()
    switch.disable()
    assert not switch.is_enabled()


def test_functions_save_them() -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            assert ctx.saved_tensors[0].is_sparse
            return grad * 2

    tensor = torch.eye(2).to_sparse().requires_grad_()
    Double.apply(tensor).to_dense().sum().backward()
    assert tensor.grad._values().tolist() == [2, 2]
