"""Calling a module: what is looked up when, and what a class may override."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from typing import Any

import pytest

import flambeau as torch
from flambeau import nn


class Echo(nn.Module):
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return args, kwargs


def test_arguments_arrive_as_they_were_given() -> None:
    net = Echo()
    many = {f"k{i}": i for i in range(30)}
    assert net() == ((), {})
    assert net(1, 2, a=3) == ((1, 2), {"a": 3})
    assert net(*range(50), **many) == (tuple(range(50)), many)


def test_without_forward() -> None:
    with pytest.raises(NotImplementedError, match=r"Module \[Module\] is missing the required"):
        nn.Module()(1)


def test_forward_is_looked_up_at_each_call() -> None:
    class Changing(nn.Module):
        def forward(self, x: int) -> int:
            return x + 1

    net = Changing()
    assert net(1) == 2
    Changing.forward = lambda self, x: x + 10
    assert net(1) == 11
    net.forward = lambda x: x + 100
    assert net(1) == 101
    del net.forward
    assert net(1) == 11


@pytest.mark.parametrize(
    ("forward", "expected"),
    [
        (staticmethod(lambda x: ("static", x)), ("static", 1)),
        (classmethod(lambda cls, x: (cls.__name__, x)), ("Made", 1)),
        (property(lambda self: lambda x: ("property", x)), ("property", 1)),
    ],
)
def test_forward_of_other_kinds(forward: Any, expected: Any) -> None:
    assert type("Made", (nn.Module,), {"forward": forward})()(1) == expected


def test_a_class_with_its_own_call() -> None:
    class Own(nn.Module):
        def __call__(self, x: int) -> Any:
            return "own", super().__call__(x)

        def forward(self, x: int) -> int:
            return x + 1

    net = Own()
    assert net(1) == ("own", 2)
    assert nn.Sequential(net)(1) == ("own", 2)
    assert nn.Module.__call__(net, 1) == 2
    assert net._call_impl(1) == 2


def test_call_patched_on_module_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    original = nn.Module.__call__

    def noted(self: Any, *args: Any, **kwargs: Any) -> Any:
        calls.append(type(self).__name__)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(nn.Module, "__call__", noted)
    net = nn.Sequential(nn.Identity(), Echo())
    net(1)
    assert calls == ["Sequential", "Identity", "Echo"]
    monkeypatch.undo()
    net(1)
    assert len(calls) == 3


def test_errors_come_out_as_they_are() -> None:
    class Failing(nn.Module):
        def forward(self, x: int) -> Any:
            raise ZeroDivisionError("within")

    with pytest.raises(ZeroDivisionError, match="within"):
        nn.Sequential(nn.Identity(), Failing())(1)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Failing()()


def test_deep_recursion_ends_in_an_error() -> None:
    class Endless(nn.Module):
        def forward(self, x: int) -> Any:
            return self(x + 1)

    with pytest.raises(RecursionError):
        Endless()(0)


def test_sequential_calls_its_children_in_order() -> None:
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    x = torch.randn(3, 4)
    expected = net[2](torch.relu(net[0](x)))
    assert torch.equal(net(x), expected)
    assert torch.equal(net(input=x), expected)
    assert nn.Sequential()(x) is x
    with pytest.raises(TypeError, match=r"Sequential.forward\(\) takes 2 positional arguments"):
        net(x, x)
    with pytest.raises(TypeError, match="unexpected keyword argument 'y'"):
        net(y=x)
    assert str(inspect.signature(net.forward)) == "(input)"


def test_sequential_with_an_order_of_its_own() -> None:
    class Backwards(nn.Sequential):
        def __iter__(self) -> Any:
            return reversed(list(self._modules.values()))

    class Add(nn.Module):
        def forward(self, text: str) -> str:
            return text + self.letter

    one, two = Add(), Add()
    one.letter, two.letter = "a", "b"
    assert nn.Sequential(one, two)("") == "ab"
    assert Backwards(one, two)("") == "ba"


def test_a_sequential_whose_children_were_put_in_by_hand() -> None:
    net = nn.Sequential()
    net._modules = OrderedDict(b=nn.Flatten(0), a=nn.Linear(4, 2))
    assert net(torch.ones(2, 2)).shape == (2,)
    net._modules.move_to_end("b")
    with pytest.raises(RuntimeError):
        net(torch.ones(2, 2))
    net._modules = {}
    assert net(3) == 3


def test_a_sequential_within_itself() -> None:
    net = nn.Sequential(nn.Identity())
    net.append(net)
    with pytest.raises(RecursionError):
        net(1)


def test_a_sequential_that_changes_under_way() -> None:
    class Growing(nn.Module):
        def forward(self, x: int) -> int:
            net.append(nn.Identity())
            return x

    net = nn.Sequential(Growing(), nn.Identity())
    with pytest.raises(RuntimeError, match="changed size during iteration"):
        net(1)


def test_one_module_with_several_inputs_and_outputs() -> None:
    class Split(nn.Module):
        def forward(self, x: Any, parts: int = 2) -> Any:
            return x.chunk(parts)

    a, b, c = Split()(torch.arange(6.0), parts=3)
    assert [t.tolist() for t in (a, b, c)] == [[0, 1], [2, 3], [4, 5]]


def test_signature_of_a_module():
    class Own(nn.Module):
        def __init__(self, width: int = 3) -> None:
            super().__init__()

        def __call__(self, x: torch.Tensor) -> torch.Tensor:
            return x

    assert str(inspect.signature(nn.Linear(2, 2))) == "(*args, **kwargs)"
    assert list(inspect.signature(Own()).parameters) == ["x"]
    assert list(inspect.signature(Own).parameters) == ["width"]
    assert list(inspect.signature(nn.ReLU).parameters) == ["inplace"]
