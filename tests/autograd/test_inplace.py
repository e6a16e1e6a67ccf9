"""In-place writes and views: values and gradients, versions, what becomes of the history."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import flambeau as torch
from tests.autograd.finite import assert_gradient
from tests.autograd.walk import kind, kinds
from tests.autograd.writes import PROGRAMS


def weighted(*tensors: torch.Tensor) -> torch.Tensor:
    """A sum in which every element counts differently, so that a misplaced gradient shows."""
    parts = []
    for k, tensor in enumerate(tensors):
        weights = torch.arange(1, tensor.numel() + 1, dtype=tensor.dtype).reshape(tensor.shape)
        parts.append((tensor * tensor * weights).sum() * (k + 1))
    return sum(parts[1:], parts[0])


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_through_writes(name: str) -> None:
    torch.manual_seed(0)

    def function(x: torch.Tensor) -> torch.Tensor:
        return weighted(*PROGRAMS[name](x, x * 1.0))

    assert_gradient(function, torch.rand(3, 4, dtype=torch.float64) - 0.5)


@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives_through_writes(name: str) -> None:
    torch.manual_seed(0)
    x = torch.rand(3, 4, dtype=torch.float64) - 0.5

    def slope(x: torch.Tensor) -> torch.Tensor:
        with torch.enable_grad():
            x = x if x.requires_grad else x.requires_grad_()
            y = weighted(*PROGRAMS[name](x, x * 1.0))
            (grad,) = torch.autograd.grad(y, x, create_graph=True)
            return weighted(grad)

    assert_gradient(slope, x)


def leaf() -> torch.Tensor:
    return torch.ones(3, 3, requires_grad=True)


def test_versions_count_writes() -> None:
    y = leaf() * 2
    assert y._version == 0
    y.add_(1)
    y[0] = 3
    y.t_()
    assert y._version == 3


def test_views_and_detached_tensors_share_the_version() -> None:
    y = leaf() * 2
    view, detached, data = y.view(9), y.detach(), y.data
    view.add_(1)
    detached.add_(1)
    assert (y._version, view._version, detached._version, data._version) == (2, 2, 2, 0)
    data.add_(1)
    assert y._version == 2


def test_a_copy_has_its_own_version() -> None:
    y = torch.ones(3)
    y.add_(1)
    assert y.clone()._version == 0
    assert (y * 2)._version == 0


def test_bases() -> None:
    y = leaf() * 2
    assert y._base is None
    assert y[0]._base is y
    assert y[0].view(3)._base is y
    assert y[0]._is_view()
    assert not y._is_view()
    assert y.reshape(9)._is_view()
    assert not y.t().reshape(9)._is_view()
    assert y.contiguous() is y


def test_history_is_rebased_on_the_write() -> None:
    y = leaf() * 2
    v = y.view(9)
    v.mul_(3)
    assert kind(y.grad_fn) == "CopySlices"
    assert kinds(y.grad_fn) == ["MulBackward0", None]
    assert kind(v.grad_fn) == "AsStridedBackward0"
    assert v.grad_fn.next_functions[0][0] is y.grad_fn


def test_a_write_to_the_base_gives_views_a_new_history() -> None:
    y = leaf() * 2
    v = y[0]
    old = v.grad_fn
    y.mul_(3)
    assert kind(y.grad_fn) == "MulBackward0"
    assert v.grad_fn is not old
    assert v.grad_fn.next_functions[0][0] is y.grad_fn


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (lambda x, y: y.zero_(), "ZeroBackward0"),
        (lambda x, y: y.copy_(x), "CopyBackwards"),
        (lambda x, y: y.t_(), "TBackward1"),
        (lambda x, y: y.transpose_(0, 1), "TransposeBackward1"),
        (lambda x, y: y.unsqueeze_(0), "UnsqueezeBackward1"),
        (lambda x, y: y.relu_(), "ReluBackward0"),
        (lambda x, y: y.exp_(), "ExpBackward0"),
        (lambda x, y: y.masked_fill_(y > 0, 1), "MaskedFillBackward0"),
        (lambda x, y: y.index_add_(0, torch.tensor([0]), x[:1]), "IndexAddBackward0"),
        (lambda x, y: y.normal_(), "NormalBackward0"),
        (lambda x, y: y.__setitem__(0, 1), "CopySlices"),
        (lambda x, y: y.__setitem__(y > 1, 1), "IndexPutBackward0"),
        (lambda x, y: y.__setitem__(torch.tensor([1]), x[:1]), "IndexPutBackward0"),
    ],
)
def test_nodes_of_writes(write: Callable[..., object], name: str) -> None:
    x = leaf()
    y = x * 2
    write(x, y)
    assert kind(y.grad_fn) == name
    assert kinds(y.grad_fn)[0] == "MulBackward0"


def test_an_operand_makes_a_constant_record() -> None:
    z = torch.zeros(3, 3)
    view = z[1]
    assert not view.requires_grad
    z[0] = leaf()[0]
    assert z.requires_grad
    assert not z.is_leaf
    assert view.requires_grad  # it shows the same memory


def test_under_no_grad_history_stays() -> None:
    y = leaf() * 2
    node = y.grad_fn
    with torch.no_grad():
        y.add_(1)
    assert y.grad_fn is node
    assert y._version == 1


def test_under_no_grad_leaves_can_be_written_to() -> None:
    x = leaf()
    with torch.no_grad():
        x.add_(1)
        x[0] = 5
        x.view(9)[1:].mul_(2)
    assert x.is_leaf
    assert x._version == 3
    x.sum().backward()
    assert x.grad.tolist() == [[1.0] * 3] * 3


def test_what_was_not_saved_may_change() -> None:
    x = leaf()
    y = x * 2
    z = y.exp() + y  # saves its result, not y
    y.add_(1)
    z.sum().backward()
    assert torch.allclose(x.grad, 2 * torch.exp(2 * x.detach()) + 2)


def test_what_was_saved_may_change_after_backward() -> None:
    x = leaf()
    y = x * 2
    (y * y).sum().backward()
    y.add_(1)
    assert x.grad.tolist() == [[8.0] * 3] * 3


def test_the_graph_of_a_view_outlives_its_base() -> None:
    x = leaf()
    y = x * 2
    view = y[0]
    y.mul_(3)
    del y
    view.sum().backward()
    assert x.grad.tolist() == [[6.0] * 3, [0.0] * 3, [0.0] * 3]


def test_a_write_belongs_to_the_tensor_that_was_written() -> None:
    """The same Python object goes on, with a new history."""
    x = leaf()
    y = x * 2
    alias = y
    y += 1
    assert y is alias
    assert kind(alias.grad_fn) == "AddBackward0"
