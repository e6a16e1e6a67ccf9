"""An exported program is right for every size that it accepts, and for every number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import flambeau as torch
from flambeau import nn
from flambeau._dynamo.exc import UserError
from flambeau._limits.accepted import AcceptedWarning, _said
from flambeau.export import Dim, export


class Function(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


def exported(function: Callable[..., Any], dim: Any) -> Any:
    return export(Function(function), (torch.ones(4, 3),), dynamic_shapes={"x": {0: dim}}).module()


def loop(x):
    for number in range(x.shape[0]):
        x = x + number
    return x


BUILT_IN = {
    "float": lambda x: x * float(x.shape[0]),
    "quotient": lambda x: x * (x.shape[0] / 2),
    "length": lambda x: x * len(x),
    "loop": loop,
    "branch": lambda x: x if x.shape[0] > 100 else x * 2,
    "even": lambda x: x if x.shape[0] % 2 else x * 2,
}


@pytest.mark.parametrize("name", BUILT_IN)
def test_sizes_that_are_built_in(name: str):
    with pytest.raises(UserError, match=r"Constraints violated \(batch\)"):
        exported(BUILT_IN[name], Dim("batch"))
    program = exported(BUILT_IN[name], Dim.AUTO)
    assert torch.equal(program(torch.ones(4, 3)), BUILT_IN[name](torch.ones(4, 3)))
    with pytest.raises(AssertionError, match=r"Guard failed: x\.size\(\)\[0\] == 4"):
        program(torch.ones(7, 3))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * x.shape[0],
        lambda x: x.reshape(x.shape[0] * 3),
        lambda x: torch.full((x.numel(),), 2.0) * (x.shape[0] // 2),
    ],
)
def test_sizes_that_stay_sizes(function: Callable[..., Any]):
    program = exported(function, Dim("batch"))
    for size in (1, 2, 7):
        assert torch.equal(program(torch.ones(size, 3)), function(torch.ones(size, 3)))


def test_bounds_may_leave_one_branch():
    program = exported(BUILT_IN["branch"], Dim("batch", max=50))
    assert program(torch.ones(50, 3))[0, 0] == 2


def test_a_size_of_one_that_is_another_case():
    program = exported(lambda x: x + 1 if x.shape[0] == 1 else x * 2, Dim("batch"))
    assert program(torch.ones(9, 3))[0, 0] == 2
    with pytest.raises(AssertionError, match=r"Guard failed: x\.size\(\)\[0\] >= 2"):
        program(torch.ones(1, 3))


@pytest.mark.parametrize(("value", "other"), [(3, 5), ("a", "b"), (None, 5), (1, True)])
def test_values_that_are_built_in(value: Any, other: Any):
    class Scaled(nn.Module):
        def forward(self, x, value):
            return x * {3: 3, "a": 2, None: 1, 1: 1}[value]

    x = torch.ones(2)
    program = export(Scaled(), (x, value)).module()
    assert torch.equal(program(x, value), Scaled()(x, value))
    with pytest.raises(AssertionError, match="Guard failed: value == "):
        program(x, other)


def test_modes_are_those_of_the_export():
    program = export(nn.Dropout(0.5).eval(), (torch.ones(2),)).module()
    for call in (program.train, program.eval):
        with pytest.raises(NotImplementedError, match=r"before torch\.export\.export"):
            call()


def test_options():
    net, inputs = nn.Linear(3, 2), (torch.ones(4, 3),)
    _said.clear()
    with pytest.warns(AcceptedWarning, match=r"export\(strict\) is accepted without effect"):
        program = export(net, inputs, strict=True)
    with pytest.raises(NotImplementedError, match="preserve_module_call_signature="):
        export(net, inputs, preserve_module_call_signature=("",))
    with pytest.warns(AcceptedWarning, match="keeps its operators"):
        program.run_decompositions()
    assert program.run_decompositions({}).graph is program.graph
    with pytest.raises(NotImplementedError, match="operators are not replaced by others"):
        program.run_decompositions({torch.ops.aten.linear.default: lambda *args: None})
