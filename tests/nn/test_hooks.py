"""Hooks of modules: the order of everything, what they see, what they change."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest

import flambeau as torch
from flambeau import nn
from tests.nn.nets import Affine, Net


def noting(log: list[str], label: str) -> Any:
    def hook(*args: Any, **kwargs: Any) -> None:
        log.append(label)

    return hook


def hook_everything(module: nn.Module, name: str, log: list[str]) -> None:
    module.register_forward_pre_hook(noting(log, f"{name} pre"))
    module.register_forward_hook(noting(log, f"{name} forward"))
    module.register_full_backward_pre_hook(noting(log, f"{name} backward pre"))
    module.register_full_backward_hook(noting(log, f"{name} backward"))


def test_the_order_of_a_call() -> None:
    """Pre-hooks, then forward, then hooks; those of the backward pass when that reaches it."""
    log: list[str] = []

    class Noting(nn.Module):
        def forward(self, x: Any) -> Any:
            log.append("forward itself")
            return x * 2

    net = Noting()
    hook_everything(net, "net", log)
    y = net(torch.ones(2, requires_grad=True))
    log.append("called")
    y.sum().backward()
    assert log == [
        "net pre",
        "forward itself",
        "net forward",
        "called",
        "net backward pre",
        "net backward",
    ]


def test_the_order_within_a_network() -> None:
    log: list[str] = []
    net = nn.Sequential(Affine(3, 3), Affine(3, 3))
    hook_everything(net, "net", log)
    hook_everything(net[0], "0", log)
    hook_everything(net[1], "1", log)
    net(torch.ones(1, 3, requires_grad=True)).sum().backward()
    forward = ["net pre", "0 pre", "0 forward", "1 pre", "1 forward", "net forward"]
    backward = ["net backward pre", "1 backward pre", "1 backward", "0 backward pre", "0 backward"]
    assert log == [*forward, *backward, "net backward"]


def test_the_order_of_hooks_of_one_kind() -> None:
    log: list[str] = []
    net = Affine(1, 1)
    net.register_forward_hook(noting(log, "second"))
    net.register_forward_hook(noting(log, "third"))
    net.register_forward_hook(noting(log, "first"), prepend=True)
    with nn.modules.module.register_module_forward_hook(noting(log, "global")):
        net(torch.ones(1, 1))
    assert log == ["global", "first", "second", "third"]


def test_arguments_and_results_may_be_replaced() -> None:
    net = Affine(3, 1)
    net.register_forward_pre_hook(lambda m, args: args[0] * 2)
    net.register_forward_pre_hook(lambda m, args: (args[0] + 1,))
    net.register_forward_hook(lambda m, args, out: (out, args))
    out, args = net(torch.ones(1, 3))
    assert out.item() == 9
    assert args[0].tolist() == [[3, 3, 3]]


def test_keyword_arguments() -> None:
    class Scaled(nn.Module):
        def forward(self, x: float, *, by: float = 1) -> float:
            return x * by

    net, seen = Scaled(), []
    net.register_forward_pre_hook(lambda m, a, k: (a, {"by": k["by"] + 1}), with_kwargs=True)
    net.register_forward_hook(lambda m, a, k, out: seen.append((a, k, out)), with_kwargs=True)
    net.register_forward_hook(lambda m, a, out: seen.append((a, out)))
    assert net(3, by=2) == 9
    assert seen == [((3,), {"by": 3}, 9), ((3,), 9)]
    net.register_forward_pre_hook(lambda m, a, k: k, with_kwargs=True)
    with pytest.raises(RuntimeError, match=r"None or a tuple of \(new_args, new_kwargs\)"):
        net(3, by=2)


def test_hooks_that_are_always_called() -> None:
    class Failing(nn.Module):
        def forward(self, x: int) -> int:
            raise ValueError("no forward")

    net, log = Failing(), []
    net.register_forward_hook(noting(log, "usual"))
    net.register_forward_hook(noting(log, "always"), always_call=True)
    with pytest.raises(ValueError, match="no forward"):
        net(1)
    assert log == ["always"]

    def fail(module: Any, args: Any, out: Any) -> None:
        raise KeyError("no hook")

    net.register_forward_hook(fail, always_call=True)
    silenced = "raised an exception that was silenced as another error was raised in forward"
    with pytest.warns(UserWarning, match=silenced), pytest.raises(ValueError, match="no forward"):
        net(1)


def test_backward_hooks_see_both_sides() -> None:
    net, seen = Affine(3, 2), []
    net.register_full_backward_hook(lambda m, gi, go: seen.append((m, gi, go)))
    x = torch.ones(4, 3, requires_grad=True)
    net(x).sum().backward()
    ((module, grad_input, grad_output),) = seen
    assert module is net
    assert [g.tolist() for g in grad_input] == [[[2.0] * 3] * 4]
    assert [g.tolist() for g in grad_output] == [[[1.0] * 2] * 4]


def test_gradients_may_be_replaced() -> None:
    net = Affine(3, 2)
    net.register_full_backward_pre_hook(lambda m, go: (go[0] * 10,))
    net.register_full_backward_hook(lambda m, gi, go: (gi[0] + 1,))
    x = torch.ones(1, 3, requires_grad=True)
    net(x).sum().backward()
    assert x.grad.tolist() == [[21.0] * 3]
    assert net.bias.grad.tolist() == [10.0, 10.0]  # only the hook before it was in time for this
    net.register_full_backward_hook(lambda m, gi, go: gi * 2)
    with pytest.raises(RuntimeError, match="invalid number of grad_input, got 2, but expected 1"):
        net(x).sum().backward()


def test_inputs_that_are_no_tensors() -> None:
    class Mixed(nn.Module):
        def forward(self, text: str, x: Any, y: Any) -> Any:
            return x * y, text

    net, seen = Mixed(), []
    net.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go)))
    net("text", torch.ones(2, requires_grad=True), torch.ones(2))[0].sum().backward()
    ((grad_input, grad_output),) = seen
    assert grad_input[0] is None
    assert [g.tolist() for g in grad_input[1:]] == [[1.0, 1.0], [0.0, 0.0]]
    assert [g is None for g in grad_output] == [False, True]


def test_without_gradients_of_the_inputs() -> None:
    net, seen = Affine(3, 2), []
    net.register_full_backward_hook(lambda m, gi, go: seen.append(gi))
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        net(torch.ones(1, 3)).sum().backward()
    assert seen == [(None,)]
    assert net.bias.grad.tolist() == [1.0, 1.0]
    with torch.no_grad():
        net(torch.ones(1, 3))
    assert len(seen) == 1


def test_old_backward_hooks() -> None:
    class Double(nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2

    net, seen = Double(), []
    net.register_backward_hook(lambda m, gi, go: seen.append((m, gi[0], go[0])))
    x = torch.ones(2, requires_grad=True)
    with pytest.warns(FutureWarning, match="Using a non-full backward hook"):
        net(x * 1).sum().backward()
    assert [(m, a.tolist(), b.tolist()) for m, a, b in seen] == [(net, [2.0, 2.0], [1.0, 1.0])]
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full"):
        net.register_full_backward_hook(lambda m, gi, go: None)


def test_handles_remove_hooks() -> None:
    net, log = Affine(1, 1), []
    handle = net.register_forward_hook(noting(log, "a"), with_kwargs=True, always_call=True)
    with net.register_forward_pre_hook(noting(log, "b")):
        net(torch.ones(1, 1))
    handle.remove()
    handle.remove()
    net(torch.ones(1, 1))
    assert log == ["b", "a"]
    assert not net._forward_hooks_with_kwargs
    assert not net._forward_hooks_always_called


def test_hooks_cleared_by_hand() -> None:
    net, log = Affine(1, 1), []
    net.register_forward_hook(noting(log, "a"))
    net._forward_hooks = OrderedDict()
    net(torch.ones(1, 1))
    net._forward_hooks[0] = noting(log, "b")
    net(torch.ones(1, 1))
    assert log == ["b"]


def test_features_by_a_hook() -> None:
    net, features = Net(), {}
    net.first.register_forward_hook(lambda m, args, out: features.update(first=out.detach()))
    net(torch.ones(2, 3))
    assert features["first"].tolist() == [[3.0] * 4] * 2


def test_hooks_for_all_modules() -> None:
    net, log = Net(), []
    module = nn.modules.module
    handles = [
        module.register_module_forward_pre_hook(lambda m, a: log.append(type(m).__name__)),
        module.register_module_full_backward_hook(lambda m, gi, go: log.append("backward")),
    ]
    net(torch.ones(1, 3, requires_grad=True)).sum().backward()
    for handle in handles:
        handle.remove()
    net(torch.ones(1, 3))
    assert log == ["Net", "Affine", "Sequential", "Affine", "Affine", *["backward"] * 5]
