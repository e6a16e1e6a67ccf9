"""Writes that would make gradients wrong are refused, when they happen or in backward."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import flambeau as torch

MODIFIED = "modified by an inplace operation"


def leaf() -> torch.Tensor:
    return torch.ones(3, 3, requires_grad=True)


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.add_(1),
        lambda x: x.zero_(),
        lambda x: x.fill_(1),
        lambda x: x.copy_(torch.ones(3, 3)),
        lambda x: x.normal_(),
        lambda x: x.t_(),
        lambda x: x.unsqueeze_(0),
        lambda x: x.masked_fill_(x > 0, 1),
        lambda x: x.set_(torch.ones(3)),
        lambda x: x.__iadd__(1),
        lambda x: x.__setitem__(x > 0, 1),
    ],
)
def test_leaves_cannot_be_written_to(write: Callable[[torch.Tensor], object]) -> None:
    x = leaf()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        write(x)
    assert x.tolist() == [[1.0] * 3] * 3
    assert x._version == 0


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x[0].add_(1),
        lambda x: x.view(9).zero_(),
        lambda x: x.t()[0].fill_(1),
        lambda x: x.__setitem__(0, 1),
        lambda x: x.__setitem__((slice(1), 2), 1),
        lambda x: x.diagonal().copy_(torch.ones(3)),
    ],
)
def test_views_of_leaves_cannot_be_written_to(write: Callable[[torch.Tensor], object]) -> None:
    x = leaf()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        write(x)
    assert x.tolist() == [[1.0] * 3] * 3


def test_a_view_from_before_the_base_required_grad() -> None:
    x = torch.ones(3, 3)
    view = x[0]
    x.requires_grad_()
    assert view.requires_grad
    with pytest.raises(RuntimeError, match="a view of a leaf"):
        view.add_(1)


@pytest.mark.parametrize(
    ("split", "name"),
    [
        (lambda y: y.unbind()[0], "Unbind"),
        (lambda y: y.split(2)[0], "Split"),
        (lambda y: y.chunk(2)[0], "Split"),
        (lambda y: y.split_with_sizes([1, 2])[0], "SplitWithSizes"),
        (lambda y: next(iter(y)), "Unbind"),
    ],
)
def test_one_of_several_views(split: Callable[[torch.Tensor], torch.Tensor], name: str) -> None:
    for base in (leaf(), leaf() * 2):
        with pytest.raises(RuntimeError, match=f"Output 0 of {name}.* multiple views"):
            split(base).add_(1)
    y = leaf() * 2
    part = split(y)
    y.add_(1)
    with pytest.raises(RuntimeError, match="multiple views"):
        _ = part.grad_fn


def test_several_views_without_a_graph_are_free() -> None:
    z = torch.ones(3, 3)
    z.unbind()[0].add_(1)
    assert z[0].tolist() == [2.0] * 3
    with pytest.raises(RuntimeError, match="multiple views"):
        z.unbind()[0].add_(leaf()[0])


@pytest.mark.parametrize(
    "split",
    [
        lambda y: y.unsafe_split(2)[0],
        lambda y: y.unsafe_chunk(2)[0],
        lambda y: y.tensor_split(2)[0],
        lambda y: y.hsplit(3)[0],
    ],
)
def test_views_that_may_be_written_to(split: Callable[[torch.Tensor], torch.Tensor]) -> None:
    split(leaf() * 2).add_(1)


def test_several_views_can_be_used_without_writing() -> None:
    x = leaf()
    first, *_, last = (x * 2).unbind()
    (first * last).sum().backward()
    assert x.grad.tolist() == [[4.0] * 3, [0.0] * 3, [4.0] * 3]


def test_a_view_made_under_no_grad() -> None:
    for base in (leaf(), leaf() * 2):
        with torch.no_grad():
            view = base.view(9)
        assert view.grad_fn is None
        with torch.no_grad():
            view.add_(1)  # inside it is free
        with pytest.raises(RuntimeError, match="no_grad mode"):
            view.add_(1)
    y = leaf() * 2
    with torch.no_grad():
        view = y.view(9)
    y.add_(1)
    with pytest.raises(RuntimeError, match="no_grad mode"):
        _ = view.grad_fn


def test_a_view_made_in_inference_mode() -> None:
    y = leaf() * 2
    with torch.inference_mode():
        view = y.view(9)
    with pytest.raises(RuntimeError, match="inference mode"):
        view.add_(1)


class Viewing(torch.autograd.Function):
    """Returns a view of its input."""

    @staticmethod
    def forward(ctx, x):
        return x.view(9)

    @staticmethod
    def backward(ctx, grad):
        return grad.view(3, 3)


class Passing(torch.autograd.Function):
    """Returns its input."""

    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


@pytest.mark.parametrize("function", [Viewing, Passing])
def test_a_view_made_by_a_custom_function(function: type) -> None:
    with pytest.raises(RuntimeError, match="custom Function"):
        function.apply(leaf() * 2).add_(1)


def on_product(write: Callable[[torch.Tensor], object]) -> Callable[[], torch.Tensor]:
    def run() -> torch.Tensor:
        y = leaf() * 2
        z = y * y
        write(y)
        return z

    return run


def on_result(write: Callable[[torch.Tensor], object]) -> Callable[[], torch.Tensor]:
    def run() -> torch.Tensor:
        z = (leaf() * 2).exp()
        view = z.view(9)
        write(z)
        return view

    return run


@torch.no_grad()
def quietly(y: torch.Tensor) -> None:
    y.mul_(2)


WRITES = {
    "add_": lambda y: y.add_(1),
    "a view": lambda y: y[0].zero_(),
    "a chain of views": lambda y: y.t()[1:].view(2, 3)[0].mul_(2),
    "detach": lambda y: y.detach().zero_(),
    "setitem": lambda y: y.__setitem__(0, 1),
    "mask": lambda y: y.__setitem__(y > 0, 1),
    "under no_grad": quietly,
    "out": lambda y: torch.add(torch.ones(3, 3), 1, out=y.detach()),
    "copy_": lambda y: y.copy_(torch.ones(3, 3)),
    "random": lambda y: y.uniform_(),
    "t_": lambda y: y.t_(),
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("place", [on_product, on_result])
def test_what_backward_needs_was_changed(place: Callable, name: str) -> None:
    z = place(WRITES[name])()
    with pytest.raises(RuntimeError, match=MODIFIED):
        z.sum().backward()


def test_the_message_says_which_tensor() -> None:
    y = leaf() * 2
    z = y.exp()
    z.add_(1)
    with pytest.raises(RuntimeError) as caught:
        z.sum().backward()
    message = str(caught.value)
    for part in ("3, 3", "saved by exp", "version 1", "expected version 0"):
        assert part in message


def test_a_saved_leaf_changed_under_no_grad() -> None:
    x = leaf()
    y = (x * x).sum()
    with torch.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match=MODIFIED):
        y.backward()


def test_a_product_with_itself_in_place() -> None:
    y = leaf() * 2
    y.mul_(y)
    with pytest.raises(RuntimeError, match=MODIFIED):
        y.sum().backward()


def test_a_saved_constant_that_changed() -> None:
    x, factor = leaf(), torch.ones(3, 3)
    y = (x * factor).sum()
    factor.add_(1)
    with pytest.raises(RuntimeError, match=MODIFIED):
        y.backward()


def test_results_must_fit_what_is_written() -> None:
    y = leaf() * 2
    with pytest.raises(RuntimeError, match="shape"):
        y.add_(torch.ones(2, 3, 3))
    with pytest.raises(RuntimeError):
        y.add_(torch.ones(3, 3, dtype=torch.complex64))
    with pytest.raises(RuntimeError):
        torch.arange(3).add_(leaf()[0])
    y.sum().backward()  # nothing was changed


def test_out_is_not_differentiable() -> None:
    y = leaf() * 2
    with pytest.raises(RuntimeError, match=r"out=.*differentiation"):
        torch.add(y, 1, out=torch.empty(3, 3))
    with pytest.raises(RuntimeError, match=r"out=.*differentiation"):
        torch.add(torch.ones(3, 3), 1, out=leaf())
    with torch.no_grad():
        torch.add(y, 1, out=torch.empty(3, 3))


def test_resizing_is_not_differentiable() -> None:
    for tensor in (leaf(), leaf() * 2):
        with pytest.raises(RuntimeError, match="resize"):
            tensor.resize_(2, 2)


def test_elements_that_share_memory() -> None:
    y = leaf() * 2
    with pytest.raises(RuntimeError, match="memory"):
        y[0].expand(3, 3).add_(1)
