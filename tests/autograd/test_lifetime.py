"""How long tensors live: cycles are collected, what the graph holds keeps its Python side."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import flambeau as torch
from tests.autograd.walk import reachable


class Canary:
    """An object whose end can be observed."""


def leaf_hook() -> torch.Tensor:
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda grad: x + grad)
    return x


def tensor_hook() -> torch.Tensor:
    y = torch.ones(2, requires_grad=True) * 2
    y.register_hook(lambda grad: y + grad)
    return y


def post_accumulate_hook() -> torch.Tensor:
    x = torch.ones(2, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda tensor: x.retains_grad or None)
    return x


def node_hook() -> torch.Tensor:
    y = torch.ones(2, requires_grad=True) * 2
    y.grad_fn.register_hook(lambda inputs, outputs: y.retains_grad or None)
    return y


def node_metadata() -> torch.Tensor:
    y = torch.ones(2, requires_grad=True) * 2
    y.grad_fn.metadata["result"] = y
    return y


def own_attribute() -> torch.Tensor:
    x = torch.ones(2, requires_grad=True)
    x.me = x
    return x


class Remembering(torch.autograd.Function):
    """Keeps its result in the context, as users should not."""

    @staticmethod
    def forward(ctx, x):
        ctx.canary = Canary()
        ctx.result = x * 2
        return ctx.result

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def context_attribute() -> torch.Tensor:
    return Remembering.apply(torch.ones(2, requires_grad=True))


class Saving(torch.autograd.Function):
    """Saves its input and its result, as it should."""

    @staticmethod
    def forward(ctx, x):
        y = x * 2
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def saved_result() -> torch.Tensor:
    return Saving.apply(torch.ones(2, requires_grad=True))


CYCLES = [
    leaf_hook,
    tensor_hook,
    post_accumulate_hook,
    node_hook,
    node_metadata,
    own_attribute,
    context_attribute,
    saved_result,
]


@pytest.mark.parametrize("make", CYCLES)
def test_cycles_are_collected(make: Callable[[], torch.Tensor]) -> None:
    tensor = make()
    tensor.canary = Canary()
    watched = weakref.ref(tensor.canary)
    del tensor
    gc.collect()
    assert watched() is None


@pytest.mark.parametrize("make", CYCLES)
def test_what_is_in_use_is_not_collected(make: Callable[[], torch.Tensor]) -> None:
    """The collector must not take a tensor that only the graph still holds."""
    tensor = make()
    tensor.canary = Canary()
    watched = weakref.ref(tensor.canary)
    user = tensor * 1 if tensor.is_leaf else (tensor, tensor * 1)
    del tensor
    gc.collect()
    assert watched() is not None
    last = user if isinstance(user, torch.Tensor) else user[1]
    last.sum().backward()


def result_node() -> Any:
    return (torch.ones(2, requires_grad=True) * 2).grad_fn


def leaf_node() -> Any:
    return result_node().next_functions[0][0]


def function_node() -> Any:
    return Saving.apply(torch.ones(2, requires_grad=True)).grad_fn


NODE_HOOKS = {
    "after": lambda node, kept: node.register_hook(lambda *grads, kept=kept: None),
    "before": lambda node, kept: node.register_prehook(lambda grads, kept=kept: None),
    "metadata": lambda node, kept: node.metadata.update(kept=kept),
}


@pytest.mark.parametrize("add", NODE_HOOKS.values(), ids=NODE_HOOKS)
@pytest.mark.parametrize("make", [result_node, leaf_node, function_node])
def test_a_node_whose_hook_holds_it_is_collected(make: Callable, add: Callable) -> None:
    """In defaults, not in a closure: deleting a variable would empty its cell."""
    node, canary = make(), Canary()
    watched = weakref.ref(canary)
    add(node, (node, canary))
    del node, canary
    gc.collect()
    assert watched() is None


def test_a_hook_that_holds_its_tensor_is_called() -> None:
    """The collector must not empty hooks that the graph still needs."""
    seen = []
    y = torch.ones(2, requires_grad=True) * 2
    y.register_hook(lambda grad, y=y: seen.append(grad.tolist()))
    z = y * 3
    del y
    gc.collect()
    z.sum().backward()
    assert seen == [[3.0, 3.0]]


@pytest.mark.parametrize("make", [result_node, leaf_node, function_node])
def test_a_hook_that_holds_its_node_is_called(make: Callable) -> None:
    seen = []
    x = torch.ones(2, requires_grad=True)
    z = (Saving.apply(x) if make is function_node else x * 2) * 3
    node = z.grad_fn.next_functions[0][0]
    if make is leaf_node:
        node = node.next_functions[0][0]
    node.register_hook(lambda *grads, node=node: seen.append(node.name()))
    del node
    gc.collect()
    z.sum().backward()
    assert len(seen) == 1


class Marked(torch.Tensor):
    """A subclass of a user."""


class TestObjects:
    """What Python knows of a tensor survives while only the graph holds it."""

    def test_attributes_of_a_leaf(self) -> None:
        x = torch.ones(2, requires_grad=True)
        x.tag = "kept"
        number = id(x)
        y = x * 2
        del x
        gc.collect()
        again = y.grad_fn.next_functions[0][0].variable
        assert again.tag == "kept"
        assert id(again) == number

    def test_subclass_of_a_leaf(self) -> None:
        x = torch.ones(2).as_subclass(Marked).requires_grad_()
        x.tag = "kept"
        node = (x * 2).grad_fn
        del x
        gc.collect()
        again = reachable(node)[-1].variable
        assert type(again) is Marked
        assert again.tag == "kept"

    def test_attributes_of_saved_inputs(self) -> None:
        seen = []

        class Reading(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * 2

            @staticmethod
            def backward(ctx, grad):
                (x,) = ctx.saved_tensors
                seen.append(x.tag)
                return grad * 2

        x = torch.ones(2, requires_grad=True)
        middle = x * 1
        middle.tag = "kept"
        y = Reading.apply(middle)
        del middle
        gc.collect()
        y.sum().backward()
        assert seen == ["kept"]

    def test_a_leaf_goes_with_its_graph(self) -> None:
        x = torch.ones(2, requires_grad=True)
        x.canary = Canary()
        watched = weakref.ref(x.canary)
        y = (x * 2).sum()
        del x
        gc.collect()
        assert watched() is not None
        del y
        gc.collect()
        assert watched() is None

    def test_the_gradient_is_one_object(self) -> None:
        x = torch.ones(2, requires_grad=True)
        (x * 2).sum().backward()
        x.grad.tag = "kept"
        gc.collect()
        (x * 3).sum().backward()
        assert x.grad.tag == "kept"


def test_weak_references_live_as_long_as_the_tensor() -> None:
    x = torch.ones(2, requires_grad=True)
    (x * x).sum().backward()
    watched = weakref.ref(x.grad)
    gc.collect()
    assert watched() is x.grad
    x.grad = None
    assert watched() is None
