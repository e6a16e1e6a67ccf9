"""Optimisers and sparse gradients."""

import copy
import math

import pytest

import flambeau as torch
from flambeau.nn import functional


def table() -> torch.Tensor:
    return torch.arange(10.0).view(5, 2).requires_grad_()


def steps(optimizer: torch.optim.Optimizer, weight: torch.Tensor, *, sparse: bool = True) -> None:
    for numbers in ([4, 1, 4], [1, 0], [1, 1]):
        optimizer.zero_grad()
        out = functional.embedding(torch.tensor(numbers), weight, sparse=sparse)
        (out * torch.arange(1.0, out.numel() + 1).view(out.shape)).sum().backward()
        optimizer.step()


def test_sparse_adam_is_adam_where_there_are_gradients() -> None:
    weight, dense = table(), table()
    sparse_adam = torch.optim.SparseAdam([weight], lr=0.1)
    adam = torch.optim.Adam([dense], lr=0.1)
    for parameter, optimizer in ((weight, sparse_adam), (dense, adam)):
        out = functional.embedding(torch.tensor([3, 1, 3]), parameter, sparse=parameter is weight)
        (out * 2).sum().backward()
        optimizer.step()
    assert torch.allclose(weight, dense)
    assert sparse_adam.state[weight]["step"] == 1


def test_sparse_adam_leaves_other_rows_alone() -> None:
    weight = table()
    optimizer = torch.optim.SparseAdam([weight], lr=0.1)
    steps(optimizer, weight)
    assert weight[2:4].tolist() == table()[2:4].tolist()
    state = optimizer.state[weight]
    assert state["step"] == 3
    assert state["exp_avg"][2:4].abs().sum().item() == 0
    assert state["exp_avg"][4].abs().sum().item() > 0


def test_sparse_adam_computes_what_it_says() -> None:
    weight = torch.zeros(3, 1, requires_grad=True)
    optimizer = torch.optim.SparseAdam([weight], lr=0.5, betas=(0.8, 0.9), eps=1e-3)
    average = square = value = 0.0
    for step, gradient in enumerate((1.0, -3.0, 2.0), 1):
        weight.grad = torch.sparse_coo_tensor([[2, 2]], [[gradient / 2]] * 2, (3, 1))
        optimizer.step()
        average += 0.2 * (gradient - average)
        square += 0.1 * (gradient * gradient - square)
        size = 0.5 * math.sqrt(1 - 0.9**step) / (1 - 0.8**step)
        value -= size * average / (math.sqrt(square) + 1e-3)
        assert weight[2].item() == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_types(dtype) -> None:
    weight = torch.zeros(4, 3, dtype=dtype, requires_grad=True)
    optimizer = torch.optim.SparseAdam([weight], lr=0.5)
    weight.grad = torch.ones(4, 3, dtype=dtype).to_sparse(1)
    optimizer.step()
    assert torch.allclose(weight.detach().double(), torch.full((4, 3), -0.5).double(), atol=1e-2)


def test_parameters_of_other_layouts() -> None:
    weight, plain = torch.zeros(3, 4).t().requires_grad_(), torch.zeros(4, 3, requires_grad=True)
    for parameter in (weight, plain):
        parameter.grad = torch.sparse_coo_tensor([[1, 3], [0, 2]], [1.0, -2.0], (4, 3))
        torch.optim.SparseAdam([parameter], lr=0.5).step()
    assert weight.tolist() == plain.tolist()
    assert weight[1, 0].item() == pytest.approx(-0.5)


def test_maximize_and_no_rows_at_all() -> None:
    weight, other = table(), table()
    steps(torch.optim.SparseAdam([weight], lr=0.1, maximize=True), weight)
    steps(torch.optim.SparseAdam([other], lr=0.1), other)
    assert torch.allclose(weight - table(), table() - other, atol=1e-5)
    other.grad = torch.sparse_coo_tensor(size=(5, 2)).sum(1).to_dense().new_zeros(5, 2).to_sparse(1)
    before = other.tolist()
    torch.optim.SparseAdam([other]).step()
    assert other.tolist() == before


def test_sparse_adam_refuses_what_it_cannot_do() -> None:
    weight = table()
    weight.grad = torch.ones(5, 2)
    with pytest.raises(RuntimeError, match="does not support dense gradients"):
        torch.optim.SparseAdam([weight]).step()
    with pytest.raises(ValueError, match=r"Sparse params at indices \[\[0, 1\]\]"):
        torch.optim.SparseAdam([weight, torch.ones(2).to_sparse().requires_grad_()])
    with pytest.raises(ValueError, match="Complex params"):
        torch.optim.SparseAdam([torch.ones(2, dtype=torch.complex64, requires_grad=True)])
    with pytest.raises(ValueError, match="Invalid epsilon value: 0"):
        torch.optim.SparseAdam([weight], eps=0)
    with pytest.raises(ValueError, match="Invalid learning rate: 0"):
        torch.optim.SparseAdam([weight], lr=0)
    with pytest.raises(ValueError, match="Invalid beta parameter at index 0"):
        torch.optim.SparseAdam([weight], betas=(1.0, 0.9))


def test_state_is_saved_and_loaded() -> None:
    weight, other = table(), table()
    optimizer = torch.optim.SparseAdam([weight], lr=0.1)
    steps(optimizer, weight)
    again = torch.optim.SparseAdam([other])
    again.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    with torch.no_grad():
        other.copy_(weight)
    steps(optimizer, weight)
    steps(again, other)
    assert weight.tolist() == other.tolist()


@pytest.mark.parametrize(
    "options", [{}, {"momentum": 0.9}, {"momentum": 0.9, "nesterov": True}, {"maximize": True}]
)
def test_sgd(options) -> None:
    weight, dense = table(), table()
    optimizer = torch.optim.SGD([weight], lr=0.1, **options)
    steps(optimizer, weight)
    steps(torch.optim.SGD([dense], lr=0.1, **options), dense, sparse=False)
    assert torch.allclose(weight, dense)
    if "momentum" in options:
        assert optimizer.state[weight]["momentum_buffer"].is_sparse


def test_sgd_with_weight_decay_is_refused() -> None:
    weight = table()
    with pytest.raises(RuntimeError, match=r"add\(sparse, dense\) is not supported"):
        steps(torch.optim.SGD([weight], lr=0.1, weight_decay=0.1), weight)


def test_adagrad() -> None:
    weight, dense = table(), table()
    optimizer = torch.optim.Adagrad([weight], lr=0.1, lr_decay=0.1)
    steps(optimizer, weight)
    steps(torch.optim.Adagrad([dense], lr=0.1, lr_decay=0.1), dense, sparse=False)
    assert torch.allclose(weight, dense)
    assert not optimizer.state[weight]["sum"].is_sparse
    with pytest.raises(RuntimeError, match="weight_decay option is not compatible"):
        steps(torch.optim.Adagrad([weight], weight_decay=0.1), weight)


@pytest.mark.parametrize("name", ["Adamax", "NAdam", "RMSprop", "Adadelta", "Rprop", "ASGD"])
def test_others_refuse(name) -> None:
    weight = table()
    with pytest.raises(RuntimeError, match=f"{name} does not support sparse gradients"):
        steps(getattr(torch.optim, name)([weight]), weight)
    assert weight.tolist() == table().tolist()


@pytest.mark.parametrize("name", ["Adam", "AdamW"])
def test_adam_names_the_remedy(name) -> None:
    weight = table()
    with pytest.raises(RuntimeError, match="please consider SparseAdam instead"):
        steps(getattr(torch.optim, name)([weight]), weight)


def test_a_single_number() -> None:
    """What looks like a dense tensor in memory is refused, too."""
    parameter = torch.zeros((), requires_grad=True)
    parameter.grad = torch.tensor(2.0).to_sparse()
    torch.optim.SGD([parameter], lr=0.5).step()
    assert parameter.item() == -1
    parameter.grad = torch.tensor(2.0).to_sparse()
    with pytest.raises(RuntimeError, match="sparse"):
        torch.optim.Adam([parameter]).step()


def test_gradients_are_made_zero() -> None:
    weight = table()
    optimizer = torch.optim.SGD([weight], lr=0.1)
    steps(optimizer, weight)
    optimizer.zero_grad(set_to_none=False)
    assert weight.grad.is_sparse
    assert weight.grad._nnz() == 0
