"""Lists that the code of their own items, or of another argument, changes while they are read."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

import flambeau as fb

REFUSALS = (RuntimeError, TypeError, ValueError, IndexError, KeyError, AttributeError)


class Number:
    """A number that does something to a list when it is looked at."""

    def __init__(self, act: Callable[[], None], value: int = 1) -> None:
        self.act = act
        self.value = value

    def __index__(self) -> int:
        self.act()
        return self.value

    def __float__(self) -> float:
        self.act()
        return float(self.value)

    def __bool__(self) -> bool:
        self.act()
        return True

    def __len__(self) -> int:
        self.act()
        raise TypeError("no length")

    def item(self) -> int:
        self.act()
        return self.value


class Plain(Number):
    """The same without a length, which arrays have and numbers do not."""

    __len__ = None  # type: ignore[assignment]


def overwrite() -> None:
    """Put other objects where those were that have just gone."""
    [Number(list) for _ in range(50)]


def emptied(items: list[Any]) -> None:
    items.clear()
    overwrite()


def replaced(items: list[Any]) -> None:
    items[:] = [object() for _ in items]
    overwrite()


def grown(items: list[Any]) -> None:
    items.extend([2] * 1000)


def hostile(act: Callable[[list[Any]], None], kind: type[Number], count: int = 8) -> list[Any]:
    items: list[Any] = []
    items.extend(kind(lambda: act(items)) for _ in range(count))
    return items


def group_with(items: list[Any]) -> Any:
    parameter = fb.nn.Parameter(fb.ones(2))
    parameter.grad = fb.ones(2)
    optimizer = fb.optim.Adam([parameter])
    optimizer.param_groups[0]["betas"] = items
    return optimizer


# Every way of reading a list: sizes, dimensions, numbers, data, indices.
READERS: dict[str, Callable[[list[Any]], Any]] = {
    "zeros": lambda items: fb.zeros(items),
    "empty": lambda items: fb.empty(items),
    "view": lambda items: fb.ones(1).view(items),
    "reshape": lambda items: fb.reshape(fb.ones(1), items),
    "expand": lambda items: fb.ones(1).expand(items),
    "repeat": lambda items: fb.ones(1).repeat(items),
    "permute": lambda items: fb.ones(1).permute(items),
    "sum": lambda items: fb.ones(1, 1).sum(items),
    "flip": lambda items: fb.flip(fb.ones(1, 1), items),
    "roll": lambda items: fb.roll(fb.ones(1, 1), items, items),
    "split": lambda items: fb.split(fb.ones(8), items),
    "pad": lambda items: fb.nn.functional.pad(fb.ones(1, 1, 4, 4), items),
    "conv": lambda items: fb.nn.functional.conv2d(
        fb.ones(1, 1, 9, 9), fb.ones(1, 1, 3, 3), stride=items[:2], padding=items
    ),
    "interpolate": lambda items: fb._C._nn.upsample_nearest2d(fb.ones(1, 1, 4, 4), items, items),
    "as_strided": lambda items: fb.as_strided(fb.ones(9), items, items),
    "tensordot": lambda items: fb.tensordot(fb.ones(1, 1), fb.ones(1, 1), items),
    "Size": lambda items: fb.Size(items),
    "tensor": lambda items: fb.tensor(items),
    "tensor of floats": lambda items: fb.tensor(items, dtype=fb.float64),
    "tensor of ints": lambda items: fb.tensor(items, dtype=fb.int64),
    "tensor of bools": lambda items: fb.tensor(items, dtype=fb.bool),
    "nested": lambda items: fb.tensor([items, items], dtype=fb.float32),
    "as_tensor": lambda items: fb.as_tensor(items, dtype=fb.float32),
    "index": lambda items: fb.ones(4, 4)[items],
    "index like a tuple": lambda items: fb.ones(*[1] * 9)[[None, *items]],
    "index within": lambda items: fb.ones(4, 4)[:, items],
    "assignment": lambda items: fb.ones(4, 4).__setitem__(items, 1.0),
    "slice": lambda items: fb.ones(9)[items[0] :],
    "betas": lambda items: group_with(items).step(),
    "quantile": lambda items: fb.quantile(fb.ones(3), fb.tensor(items, dtype=fb.float32)),
    "histogramdd": lambda items: fb.histogramdd(fb.ones(3, 8), items),
    "linspace": lambda items: fb.full(items, items[0]),
    "generator": lambda items: fb.randint(0, 3, items),
    "hook": lambda items: hooked(items),
}


def hooked(items: list[Any]) -> None:
    x = fb.ones(2, requires_grad=True)
    y = x * 2
    y.grad_fn.register_hook(lambda inputs, outputs: items)
    y.sum().backward()


@pytest.mark.parametrize("kind", [Number, Plain])
@pytest.mark.parametrize("act", [emptied, replaced, grown])
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_items_that_change_their_list(
    read: Callable[[list[Any]], Any],
    act: Callable[[list[Any]], None],
    kind: type[Number],
) -> None:
    """Some result or a refusal: but what is being read stays until it was."""
    for _ in range(3):
        with contextlib.suppress(*REFUSALS):
            read(hostile(act, kind))
    assert fb.ones(2).sum() == 2


# A list of tensors fits, and is no list of tensors any more when it is read.
BESIDE: dict[str, Callable[[list[Any], Any], Any]] = {
    "cat": lambda tensors, number: fb.cat(tensors, number),
    "stack": lambda tensors, number: fb.stack(tensors, number),
    "cat by name": lambda tensors, number: fb.cat(tensors=tensors, dim=number),
    "out": lambda tensors, number: fb.topk(fb.ones(4), number, out=(tensors[0], tensors[1])),
    "out in a list": lambda tensors, number: fb.aminmax(fb.ones(4), dim=number, out=tensors[:2]),
    "foreach": lambda tensors, number: fb._foreach_add(tensors, number),
    "einsum": lambda tensors, number: fb.einsum("i,i", tensors),
    "meshgrid": lambda tensors, number: fb.meshgrid(tensors, indexing="ij"),
    "clip": lambda tensors, number: fb.nn.utils.clip_grad_norm_(tensors, number),
    "index_put": lambda tensors, number: fb.ones(4).index_put_(tensors, fb.ones(1)),
}


@pytest.mark.parametrize("act", [emptied, replaced, grown])
@pytest.mark.parametrize("call", BESIDE.values(), ids=BESIDE)
def test_arguments_that_change_another(
    call: Callable[[list[Any], Any], Any], act: Callable[[list[Any]], None]
) -> None:
    for _ in range(3):
        tensors: list[Any] = [fb.ones(2) for _ in range(4)]
        with contextlib.suppress(*REFUSALS):
            call(tensors, Plain(lambda tensors=tensors: act(tensors), 0))
    assert fb.ones(2).sum() == 2


@pytest.mark.parametrize("shrink", ["resize_", "data"])
def test_an_index_that_shrinks_the_tensor(shrink: str) -> None:
    """A view that was begun before would reach beyond the elements."""
    x = fb.ones(100, 100)

    def act() -> None:
        if shrink == "data":
            x.data = fb.ones(1, 1)
        else:
            x.resize_(1, 1)

    with pytest.raises(IndexError, match="index 99 is out of bounds for dimension 0 with size 1"):
        x[99, Plain(act, 0)]
    x = fb.ones(100, 100)
    assert x[90:, Plain(act, 0)].shape == (0,)
    x = fb.ones(100, 100)
    with pytest.raises(IndexError, match="index 99 is out of bounds"):
        x[99, Plain(act, 0)] = 1.0


def test_a_number_whose_tensor_is_emptied() -> None:
    number = fb.tensor(1)
    with pytest.raises((TypeError, RuntimeError)):
        fb.zeros([Plain(lambda: number.resize_(0)), number])


def test_lists_within_themselves() -> None:
    items: list[Any] = []
    items.append(items)
    with fb.profiler.profile(record_shapes=True), pytest.raises(REFUSALS):
        fb.zeros(items)
    for call in (fb.cat, fb.tensor, fb.stack, fb.zeros, fb.ones(3).__getitem__):
        with pytest.raises((*REFUSALS, RecursionError)):
            call(items)


@pytest.mark.parametrize("number", [-1, 1, 2**31, 2**32, 2**70])
def test_edges_to_results_that_a_node_does_not_have(number: int) -> None:
    x = fb.ones(2, requires_grad=True)
    y = x * 2
    edge = fb.autograd.graph.GradientEdge(y.grad_fn, number)
    with pytest.raises((IndexError, RuntimeError, TypeError), match=r"result|64 bits"):
        fb.autograd.grad([edge], [x], grad_outputs=[fb.ones(2)])
    with pytest.raises((IndexError, RuntimeError, TypeError), match=r"result|64 bits"):
        fb.autograd.grad(y.sum(), [edge])
