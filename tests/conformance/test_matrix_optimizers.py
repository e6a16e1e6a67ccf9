"""Adafactor and Muon against torch: parameters and state after some steps."""

import copy
from typing import Any

import numpy as np
import pytest
import torch

import flambeau

SHAPES: tuple[tuple[int, ...], ...] = (
    (6, 4),
    (3, 7),
    (1, 5),
    (5, 1),
    (2, 3, 4),
    (5,),
    (),
    (200, 70),
)
ADAFACTOR: tuple[dict[str, Any], ...] = (
    {},
    {"lr": 0.3},
    {"lr": 2.0, "weight_decay": 0.1},
    {"beta2_decay": -0.3, "eps": (1e-4, 0.1)},
    {"d": 3.0, "lr": 0.5, "maximize": True},
    {"foreach": True, "lr": 0.5},
    {"foreach": False, "eps": (None, 0.0)},
)
MUON: tuple[dict[str, Any], ...] = (
    {},
    {"lr": 0.1},
    {"lr": 0.1, "weight_decay": 0.0, "nesterov": False},
    {"lr": 0.1, "momentum": 0.5, "ns_steps": 3},
    {"lr": 0.1, "adjust_lr_fn": "match_rms_adamw"},
    {"lr": 0.1, "adjust_lr_fn": "original", "eps": 0.5},
    {"lr": 0.1, "ns_coefficients": (2.0, -1.5, 0.5)},
)


def parameters(t: Any, shapes: tuple[tuple[int, ...], ...], dtype: str) -> list[Any]:
    rng = np.random.default_rng(1)
    kind = getattr(t, dtype)
    return [t.nn.Parameter(t.tensor(rng.standard_normal(s)).to(kind)) for s in shapes]


def train(t: Any, optimizer: Any, params: list[Any], steps: range) -> None:
    """Gradients from outside, the same in both frameworks; one parameter is left out at times."""
    for step in steps:
        rng = np.random.default_rng(100 + step)
        for index, p in enumerate(params):
            grad = t.tensor(rng.standard_normal(tuple(p.shape)) * 10.0 ** (step % 3 - 1))
            p.grad = None if (index + step) % 5 == 4 else grad.to(p.dtype)
        optimizer.step()


def close(ours: Any, theirs: Any, rtol: float, what: str) -> None:
    a, b = (np.asarray(each.detach().float().numpy(), np.float64) for each in (ours, theirs))
    scale = abs(b).max() if b.size else 0
    np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * scale, err_msg=what)


def compare(ours: Any, theirs: Any, rtol: float) -> None:
    pairs = zip(ours.param_groups[0]["params"], theirs.param_groups[0]["params"], strict=True)
    for p, expected in pairs:
        close(p, expected, rtol, f"parameter {tuple(p.shape)}")
        state, their_state = ours.state[p], theirs.state[expected]
        assert list(state) == list(their_state)
        for name, value in state.items():
            assert str(value.dtype).split(".")[1] == str(their_state[name].dtype).split(".")[1]
            assert value.shape == their_state[name].shape
            close(value, their_state[name], rtol, f"{name} of {tuple(p.shape)}")


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("options", ADAFACTOR, ids=str)
def test_adafactor(options: dict[str, Any], dtype: str) -> None:
    optimizers = []
    for t in (flambeau, torch):
        params = parameters(t, SHAPES, dtype)
        optimizers.append(t.optim.Adafactor(params, **options))
        train(t, optimizers[-1], params, range(6))
    # PyTorch rounds every intermediate result to bfloat16.
    compare(*optimizers, rtol={"float32": 3e-6, "float64": 1e-12, "bfloat16": 3e-2}[dtype])


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("options", MUON, ids=str)
def test_muon(options: dict[str, Any], dtype: str) -> None:
    """Both round products to bfloat16, but sum their terms in another order."""
    if dtype == "bfloat16":  # without nesterov PyTorch divides the momentum itself by its norm
        options = {**options, "nesterov": True}
    optimizers = []
    for t in (flambeau, torch):
        params = parameters(t, tuple(s for s in SHAPES if len(s) == 2), dtype)
        optimizers.append(t.optim.Muon(params, **options))
        train(t, optimizers[-1], params, range(4))
    compare(*optimizers, rtol=3e-2)


def converted(value: Any, t: Any) -> Any:
    if isinstance(value, (torch.Tensor, flambeau.Tensor)):
        return t.tensor(value.detach().numpy())
    if isinstance(value, dict):
        return {key: converted(each, t) for key, each in value.items()}
    return value


@pytest.mark.parametrize("name", ["Adafactor", "Muon"])
def test_resumed_across_frameworks(name: str) -> None:
    shapes = tuple(s for s in SHAPES if len(s) == 2)
    params = parameters(torch, shapes, "float32")
    expected = getattr(torch.optim, name)(params, lr=0.1)
    train(torch, expected, params, range(8))
    for source, target in ((flambeau, torch), (torch, flambeau)):
        first, second = (parameters(t, shapes, "float32") for t in (source, target))
        begun = getattr(source.optim, name)(first, lr=0.1)
        train(source, begun, first, range(4))
        continued = getattr(target.optim, name)(second)
        continued.load_state_dict(converted(copy.deepcopy(begun.state_dict()), target))
        for p, old in zip(second, first, strict=True):
            p.data.copy_(target.tensor(old.detach().numpy()))
        train(target, continued, second, range(4, 8))
        compare(continued, expected, rtol=3e-2 if name == "Muon" else 3e-6)


REFUSED = (
    "Adafactor([p], lr=-1)",
    "Adafactor([p], lr=t.ones(2))",
    "Adafactor([p], beta2_decay=0.5)",
    "Adafactor([p], eps=(-1, 0.1))",
    "Adafactor([p], eps=(0.1, -1))",
    "Adafactor([p], d=0.5)",
    "Adafactor([p], weight_decay=-1)",
    "Muon([p], lr=-1)",
    "Muon([p], lr=t.ones(2))",
    "Muon([p], momentum=-1)",
    "Muon([p], weight_decay=-1)",
    "Muon([p], adjust_lr_fn='other')",
    "Muon([t.nn.Parameter(t.ones(3))])",
    "Muon([p], ns_steps=100).step()",
    "Muon([p], ns_coefficients=(1, 2)).step()",
)


@pytest.mark.parametrize("call", REFUSED)
def test_refused(call: str) -> None:
    raised = []
    for t in (flambeau, torch):
        p = t.nn.Parameter(t.ones(2, 2))
        p.grad = t.ones(2, 2)
        with pytest.raises(Exception) as error:  # noqa: PT011 (the class is compared below)
            eval(f"t.optim.{call}", {"t": t, "p": p})
        raised.append(error.type.__name__)
    assert raised[0] == raised[1]


@pytest.mark.parametrize("name", ["Adafactor", "Muon"])
def test_complex_is_refused(name: str) -> None:
    for t in (flambeau, torch):
        p = t.nn.Parameter(t.ones(2, 2, dtype=t.complex64))
        p.grad = t.ones(2, 2, dtype=t.complex64)
        with pytest.raises(RuntimeError, match="does not support complex"):
            getattr(t.optim, name)([p]).step()
