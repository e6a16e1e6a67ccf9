"""Parameter, Buffer, and both before their size is known."""

from __future__ import annotations

import copy
import gc
import pickle
from typing import Any

import pytest

import flambeau as torch
from flambeau import nn
from flambeau.nn.parameter import is_lazy


def test_a_parameter_shares_its_elements() -> None:
    data = torch.arange(3.0)
    p = nn.Parameter(data)
    data[0] = 7
    assert p.tolist() == [7, 1, 2]
    assert p.requires_grad
    assert p.is_leaf
    assert isinstance(p, torch.Tensor)
    assert not nn.Parameter(data, requires_grad=False).requires_grad
    assert nn.Parameter().shape == (0,)


def test_results_are_tensors() -> None:
    p = nn.Parameter(torch.ones(2))
    for made in (p + 1, p.detach(), p.data, p.clone(), p[0], p.double()):
        assert type(made) is torch.Tensor


def test_what_was_computed_becomes_a_leaf() -> None:
    p = nn.Parameter(torch.ones(2, requires_grad=True) * 3)
    assert p.is_leaf
    assert p.tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="floating point"):
        nn.Parameter(torch.arange(3))


def test_repr() -> None:
    assert repr(nn.Parameter(torch.ones(2))) == (
        "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    )
    assert repr(nn.Buffer(torch.ones(2))) == "tensor([1., 1.])"
    assert repr(nn.UninitializedParameter()) == "<UninitializedParameter>"


@pytest.mark.parametrize("made", [copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_copies(made: Any) -> None:
    p = nn.Parameter(torch.arange(6.0).reshape(2, 3).t(), requires_grad=False)
    p.sum()
    other = made(p)
    assert type(other) is nn.Parameter
    assert not other.requires_grad
    assert other.stride() == p.stride()
    assert other.data_ptr() != p.data_ptr()
    assert torch.equal(other, p)
    one, two = made((p, p))
    assert one is two


def test_attributes_of_a_parameter_outlive_its_object() -> None:
    net = nn.Linear(2, 2)
    net.weight.note = "kept"
    y = net(torch.ones(1, 2)).sum()
    weight = net.weight
    del net
    gc.collect()
    y.backward()
    assert weight.note == "kept"
    assert weight.grad is not None


def test_tensors_of_other_classes_count_when_they_are_marked() -> None:
    class Own(torch.Tensor):
        def detach(self) -> Any:
            return super().detach().as_subclass(Own)

    marked = nn.Parameter(torch.ones(1).as_subclass(Own))
    assert type(marked) is Own
    assert isinstance(marked, nn.Parameter)
    assert not isinstance(torch.ones(1), nn.Parameter)
    net = nn.Module()
    net.own = marked
    assert list(net.parameters()) == [marked]


def test_buffers() -> None:
    buffer = nn.Buffer(torch.ones(2), persistent=False)
    assert type(buffer) is torch.Tensor
    assert isinstance(buffer, nn.Buffer)
    assert not isinstance(torch.ones(2), nn.Buffer)
    assert not buffer.persistent


def test_before_the_size_is_known() -> None:
    p = nn.UninitializedParameter(dtype=torch.float64)
    assert is_lazy(p)
    assert isinstance(p, nn.Parameter)
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter"):
        _ = p.shape
    assert is_lazy(copy.deepcopy(p))
    p.materialize((2, 3))
    assert type(p) is nn.Parameter
    assert (tuple(p.shape), p.dtype, p.requires_grad) == ((2, 3), torch.float64, True)
    b = nn.UninitializedBuffer().to(torch.float16)
    assert is_lazy(b)
    b.materialize((4,))
    assert (type(b), b.dtype) == (torch.Tensor, torch.float16)


def test_a_lazy_module() -> None:
    net = nn.LazyLinear(3)
    assert repr(net) == "LazyLinear(in_features=0, out_features=3, bias=True)"
    other = copy.deepcopy(net)
    net(torch.ones(2, 5))
    assert type(net) is nn.Linear
    assert net.weight.shape == (3, 5)
    assert not net._forward_pre_hooks
    other.load_state_dict(net.state_dict())
    assert other.weight.shape == (3, 5)
    assert torch.equal(other(torch.ones(1, 5)), net(torch.ones(1, 5)))
