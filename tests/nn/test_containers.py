"""Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest

import flambeau as torch
from flambeau import nn


def layers(count: int) -> list[nn.Module]:
    return [nn.Linear(n, n + 1) for n in range(1, count + 1)]


def widths(modules: Any) -> list[int]:
    return [module.in_features for module in modules]


def test_sequential_of_names() -> None:
    net = nn.Sequential(OrderedDict(hidden=nn.Linear(3, 4), out=nn.Linear(4, 2)))
    assert net.hidden is net[0]
    assert list(net.state_dict()) == ["hidden.weight", "hidden.bias", "out.weight", "out.bias"]
    assert repr(net) == (
        "Sequential(\n"
        "  (hidden): Linear(in_features=3, out_features=4, bias=True)\n"
        "  (out): Linear(in_features=4, out_features=2, bias=True)\n"
        ")"
    )
    assert list(net[1:]._modules) == ["out"]


@pytest.mark.parametrize("kind", [lambda modules: nn.Sequential(*modules), nn.ModuleList])
def test_rows_are_edited_like_lists(kind: Any) -> None:
    net, expected = kind(layers(6)), [1, 2, 3, 4, 5, 6]
    assert len(net) == 6
    assert widths(net[1:4]) == [2, 3, 4]
    assert widths([net[-1], net[2]]) == [6, 3]
    net[2] = nn.Linear(9, 9)
    expected[2] = 9
    del net[0]
    del expected[0]
    del net[1:4:2]
    del expected[1:4:2]
    assert widths(net) == expected
    net.append(nn.Linear(7, 7))
    net.extend([nn.Linear(8, 8)])
    net.insert(1, nn.Linear(5, 5))
    assert widths([net.pop(0), net.pop(-1)]) == [2, 8]
    expected = [5, *expected[1:], 7]
    assert widths(net) == expected
    assert list(net._modules) == [str(i) for i in range(len(expected))]
    with pytest.raises(IndexError, match="index 10 is out of range"):
        net[10]
    with pytest.raises(TypeError, match="int is not a Module subclass"):
        net.append(3)


def test_sequential_arithmetic() -> None:
    one, two = nn.Sequential(*layers(2)), nn.Sequential(*layers(1))
    assert widths(one + two) == [1, 2, 1]
    assert widths(one * 2) == widths(2 * one) == [1, 2, 1, 2]
    one += two
    one *= 2
    assert widths(one) == [1, 2, 1, 1, 2, 1]
    with pytest.raises(ValueError, match="supports only objects of Sequential class"):
        one + layers(1)
    with pytest.raises(ValueError, match="Non-positive multiplication factor 0"):
        one * 0
    with pytest.raises(TypeError, match="unsupported operand"):
        one * 1.5
    with pytest.raises(IndexError, match="Index out of range: 9"):
        one.insert(9, nn.Identity())


def test_module_list() -> None:
    net = nn.ModuleList(layers(2))
    net += layers(1)
    assert widths(net) == [1, 2, 1]
    assert widths(net + nn.ModuleList(layers(1))) == [1, 2, 1, 1]
    assert sum(p.numel() for p in net.parameters()) == 4 + 9 + 4
    with pytest.raises(TypeError, match="should be called with an iterable, but got int"):
        net.extend(3)
    with pytest.raises(NotImplementedError):
        net(torch.ones(1))


def test_a_list_of_the_same_is_shown_once() -> None:
    net = nn.ModuleList([*(nn.Linear(2, 2) for _ in range(3)), nn.Sequential(nn.Linear(1, 1))])
    assert repr(net) == (
        "ModuleList(\n"
        "  (0-2): 3 x Linear(in_features=2, out_features=2, bias=True)\n"
        "  (3): Sequential(\n"
        "    (0): Linear(in_features=1, out_features=1, bias=True)\n"
        "  )\n"
        ")"
    )


def test_module_dict() -> None:
    net = nn.ModuleDict({"b": nn.Linear(1, 1), "a": nn.Linear(2, 2)})
    net["c"] = nn.Linear(3, 3)
    net.update([("d", nn.Linear(4, 4)), ("a", nn.Linear(5, 5))])
    assert list(net) == list(net.keys()) == ["b", "a", "c", "d"]
    assert widths(net.values()) == [1, 5, 3, 4]
    assert "c" in net
    assert net.pop("b").in_features == 1
    del net["c"]
    assert [key for key, _ in net.items()] == ["a", "d"]
    net.clear()
    assert len(net) == 0
    with pytest.raises(KeyError):
        net["a"]
    with pytest.raises(ValueError, match="element #0 has length 3; 2 is required"):
        net.update([(1, 2, 3)])


def test_parameter_list() -> None:
    values = nn.ParameterList([torch.ones(2, 3), nn.Parameter(torch.ones(1)), "text"])
    values.append(torch.zeros(4))
    values[1] = torch.zeros(5)
    assert [type(v).__name__ for v in values] == ["Parameter", "Parameter", "str", "Parameter"]
    assert list(values.state_dict()) == ["0", "1", "3"]
    assert len(values[1:3]) == 2
    values += [torch.ones(1)]
    assert len(values) == 5
    assert repr(values) == (
        "ParameterList(\n"
        "    (0): Parameter containing: [torch.float32 of size 2x3]\n"
        "    (1): Parameter containing: [torch.float32 of size 5]\n"
        "    (2): Object of type: str\n"
        "    (3): Parameter containing: [torch.float32 of size 4]\n"
        "    (4): Parameter containing: [torch.float32 of size 1]\n"
        ")"
    )
    with pytest.raises(TypeError, match="with an iterable, but got Tensor"):
        values.extend(torch.ones(2))
    with pytest.raises(RuntimeError, match="should not be called"):
        values()


def test_parameter_dict() -> None:
    values = nn.ParameterDict({"b": torch.ones(1), "a": torch.ones(2), "n": 3})
    assert list(values) == ["a", "b", "n"]  # a plain dict is sorted
    values["z"] = torch.ones(4)
    assert list(reversed(values)) == ["z", "n", "b", "a"]
    assert values.get("q", 5) == 5
    assert values.setdefault("n", 4) == 3
    assert values.popitem()[0] == "z"
    assert values.pop("n") == 3
    merged = values | nn.ParameterDict({"c": torch.ones(3)})
    assert [name for name, _ in merged.named_parameters()] == ["a", "b", "c"]
    assert [tuple(v.shape) for v in merged.values()] == [(2,), (1,), (3,)]
    assert merged["a"] is values["a"]
    values |= merged
    assert len(values.copy()) == 3
    values.clear()
    assert len(list(values.parameters())) == 0
    with pytest.raises(TypeError, match=r"not a string \(type is 'int'\)"):
        values[3] = torch.ones(1)


def test_lists_within_a_network_are_trained() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(4))
            self.gains = nn.ParameterList(torch.ones(3) for _ in range(4))

        def forward(self, x: Any) -> Any:
            for layer, gain in zip(self.layers, self.gains, strict=True):
                x = torch.tanh(layer(x)) * gain
            return x

    net = Net()
    net(torch.randn(2, 3)).sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    assert len(list(net.parameters())) == 12
