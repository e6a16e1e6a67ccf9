"""Steps of optimisers on the device are those of the CPU."""

from typing import Any

import numpy as np
import pytest

import flambeau as fb
from tests.cuda.moving import CUDA

SIZES = [(5, 7), (1,), (300,), (33, 31), (0, 3), ()]
RULES: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True}),
    ("Adam", {"lr": 0.01, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.01, "amsgrad": True, "maximize": True}),
    ("AdamW", {"lr": 0.01}),
    ("Adamax", {"lr": 0.01, "weight_decay": 0.1}),
    ("NAdam", {"lr": 0.01, "decoupled_weight_decay": True, "weight_decay": 0.1}),
    ("RAdam", {"lr": 0.01, "weight_decay": 0.1}),
    ("RMSprop", {"lr": 0.01}),
    ("RMSprop", {"lr": 0.01, "centered": True, "momentum": 0.9}),
    ("RMSprop", {"lr": 0.01, "momentum": 0.9, "weight_decay": 0.1}),
    ("RMSprop", {"lr": 0.01, "centered": True}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1}),
    ("Adadelta", {"lr": 1.0, "weight_decay": 0.1}),
    ("Rprop", {"lr": 0.01}),
    ("ASGD", {"lr": 0.01, "t0": 2, "weight_decay": 0.1}),
    ("Adafactor", {"lr": 0.01, "weight_decay": 0.1}),
]
STEPS = 7  # RAdam divides by the variance from the sixth on


def stepped(
    device: Any, name: str, options: dict[str, Any], dtype: fb.dtype, sizes: Any
) -> list[fb.Tensor]:
    fb.manual_seed(0)
    first = [fb.randn(size, dtype=dtype) for size in sizes]
    params = [t.to(device).requires_grad_() for t in first]
    optimizer = getattr(fb.optim, name)(params, **options)
    for _ in range(STEPS):
        for p in params:
            p.grad = fb.randn(p.shape, dtype=dtype).to(device)
        optimizer.step()
    states = [t for p in params for t in optimizer.state[p].values() if isinstance(t, fb.Tensor)]
    return [t.detach().cpu().double() for t in [*params, *states]]


def assert_close(
    ours: list[fb.Tensor], theirs: list[fb.Tensor], rtol: float, atol: float = 0.0
) -> None:
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol, atol or rtol)


@pytest.mark.parametrize(("name", "options"), RULES)
def test_a_step_is_that_of_the_cpu(name: str, options: dict[str, Any]) -> None:
    for dtype, tolerance in ((fb.float32, 2e-5), (fb.float64, 1e-10), (fb.bfloat16, 3e-2)):
        ours = stepped(CUDA, name, options, dtype, SIZES)
        assert_close(ours, stepped("cpu", name, options, dtype, SIZES), tolerance)


def test_more_tensors_than_a_launch_takes() -> None:
    sizes = [(n % 5 + 1,) for n in range(70)] + [(5000,)]
    options = {"lr": 0.01}
    ours = stepped(CUDA, "Adam", options, fb.float32, sizes)
    assert_close(ours, stepped("cpu", "Adam", options, fb.float32, sizes), 2e-5)


@pytest.mark.parametrize("fused", [None, True])
@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_a_scaler_finds_infinities_and_changes_its_scale(name: str, fused: bool | None) -> None:
    def run(device: Any) -> tuple[list[float], list[fb.Tensor]]:
        fb.manual_seed(0)
        net = fb.nn.Linear(4, 3).to(device)
        optimizer = getattr(fb.optim, name)(net.parameters(), lr=0.1, fused=fused)
        scaler = fb.amp.GradScaler(fb.device(device).type, init_scale=8.0, growth_interval=2)
        scales = []
        for factor in (1.0, 1.0, float("inf"), 1.0, 1.0, 1.0):
            optimizer.zero_grad()
            x = fb.ones(2, 4, device=device) * factor
            scaler.scale(net(x).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            scales.append(scaler.get_scale())
        return scales, [p.detach().cpu() for p in net.parameters()]

    (ours, parameters), (theirs, expected) = run(CUDA), run("cpu")
    assert ours == theirs == [8.0, 16.0, 8.0, 8.0, 16.0, 16.0]
    assert_close(parameters, expected, 1e-5)


@pytest.mark.parametrize("norm_type", [1.0, 2.0, float("inf")])
def test_gradients_are_clipped(norm_type: float) -> None:
    def run(device: Any, limit: float) -> list[fb.Tensor]:
        fb.manual_seed(0)
        first = [fb.randn(3, 5), fb.randn(400), fb.randn(2)]
        params = [t.to(device).requires_grad_() for t in first]
        for p in params:
            p.grad = p.detach() * 2
        norm = fb.nn.utils.clip_grad_norm_(params, limit, norm_type)
        fb.nn.utils.clip_grad_value_(params[:1], 0.01)
        return [t.detach().cpu() for t in (norm, *(p.grad for p in params))]

    for limit in (0.5, 1e6):
        assert_close(run(CUDA, limit), run("cpu", limit), 2e-5)


@pytest.mark.parametrize("name", ["Adam", "AdamW", "NAdam", "RAdam", "Adamax", "RMSprop", "ASGD"])
def test_a_capturable_step_is_one_of_kernels(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = stepped(CUDA, name, {"lr": 0.01}, fb.float32, SIZES)
    monkeypatch.delattr(fb.optim.Optimizer, "_fb_step_composed")
    capturable = stepped(CUDA, name, {"lr": 0.01, "capturable": True}, fb.float32, SIZES)
    for a, b in zip(capturable, plain, strict=True):
        assert fb.equal(a, b)


def test_long_lists_of_gradients_are_clipped() -> None:
    def run(device: Any, limit: float) -> list[fb.Tensor]:
        fb.manual_seed(0)
        sizes = [1 + 7 * k % 50 for k in range(170)] + [40000]
        grads = [fb.randn(n).to(device) for n in sizes]
        grads.append(fb.randn(3, 50).to(device).t())
        grads.append(fb.randn(41).to(device)[1:])  # no address of whole packs
        grads.append(fb.randn(70).to(device).double())
        grads.append(fb.randn(70).to(device).bfloat16())
        grads.append(fb.randn(70).to(device)[::2])
        params = [fb.zeros_like(g).requires_grad_() for g in grads]
        for p, g in zip(params, grads, strict=True):
            p.grad = g
        norm = fb.nn.utils.clip_grad_norm_(params, limit)
        part = fb.nn.utils.clip_grad_norm_(params[:-1], limit)  # without one that has gaps
        return [t.detach().cpu().double() for t in (norm, part, *(p.grad for p in params))]

    for limit in (0.5, 1e6):
        assert_close(run(CUDA, limit), run("cpu", limit), 1e-2)


def test_a_gradient_that_is_listed_twice_is_clipped_in_turn() -> None:
    def run(device: Any) -> list[float]:
        p = fb.zeros(70000, device=device, requires_grad=True)
        p.grad = fb.ones(70000, device=device)
        fb.nn.utils.clip_grad_norm_([p, p], 1.0)
        return [p.grad.min().item(), p.grad.max().item()]

    assert run(CUDA) == pytest.approx(run("cpu"), rel=1e-6)


def test_the_function_takes_capturable_steps() -> None:
    p = fb.ones(3, device=CUDA)
    state = [fb.zeros(3, device=CUDA)], [fb.zeros(3, device=CUDA)], [], [fb.zeros(())]
    options = {"beta1": 0.9, "beta2": 0.999, "lr": 0.1, "weight_decay": 0.0, "eps": 1e-8}
    fb.optim.adam.adam(
        [p],
        [fb.ones(3, device=CUDA)],
        *state,
        capturable=True,
        amsgrad=False,
        maximize=False,
        **options,
    )
    np.testing.assert_allclose(p.cpu().numpy(), [0.9] * 3, 1e-6)
