"""Hooks on tensors, nodes and leaves: what they see, what they change, in which order."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import flambeau as torch


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def test_a_hook_sees_the_gradient() -> None:
    x = leaf(1.0, 2.0)
    y = x * 2
    seen = []
    y.register_hook(seen.append)
    (y * 3).sum().backward()
    assert [each.tolist() for each in seen] == [[3.0, 3.0]]
    assert x.grad.tolist() == [6.0, 6.0]


def test_what_a_hook_returns_replaces_the_gradient() -> None:
    x = leaf(1.0, 2.0)
    y = x * 2
    y.register_hook(lambda grad: grad * 10)
    x.register_hook(lambda grad: grad + 1)
    y.sum().backward()
    assert x.grad.tolist() == [21.0, 21.0]


def test_a_hook_can_be_removed() -> None:
    x = leaf(1.0)
    handle = x.register_hook(lambda grad: grad * 100)
    other = x.register_hook(lambda grad: grad + 1)
    handle.remove()
    handle.remove()  # twice is no mistake
    (x * 2).sum().backward()
    assert x.grad.tolist() == [3.0]
    other.remove()
    x.grad = None
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0]


def test_a_handle_is_a_context_manager() -> None:
    x = leaf(1.0)
    with x.register_hook(lambda grad: grad * 100):
        pass
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0]


def test_hooks_run_in_the_order_of_registration() -> None:
    x = leaf(1.0)
    y = x * 2
    order = []
    for name in "abc":
        y.register_hook(lambda grad, name=name: order.append(name))
    y.sum().backward()
    assert order == ["a", "b", "c"]


def test_a_hook_runs_once_with_the_whole_gradient() -> None:
    x = leaf(1.0)
    y = x * 2
    seen = []
    y.register_hook(lambda grad: seen.append(grad.item()))
    (y * 3 + y * 4).sum().backward()
    assert seen == [7.0]


def test_a_hook_of_a_leaf_sees_what_is_added() -> None:
    x = leaf(1.0)
    seen = []
    x.register_hook(lambda grad: seen.append(grad.item()))
    (x * 3).sum().backward()
    (x * 4).sum().backward()
    assert seen == [3.0, 4.0]
    assert x.grad.item() == 7.0


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        (3, TypeError, "int"),
        (torch.ones(2), RuntimeError, "size"),
        (torch.ones(1, dtype=torch.float64), RuntimeError, "type"),
    ],
)
def test_a_hook_must_return_a_gradient(returned: object, error: type, message: str) -> None:
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda grad: returned)
    with pytest.raises(error, match=message):
        y.sum().backward()


def test_hooks_need_a_tensor_that_requires_grad() -> None:
    with pytest.raises(RuntimeError, match="require"):
        torch.ones(2).register_hook(print)
    with pytest.raises(RuntimeError, match="require"):
        torch.ones(2).register_post_accumulate_grad_hook(print)


def test_hooks_of_a_node_see_both_sides() -> None:
    x = leaf(1.0, 2.0)
    y = x * 3
    seen = []
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs, outputs)))
    (y * 2).sum().backward()
    ((inputs, outputs),) = seen
    assert [each.tolist() for each in outputs] == [[2.0, 2.0]]
    assert inputs[0].tolist() == [6.0, 6.0]
    assert inputs[1] is None


def test_a_hook_of_a_node_can_replace_what_flows_on() -> None:
    x = leaf(1.0)
    y = x * 3
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 100, None))
    y.sum().backward()
    assert x.grad.item() == 300.0


def test_a_prehook_of_a_node_can_replace_what_arrives() -> None:
    x = leaf(1.0)
    y = x * 3
    handle = y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
    y.sum().backward(retain_graph=True)
    assert x.grad.item() == 30.0
    handle.remove()
    x.grad = None
    y.sum().backward()
    assert x.grad.item() == 3.0


def test_the_order_of_all_hooks_at_one_place() -> None:
    x = leaf(1.0)
    y = x * 2
    order: list[str] = []
    y.grad_fn.register_hook(lambda inputs, outputs: order.append("node"))
    y.grad_fn.register_prehook(lambda grads: order.append("prehook"))
    y.register_hook(lambda grad: order.append("tensor"))
    x.register_post_accumulate_grad_hook(lambda tensor: order.append("accumulated"))
    x.register_hook(lambda grad: order.append("leaf"))
    y.sum().backward()
    assert order == ["tensor", "prehook", "node", "leaf", "accumulated"]


def test_after_accumulation_the_gradient_is_there() -> None:
    x = leaf(1.0, 2.0)
    seen = []

    def step(tensor: torch.Tensor) -> None:
        assert tensor is x
        seen.append(tensor.grad.tolist())
        with torch.no_grad():
            tensor -= tensor.grad
        tensor.grad = None

    handle = x.register_post_accumulate_grad_hook(step)
    (x * 3).sum().backward()
    assert seen == [[3.0, 3.0]]
    assert x.grad is None
    assert x.tolist() == [-2.0, -1.0]
    handle.remove()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_post_accumulate_hooks_belong_to_leaves() -> None:
    with pytest.raises(RuntimeError, match="leaf"):
        (leaf(1.0) * 2).register_post_accumulate_grad_hook(print)


def test_retain_grad_keeps_what_is_not_a_leaf() -> None:
    x = leaf(1.0)
    y = x * 2
    assert not y.retains_grad
    y.retain_grad()
    y.retain_grad()  # twice is once
    assert y.retains_grad
    (y * 5).sum().backward()
    assert y.grad.item() == 5.0
    assert x.grad.item() == 10.0


def test_retain_grad_adds_up() -> None:
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    (y * 5).sum().backward(retain_graph=True)
    (y * 3).sum().backward()
    assert y.grad.item() == 8.0


def test_retain_grad_of_a_leaf_changes_nothing() -> None:
    x = leaf(1.0)
    x.retain_grad()
    assert not x.retains_grad
    with pytest.raises(RuntimeError, match="requires_grad=False"):
        torch.ones(1).retain_grad()


def test_retained_is_the_gradient_after_the_hooks() -> None:
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda grad: grad * 10)
    y.sum().backward()
    assert y.grad.item() == 10.0


def test_hooks_follow_a_tensor_through_in_place_writes() -> None:
    """A hook sees the gradient of the value that it was registered on."""
    x = leaf(1.0)
    y = x * 2
    seen = []
    y.register_hook(lambda grad: seen.append(("before", grad.item())))
    y.mul_(5)
    y.register_hook(lambda grad: seen.append(("after", grad.item())))
    (y * 3).sum().backward()
    assert seen == [("after", 3.0), ("before", 15.0)]


def changed_by_another_view(y: torch.Tensor) -> None:
    y[1:].mul_(5)


def changed_by_base(y: torch.Tensor) -> None:
    y.mul_(5)


@pytest.mark.parametrize("change", [changed_by_another_view, changed_by_base])
def test_retained_gradient_of_a_view_that_others_change(change: Callable) -> None:
    """It is the gradient of what the view is when it is used."""
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    view = y[:2]
    view.retain_grad()
    change(y)
    change(y)
    (view * view).sum().backward()
    assert view.retains_grad
    assert torch.equal(view.grad, 2 * view.detach())


def test_retained_gradient_of_a_base_that_a_view_changes() -> None:
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    y.retain_grad()
    y[:2].mul_(5)
    (y * y).sum().backward()
    assert y.grad.tolist() == [10.0, 20.0, 6.0]
    assert x.grad.tolist() == [50.0, 100.0, 6.0]


def test_retained_gradient_of_a_view_of_a_leaf() -> None:
    x = leaf(1.0, 2.0, 3.0)
    view = x[:2]
    view.retain_grad()
    with torch.no_grad():
        x.mul_(2)
    (view * view).sum().backward()
    assert view.grad.tolist() == [4.0, 8.0]


def test_hooks_of_a_base_stay_with_what_it_was() -> None:
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    seen = []
    y.register_hook(lambda grad: seen.append(("before", grad.tolist())))
    y[:2].mul_(5)
    y.register_hook(lambda grad: seen.append(("after", grad.tolist())))
    (y * y).sum().backward()
    assert seen == [("after", [10.0, 20.0, 6.0]), ("before", [50.0, 100.0, 6.0])]


def test_a_hook_on_a_view_that_its_base_has_changed() -> None:
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    view = y[:2]
    seen = []
    view.register_hook(lambda grad: seen.append("before"))
    y.mul_(5)
    view.register_hook(lambda grad: seen.append(grad.tolist()))
    (view * view).sum().backward()
    assert seen == [[10.0, 20.0]]


def test_hooks_of_a_leaf_outlive_its_graphs() -> None:
    x = leaf(2.0)
    count = []
    x.register_hook(lambda grad: count.append(1))
    for _ in range(3):
        (x * 2).sum().backward()
    assert len(count) == 3


def test_hooks_run_for_grad_too() -> None:
    x = leaf(1.0)
    x.register_hook(lambda grad: grad * 7)
    (grad,) = torch.autograd.grad((x * 2).sum(), x)
    assert grad.item() == 14.0


def test_hooks_see_gradients_with_a_graph() -> None:
    x = leaf(3.0)
    seen = []
    y = x**3
    y.register_hook(lambda grad: seen.append(grad.requires_grad))
    x.register_hook(lambda grad: seen.append(grad.requires_grad))
    (grad,) = torch.autograd.grad(y, x, torch.ones(1), create_graph=True)
    assert seen == [False, True]
    assert torch.autograd.grad(grad, x)[0].item() == 18.0


def test_a_hook_on_several_gradients_at_once() -> None:
    x, y = leaf(1.0), leaf(2.0)
    a, b = x * 2, y * 3
    seen = []
    torch.autograd.graph.register_multi_grad_hook(
        (a, b), lambda grads: seen.append([each.item() for each in grads])
    )
    (a * 4 + b * 5).sum().backward()
    assert seen == [[4.0, 5.0]]


def test_saved_tensors_can_be_packed() -> None:
    x = leaf(3.0)
    packed = []

    def pack(tensor: torch.Tensor) -> list[float]:
        packed.append(tensor.tolist())
        return tensor.tolist()

    with torch.autograd.graph.saved_tensors_hooks(pack, torch.tensor):
        y = x**3
    assert packed == [[3.0]]
    y.sum().backward()
    assert x.grad.item() == 27.0


def test_saving_can_be_forbidden() -> None:
    x = leaf(3.0)
    with (
        torch.autograd.graph.disable_saved_tensors_hooks("not here"),
        pytest.raises(RuntimeError, match="not here"),
        torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t),
    ):
        x.exp()
