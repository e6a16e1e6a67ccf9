"""Programs that make numbers of sizes or elements: saved, they answer the same or refuse.

Small functions are put together of a number and of something that is done with it, saved and
loaded again, and called with other sizes and elements than they were recorded with.
"""

from __future__ import annotations

import io
import math
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flambeau as torch
from flambeau import jit, nn
from flambeau._recording.other_sizes import same_results

NUMBERS = (
    *("x.shape[0]", "x.size(1)", "len(x)", "x.numel()", "x.ndim", "sum(x.shape)", "max(x.shape)"),
    *(
        "math.prod(x.shape)",
        "x.shape.numel()",
        "x.flatten().shape[0]",
        "np.prod(x.shape)",
        "hash(x.shape) % 7",
    ),
    *("int(x.shape[0])", "float(x.shape[0])", "x.shape[0] ** 2", "x.shape[0] // 2", "2 ** len(x)"),
    *("x.shape[0] / 3", "0.5 * x.shape[0]", "x.shape[0] * 0.5", "abs(x.shape[0] - 5)", "-len(x)"),
    *("divmod(x.shape[0], 3)[1]", "x.shape[0] & 1", "x.shape[0] >> 1", "round(x.shape[0] / 2)"),
    *("math.sqrt(x.shape[0])", "bool(x.shape[0] % 2)", "len(x.split(2))", "len([0] * len(x))"),
    *("x.shape[0] > 2.5", "x.shape[0] == x.shape[1]", "x.shape[0] in (1, 7)", "not x.shape[0] % 7"),
    *("int(x.sum())", "x.sum().item()", "float(x.max())", "x.tolist()[0][0]", "x.numpy().sum()"),
    *("np.asarray(x).max()", "bool((x > 0).any())", "len(x.nonzero())", "random.random()"),
    *("[v for row in x for v in row][0].item()", "3 in x", "max(x.sum(1))", "sum(x[0])"),
)
USES = (
    *("x * ({})", "x if ({}) > 3 else x * 2", "x * 2 if ({}) else x", "x + torch.tensor({})"),
    *("looped(x, {})", "x.roll(int({}) % 4, 0)", "torch.arange(int({}) % 9) + x.sum()"),
)


def looped(x: torch.Tensor, count: Any) -> torch.Tensor:
    for number in range(int(count) % 7):
        x = x + number
    return x


def made(number: str, use: str) -> Callable[..., Any]:
    names = {"torch": torch, "np": np, "math": math, "random": random, "looped": looped}
    function: Callable[..., Any] = eval(f"lambda x: {use.format(number)}", names)
    return function


class Net(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x)


def through_a_script(function: Callable[..., Any]) -> Any:
    script = jit.script(Net(function))
    script(torch.rand(4, 3))
    file = io.BytesIO()
    jit.save(script, file)
    file.seek(0)
    return jit.load(file)


def through_a_program(function: Callable[..., Any]) -> Any:
    sizes = {0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO}
    program = torch.export.export(Net(function), (torch.rand(4, 3),), dynamic_shapes=(sizes,))
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    return torch.export.load(file).module()


def tried(function: Callable[..., Any], x: torch.Tensor) -> tuple[bool, Any]:
    random.seed(0)
    try:
        return True, function(x.clone())
    except Exception:
        return False, None


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("saved", [through_a_script, through_a_program])
def test_the_same_or_refused(saved: Callable[..., Any], number: str):
    sizes = [(5, 3), (1, 3), (7, 2), (8, 8), (16, 3), (4, 6)]
    inputs = [torch.rand(size) * 4 - 1 for size in sizes]
    for use in USES:
        function = made(number, use)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not tried(function, torch.rand(4, 3))[0]:
                continue
            try:
                loaded = saved(function)
            except RuntimeError:  # UserError is one, too
                continue
            for x in inputs:
                succeeds, expected = tried(function, x)
                answers, result = tried(loaded, x)
                if succeeds and answers:
                    assert same_results(result, expected), (use.format(number), tuple(x.shape))


def test_what_was_decided_is_said():
    loaded = through_a_script(made("x.numel()", "x if {} > 3 else x * 2"))
    assert torch.equal(loaded(torch.ones(2, 2)), torch.ones(2, 2))
    with pytest.raises(RuntimeError, match=r"recorded where 'gt 2 3' was True: .* otherwise"):
        loaded(torch.ones(2, 1))


def test_sizes_that_do_not_matter_may_still_differ():
    loaded = through_a_script(lambda x: x.reshape(x.shape[1], -1) * (x.shape[0] // 2 + x.numel()))
    for size in [(4, 3), (6, 5), (9, 1)]:
        x = torch.rand(size)
        expected = x.reshape(x.shape[1], -1) * (x.shape[0] // 2 + x.numel())
        assert torch.equal(loaded(x), expected)
