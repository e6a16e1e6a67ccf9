"""`__torch_function__` against torch: which functions are handed over, and classes of results."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
import torch.overrides

import flambeau
import flambeau.overrides

OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "<", "<=", "==", "!=", ">", ">="]
CALLS = (
    *(f"x {sign} x" for sign in (*OPERATORS, "@")),
    *(f"x {sign} 2" for sign in OPERATORS),
    *(f"2 {sign} x" for sign in OPERATORS),
    *(f"i {sign} i" for sign in ("&", "|", "^", "<<", ">>")),
    *(f"2 {sign} i" for sign in ("&", "|", "^", "<<", ">>")),
    *("-x", "+x", "abs(x)", "~i", "x[0]", "m[0, :1]", "x[i]", "m[:, None]", "len(x)", "bool(s)"),
    *("int(s)", "float(s)", "complex(s)", "[1, 2, 3, 4][s]", "1 in x", "reversed(x)", "repr(x)"),
    *("f'{s}'", "x.shape", "x.dtype", "m.T", "x.grad", "x.data", "x.requires_grad", "x.is_leaf"),
    *("x.add(1, alpha=2)", "x.add_(1)", "x.sum(dim=0)", "x.view(-1)", "x.to(t.float64)"),
    *("x.size()", "x.numel()", "x.item() if x.numel() == 1 else 0", "x.tolist()", "x.clone()"),
    *("t.add(x, x)", "t.cat([x, x], dim=0)", "t.stack((x, x))", "t.zeros(2)", "t.arange(3)"),
    *("t.tensor(2)", "t.rand(2)", "t.ones_like(x)", "t.linalg.norm(x)", "t.is_floating_point(x)"),
    *("F.linear(m, m)", "F.relu(x)", "F.cross_entropy(m, m)", "F.max_pool2d(m[None, None], 2)"),
    *("t.where(x > 0, x, x)", "t.max(m, dim=1)", "t.result_type(x, x)", "copy.deepcopy(x)"),
)
STATEMENTS = (
    *(f"x {sign}= 2" for sign in ("+", "-", "*", "/", "//", "%", "**")),
    *(f"i {sign}= 2" for sign in ("&", "|", "^", "<<", ">>")),
    *("x[0] = 1", "x[i > 1] = x[i > 1]", "x.data = x", "x.requires_grad = False"),
)


def seen_by_mode(t: Any, code: str, how: str) -> list[Any]:
    calls = []

    class Log(t.overrides.TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            name = t.overrides.resolve_name(func)
            calls.append(name.replace("torch.functional.", "torch."))
            return func(*args, **(kwargs or {}))

    names = {
        "t": t,
        "F": t.nn.functional,
        "copy": copy,
        "s": t.tensor(3),
        "x": t.tensor([1.0, 2.0]),
        "i": t.tensor([1, 0]),
        "m": t.ones(2, 2),
    }
    program = compile(code, "<call>", how)
    with Log():
        exec(program, names)
    return calls


@pytest.mark.parametrize("call", CALLS)
def test_modes_see_the_same_calls(call: str) -> None:
    assert seen_by_mode(flambeau, call, "eval") == seen_by_mode(torch, call, "eval")


@pytest.mark.parametrize("statement", STATEMENTS)
def test_modes_see_the_same_changes(statement: str) -> None:
    assert seen_by_mode(flambeau, statement, "exec") == seen_by_mode(torch, statement, "exec")


RESULTS = (
    *("a + b", "b + a", "a * 2", "1 - a", "a @ b", "-a", "a[0]", "a == b", "t.add(b, a)"),
    *("t.cat([b, a])", "a.sum()", "a.max(dim=0)", "a.split(1)", "a.T", "a.shape", "a.dtype"),
    *("F.relu(a)", "F.linear(a, b)", "t.stack([a, a])", "a.clone()"),
    *("a.detach()", "a.to(t.float64)", "a.grad", "t.zeros_like(a)", "a.view(4)"),
    *("p + a", "p * 2", "t.nn.Parameter(b) + b", "deeper + a", "a + deeper", "a.new_zeros(2)"),
)


def classes(value: Any) -> Any:
    if isinstance(value, (list, tuple)) and type(value).__name__ != "Size":
        return type(value).__name__, [classes(item) for item in value]
    return type(value).__name__


def result_of(t: Any, call: str) -> Any:
    class Sub(t.Tensor):
        pass

    class Deeper(Sub):
        pass

    names = {
        "t": t,
        "F": t.nn.functional,
        "copy": copy,
        "b": t.ones(2, 2),
        "a": t.ones(2, 2).as_subclass(Sub),
        "deeper": t.ones(2, 2).as_subclass(Deeper),
        "p": t.nn.Parameter(t.ones(2, 2)),
    }
    return classes(eval(call, names))


@pytest.mark.parametrize("call", RESULTS)
def test_results_have_the_same_classes(call: str) -> None:
    assert result_of(flambeau, call) == result_of(torch, call)
