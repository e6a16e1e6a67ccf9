"""Sizes that Python takes for numbers while a trace is recorded: warned of, with the line."""

from __future__ import annotations

import copy
import inspect
import io
import itertools
import math
import numbers
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flambeau as torch
from flambeau import jit, nn

LEFT = "a size of 4 became a Python number"


def by_loop(x):
    for number in range(x.shape[0]):
        x = x + number
    return x


def by_batches(x):
    for _ in range(2):
        for start in range(0, x.size(0), 2):
            x = x + start
    return x


WAYS: dict[str, Callable[..., Any]] = {
    "loop": by_loop,
    "steps": by_batches,
    "list": lambda x: x * sum([0.5] * x.shape[0]),
    "repeated tuple": lambda x: x * sum(x.size(0) * (0.5,)),
    "item of a list": lambda x: x * [1, 2, 3, 4, 5, 6][x.shape[0]],
    "slice of a list": lambda x: x * sum([1, 2, 3, 4, 5, 6][: x.shape[0]]),
    "iterator": lambda x: x * sum(itertools.islice(itertools.count(), x.shape[0])),
    "whole numbers": lambda x: x * math.comb(6, x.shape[0]),
    "computed size": lambda x: x * len(range(x.shape[0] * 2 // 2)),
    "numpy": lambda x: x * float(np.sqrt(x.shape[0])),
}


@pytest.mark.parametrize("name", WAYS)
def test_a_size_that_becomes_a_number_is_said(name: str):
    function = WAYS[name]
    with pytest.warns(jit.TracerWarning, match=LEFT) as caught:
        traced = jit.trace(function, torch.ones(4, 3))
    assert [each.filename for each in caught] == [__file__]
    first = function.__code__.co_firstlineno
    assert first <= caught[0].lineno < first + len(inspect.getsource(function).splitlines())
    expected = function(torch.ones(4, 3))
    assert torch.equal(traced(torch.ones(4, 3)), expected)
    # What it did for the example, as in PyTorch.
    assert torch.equal(traced(torch.ones(2, 3)), expected[:2])


@pytest.mark.parametrize("read", [len, bool, float, torch.Tensor.item, torch.Tensor.tolist])
def test_reads_name_the_line(read: Callable[..., Any]):
    with pytest.warns(jit.TracerWarning) as caught:
        jit.trace(lambda x: x * (read(x) and 2), torch.ones(1), check_trace=False)
    assert [each.filename for each in caught] == [__file__]


def test_of_modules():
    class Net(nn.Module):
        def forward(self, x):
            return by_loop(x)

    with pytest.warns(jit.TracerWarning, match=LEFT):
        jit.trace(Net(), torch.ones(4, 3))
    with pytest.warns(jit.TracerWarning, match=LEFT):
        jit.trace_module(Net(), {"forward": torch.ones(4, 3)})


def test_check_inputs_of_another_size():
    x, longer = torch.ones(4, 3), torch.ones(5, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jit.TracerWarning)
        jit.trace(by_loop, x, check_inputs=[x * 2])
        with pytest.raises(jit.TracingCheckError, match="does not hold for check_inputs"):
            jit.trace(by_loop, x, check_inputs=[longer])
        with pytest.raises(jit.TracingCheckError, match="does not hold for check_inputs"):
            jit.trace(by_loop, example_kwarg_inputs={"x": x}, check_inputs=[{"x": longer}])


def test_check_inputs_by_name():
    class Net(nn.Module):
        def forward(self, x, y):
            return x - y * y.shape[0]

    x, y = torch.ones(4, 3), torch.zeros(4, 3)
    more = {"y": torch.ones(2, 3), "x": torch.ones(2, 3)}
    traced = jit.trace(Net(), example_kwarg_inputs={"x": x, "y": y}, check_inputs=[more])
    assert torch.equal(traced(**more), Net()(**more))
    inputs = {"forward": {"x": x, "y": y}}
    traced = jit.trace_module(
        Net(), inputs, check_inputs=[{"forward": more}], example_inputs_is_kwarg=True
    )
    assert torch.equal(traced(**more), Net()(**more))


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda x: x * float(x.shape[0]), "trace fails .* recorded where 'is 5' was 4"),
        (lambda x: x.view(4, 3), "function fails"),
    ],
)
def test_check_inputs_that_fail(function: Callable[..., Any], what: str):
    jit.trace(function, torch.ones(4, 3))
    with pytest.raises(jit.TracingCheckError, match=f"(?s)the {what}"):
        jit.trace(function, torch.ones(4, 3), check_inputs=[torch.ones(5, 3)])


STAYING: dict[str, Callable[..., Any]] = {
    "arguments": lambda x: x.view(x.shape[0], -1)[: x.shape[0] - 1] * x.size(0),
    "unused": lambda x: x * 2 if len(x.shape) == 2 else x,
    "unpacked": lambda x: torch.zeros(*x.shape) + x.shape[-1],
    "product": lambda x: x.reshape(math.prod(x.shape)),
    "sum": lambda x: x * sum(x.shape),
    "parts": lambda x: x.view(+x.shape[0], -1) * x.shape[0].real + x.shape[1].imag,
    "arange": lambda x: torch.arange(x.shape[0])[:, None] + x,
    "split": lambda x: torch.cat(x.tensor_split([x.shape[0] // 2])[::-1]),
    "text": lambda x: x * len(f"{x.shape[0]:02d} of {x.shape}"[:1]),
    "kind": lambda x: x * 2 if isinstance(x.shape[0], int) else x,
    "kind of numbers": lambda x: x * 2 if isinstance(x.shape[0], numbers.Integral) else x,
}


@pytest.mark.parametrize("name", STAYING)
def test_sizes_that_stay_are_not_spoken_of(name: str):
    function = STAYING[name]
    traced = jit.trace(function, torch.ones(4, 3))
    for size in [(4, 3), (6, 2), (3, 5)]:
        x = torch.rand(size)
        assert torch.equal(traced(x), function(x))


def test_numbers_of_dimensions_are_checked_and_not_spoken_of():
    def by_dimension(x):
        for dim in range(x.dim()):
            x = x + dim
        return x.reshape((1,) * (x.ndim - 1) + (-1,))

    traced = jit.trace(by_dimension, torch.ones(4, 3))
    assert torch.equal(traced(torch.ones(2, 5)), by_dimension(torch.ones(2, 5)))
    with pytest.raises(RuntimeError, match="recorded where 'is 3' was 2"):
        traced(torch.ones(4, 3, 2))


def test_floats_ask_sizes():
    traced = jit.trace(lambda x: x * (0.5 * x.shape[0]), torch.ones(4, 3))
    assert traced(torch.ones(4, 2))[0, 0] == 2
    with pytest.raises(RuntimeError, match="recorded where 'is 5' was 4"):
        traced(torch.ones(5, 3))


def test_what_is_saved_is_for_these_sizes():
    def unequal(x):
        return x + len([0] * x.shape[0]) * 0

    scripted = jit.script(unequal)
    scripted(torch.ones(4, 3))
    file = io.BytesIO()
    jit.save(scripted, file)
    file.seek(0)
    loaded = jit.load(file)
    assert torch.equal(loaded(torch.ones(4, 3)), torch.ones(4, 3))
    with pytest.raises(RuntimeError, match="recorded where 'is 5' was 4"):
        loaded(torch.ones(5, 3))


def test_a_size_behaves_as_an_integer():
    seen = []

    def looking(x):
        n = x.shape[0]
        seen.append((n.bit_length(), n.to_bytes(2, "big"), n & 6, 1 << n, divmod(9, n), +n, ~n))
        seen.append((round(n), abs(n), hash(n), int(n), float(n), n.denominator, str(n), repr(n)))
        seen.append((n == 4, n != "4", n < 4.5, {4: "four"}[n], n in (1, 4), bool(n), 5 - n == 1))
        return x * 2

    jit.trace(looking, torch.ones(4, 3), check_trace=False)
    assert seen == [
        (3, b"\0\4", 4, 16, (2, 1), 4, ~4),
        (4, 4, hash(4), 4, 4.0, 1, "4", "4"),
        (True, True, True, "four", True, True, True),
    ]


def test_copies_of_sizes_are_numbers():
    kept = []

    def copying(x):
        n = x.shape[0]
        kept.extend([copy.copy(n), copy.deepcopy([n])[0], pickle.loads(pickle.dumps(n))])
        return x

    with pytest.warns(jit.TracerWarning, match=LEFT):
        jit.trace(copying, torch.ones(4, 3), check_trace=False)
    assert kept == [4, 4, 4]
    assert {type(each) for each in kept} == {int}
