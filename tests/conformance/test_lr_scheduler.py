"""Schedules of learning rates against torch: the same doubles, step by step and resumed."""

import copy
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.optim.swa_utils

import flambeau
import flambeau.optim.swa_utils

STEPS = 300
# A schedule inside another takes its first step twice, of which both frameworks warn.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


class Warmup:
    """A function with state, which state dicts keep."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __call__(self, epoch: float) -> float:
        return min(1.0, (epoch + 1) / self.length)


# Schedules as calls with `o` for an optimiser of two groups and `s` for the module.
SINGLE = (
    "s.LambdaLR(o, lambda epoch: 0.97**epoch)",
    "s.LambdaLR(o, [Warmup(7), lambda epoch: 1 / (1 + epoch)])",
    "s.LambdaLR(o, lr_lambda=(Warmup(3), Warmup(40)))",
    "s.MultiplicativeLR(o, lambda epoch: 0.95)",
    "s.MultiplicativeLR(o, [lambda epoch: 0.9, lambda epoch: 1.01 - epoch / 5000])",
    *(f"s.StepLR(o, {size}, gamma={gamma})" for size in (1, 7, 1000) for gamma in (0.1, 0.93, 1.1)),
    "s.StepLR(o, step_size=30)",
    "s.MultiStepLR(o, milestones=[3, 9, 9, 27, 81], gamma=0.3)",
    "s.MultiStepLR(o, (10, 5))",
    "s.MultiStepLR(o, [])",
    *(f"s.ConstantLR(o, factor={f}, total_iters={n})" for f in (0.1, 1 / 7, 1) for n in (1, 4, 50)),
    "s.ConstantLR(o)",
    *(
        f"s.LinearLR(o, start_factor={start}, end_factor={end}, total_iters={n})"
        for start, end in ((0.1, 1.0), (1.0, 0.03), (1 / 3, 0.7))
        for n in (1, 11, 250)
    ),
    "s.LinearLR(o)",
    *(f"s.ExponentialLR(o, gamma={gamma})" for gamma in (0.5, 0.95, 0.999, 1.01)),
    *(f"s.PolynomialLR(o, total_iters={n}, power={p})" for n in (1, 9, 200) for p in (0.9, 1.0, 2)),
    "s.PolynomialLR(o)",
    *(
        f"s.CosineAnnealingLR(o, T_max={period}, eta_min={least})"
        for period in (1, 2, 7, 50, 300, 1000)
        for least in (0, 1e-5, 0.02)
    ),
    *(
        f"s.CosineAnnealingWarmRestarts(o, T_0={first}, T_mult={times}, eta_min={least})"
        for first in (1, 7, 50)
        for times in (1, 2, 3)
        for least in (0, 1e-3)
    ),
    *(
        f"s.CyclicLR(o, base_lr=0.001, max_lr=0.1, step_size_up={up}, step_size_down={down}, "
        f"mode={mode!r}, gamma=0.99, cycle_momentum={momentum})"
        for up, down in ((1, None), (7, 3), (40, 60))
        for mode in ("triangular", "triangular2", "exp_range")
        for momentum in (True, False)
    ),
    "s.CyclicLR(o, [0.001, 0.01], [0.1, 0.2], 9, base_momentum=[0.5, 0.6], max_momentum=[0.8, 1])",
    "s.CyclicLR(o, 0.001, 0.1, 9, scale_fn=lambda x: 1 / x, scale_mode='cycle')",
    "s.CyclicLR(o, 0.001, 0.1, 9, scale_fn=Warmup(50), scale_mode='iterations')",
    *(
        f"s.OneCycleLR(o, max_lr=0.3, total_steps={STEPS}, pct_start={share}, "
        f"anneal_strategy={by!r}, three_phase={three})"
        for share in (0.1, 0.3, 0.45)
        for by in ("cos", "linear")
        for three in (True, False)
    ),
    (
        "s.OneCycleLR(o, max_lr=[0.3, 0.1], epochs=30, steps_per_epoch=10, div_factor=10, "
        "final_div_factor=100, base_momentum=[0.7, 0.8], max_momentum=0.9)"
    ),
    f"s.OneCycleLR(o, 0.3, {STEPS}, cycle_momentum=False)",
    *(
        f"u.SWALR(o, swa_lr=0.05, anneal_epochs={n}, anneal_strategy={by!r})"
        for n in (0, 1, 10, 250)
        for by in ("cos", "linear")
    ),
    "u.SWALR(o, [0.05, 0.001])",
)
COMPOSED = (
    "s.SequentialLR(o, [s.ConstantLR(o, 0.1, 20), s.ExponentialLR(o, 0.9)], milestones=[20])",
    "s.SequentialLR(o, [s.LinearLR(o, 0.01, total_iters=10), s.CosineAnnealingLR(o, 200)], [10])",
    (
        "s.SequentialLR(o, [s.StepLR(o, 3), s.PolynomialLR(o, 40, 2.0), s.ExponentialLR(o, 0.99)], "
        "[7, 60])"
    ),
    "s.SequentialLR(o, [s.ConstantLR(o), s.CosineAnnealingWarmRestarts(o, 10, 2)], [5])",
    "s.SequentialLR(o, [s.LambdaLR(o, Warmup(4)), s.MultiStepLR(o, [9, 19])], [0])",
    (
        "s.SequentialLR(o, [s.SequentialLR(o, [s.LinearLR(o, 0.2), s.StepLR(o, 9)], [12]), "
        "s.ExponentialLR(o, 0.9)], [30])"
    ),
    "s.SequentialLR(o, [s.ExponentialLR(o, 0.9), s.ChainedScheduler([s.LinearLR(o, 0.2)])], [999])",
    "s.ChainedScheduler([s.ConstantLR(o, 0.1, 20), s.ExponentialLR(o, 0.9)])",
    (
        "s.ChainedScheduler([s.LinearLR(o, 0.01, total_iters=9), s.CosineAnnealingLR(o, 40, 1e-4), "
        "s.StepLR(o, 30, 0.9)], optimizer=o)"
    ),
    "s.ChainedScheduler((s.MultiplicativeLR(o, lambda epoch: 0.99), s.PolynomialLR(o, 100, 0.5)))",
)


def optimizer(t: Any, kind: str = "SGD", tensor: bool = False) -> Any:
    rates = [t.tensor(rate, dtype=t.float64) if tensor else rate for rate in (0.1, 0.03)]
    parameters = [t.nn.Parameter(t.zeros(2)), t.nn.Parameter(t.zeros(3))]
    groups = [{"params": [p], "lr": lr} for p, lr in zip(parameters, rates, strict=True)]
    return getattr(t.optim, kind)(groups, **({"momentum": 0.9} if kind == "SGD" else {}))


def schedule(t: Any, optimizer: Any, call: str) -> Any:
    names = {"o": optimizer, "s": t.optim.lr_scheduler, "u": t.optim.swa_utils, "Warmup": Warmup}
    return eval(call, names)


def settings(optimizer: Any) -> list[tuple[Any, ...]]:
    """What a schedule may set in the groups, as Python numbers."""
    names = ("lr", "momentum", "betas", "initial_lr", "max_lr", "min_lr", "base_momentum", "swa_lr")
    return [tuple(plain(group.get(name)) for name in names) for group in optimizer.param_groups]


def plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def curve(optimizer: Any, scheduler: Any, steps: int, step: Callable[[Any], None]) -> list[Any]:
    points = [(settings(optimizer), list(map(plain, scheduler.get_last_lr())))]
    for _ in range(steps):
        optimizer.step()
        step(scheduler)
        points.append((settings(optimizer), list(map(plain, scheduler.get_last_lr()))))
    return points


def run(t: Any, call: str, kind: str = "SGD", tensor: bool = False) -> list[Any]:
    opt = optimizer(t, kind, tensor)
    return curve(opt, schedule(t, opt, call), STEPS - 1, lambda scheduler: scheduler.step())


@pytest.mark.parametrize("call", SINGLE + COMPOSED)
def test_curve(call: str) -> None:
    assert run(flambeau, call) == run(torch, call)


@pytest.mark.parametrize("call", SINGLE + COMPOSED)
def test_curve_of_betas(call: str) -> None:
    assert run(flambeau, call, "Adam") == run(torch, call, "Adam")


@pytest.mark.parametrize("call", [each for each in SINGLE + COMPOSED if "Cyclic" not in each])
def test_rates_kept_as_tensors(call: str) -> None:
    assert run(flambeau, call, tensor=True) == run(torch, call, tensor=True)


@pytest.mark.parametrize("call", SINGLE)
def test_jumps(call: str) -> None:
    """`step(epoch)`: the closed form where there is one."""
    curves = []
    for t in (flambeau, torch):
        opt = optimizer(t)
        scheduler = schedule(t, opt, call)
        epochs = iter([3, 4, 0, 17, 2, 50, 51, 120, 299])
        curves.append(curve(opt, scheduler, 9, lambda s, epochs=epochs: s.step(next(epochs))))
    assert curves[0] == curves[1]


def test_jumps_within_an_epoch() -> None:
    curves = []
    for t in (flambeau, torch):
        opt = optimizer(t)
        scheduler = t.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, 5, 2)
        epochs = iter([epoch + i / 7 for epoch in range(40) for i in range(7)])
        curves.append(curve(opt, scheduler, 280, lambda s, epochs=epochs: s.step(next(epochs))))
    assert curves[0] == curves[1]


def resumed(source: Any, target: Any, call: str, at: int) -> list[Any]:
    """A curve begun in one framework and continued in another."""
    opt = optimizer(source)
    scheduler = schedule(source, opt, call)
    begun = curve(opt, scheduler, at, lambda s: s.step())
    state = pickle.loads(pickle.dumps(scheduler.state_dict()))
    kept = copy.deepcopy(state)
    continued = optimizer(target)
    second = schedule(target, continued, call)
    for group, old in zip(continued.param_groups, opt.param_groups, strict=True):
        group.update({key: value for key, value in old.items() if key != "params"})
    second.load_state_dict(copy.deepcopy(state))
    assert state == kept
    return begun + curve(continued, second, 40, lambda s: s.step())


@pytest.mark.parametrize("at", [1, 50])
@pytest.mark.parametrize("call", SINGLE + COMPOSED)
def test_resumed(call: str, at: int) -> None:
    expected = resumed(torch, torch, call, at)
    for source in (flambeau, torch):
        for target in (flambeau, torch):
            assert resumed(source, target, call, at) == expected


@pytest.mark.parametrize("call", SINGLE + COMPOSED)
def test_checkpoint(call: str, tmp_path: Path) -> None:
    """A file written by one framework is read by the other, without trust."""
    for source, target in ((flambeau, torch), (torch, flambeau)):
        first, second = optimizer(source), optimizer(target)
        begun, continued = schedule(source, first, call), schedule(target, second, call)
        curve(first, begun, 7, lambda s: s.step())
        source.save([first.state_dict(), begun.state_dict()], tmp_path / "state.pt")
        of_optimizer, of_scheduler = target.load(tmp_path / "state.pt", weights_only=True)
        second.load_state_dict(of_optimizer)
        continued.load_state_dict(of_scheduler)
        expected = curve(first, begun, 7, lambda s: s.step())
        assert curve(second, continued, 7, lambda s: s.step()) == expected


@pytest.mark.parametrize("call", SINGLE + COMPOSED)
def test_state_dict(call: str) -> None:
    ours, theirs = (schedule(t, optimizer(t), call).state_dict() for t in (flambeau, torch))
    assert ours == theirs


LATER = ("StepLR", "MultiStepLR", "ConstantLR", "LinearLR", "Exponential", "Polynomial", "Cosine")


@pytest.mark.parametrize("call", [call for call in SINGLE if any(each in call for each in LATER)])
def test_last_epoch(call: str) -> None:
    """A schedule made in the middle, over groups that know their first rates."""
    curves = []
    for t in (flambeau, torch):
        opt = optimizer(t)
        for group in opt.param_groups:
            group["initial_lr"] = group["lr"] * 2
        scheduler = schedule(t, opt, call[:-1] + ", last_epoch=4)")
        curves.append(curve(opt, scheduler, 20, lambda s: s.step()))
    assert curves[0] == curves[1]


METRICS = [math.sin(i / 3) + 5 / (1 + i) for i in range(80)] + [0.1] * 40 + [float("nan")] * 30


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mode": "max"},
        {"patience": 0},
        {"patience": 3, "cooldown": 4},
        {"factor": 0.5, "patience": 2, "threshold": 0.05},
        {"factor": 0.5, "patience": 2, "threshold": 0.05, "threshold_mode": "abs"},
        {"mode": "max", "patience": 1, "threshold": 0.5, "threshold_mode": "abs"},
        {"patience": 2, "min_lr": 1e-3},
        {"patience": 2, "min_lr": [1e-3, 1e-2]},
        {"patience": 1, "eps": 1e-3},
    ],
    ids=str,
)
@pytest.mark.parametrize("tensor", [False, True])
def test_plateau(options: dict[str, Any], tensor: bool) -> None:
    curves, states = [], []
    for t in (flambeau, torch):
        opt = optimizer(t, tensor=tensor)
        scheduler = t.optim.lr_scheduler.ReduceLROnPlateau(opt, **options)
        metrics = iter(METRICS)
        states.append(scheduler.state_dict() if not tensor else None)
        steps = len(METRICS)
        curves.append(curve(opt, scheduler, steps, lambda s, m=metrics: s.step(next(m))))
    assert curves[0] == curves[1]
    assert states[0] == states[1]


def test_plateau_resumed_across_frameworks() -> None:
    for source, target in ((torch, flambeau), (flambeau, torch)):
        first, second = optimizer(source), optimizer(target)
        options = {"patience": 2, "factor": 0.5, "mode": "max"}
        begun = source.optim.lr_scheduler.ReduceLROnPlateau(first, **options)
        for metric in METRICS[:40]:
            begun.step(metric)
        continued = target.optim.lr_scheduler.ReduceLROnPlateau(second)
        continued.load_state_dict(begun.state_dict())
        for new, old in zip(second.param_groups, first.param_groups, strict=True):
            new["lr"] = old["lr"]
        for metric in METRICS[40:]:
            begun.step(metric)
            continued.step(metric)
            assert continued.get_last_lr() == begun.get_last_lr()


# What PyTorch refuses; the class of the exception is part of the interface.
REFUSED = (
    "s.StepLR(3, 4)",
    "s.CyclicLR(3, 0.1, 0.2)",
    "s.OneCycleLR(3, 0.1, 10)",
    "s.ReduceLROnPlateau(3)",
    "s.StepLR(o, 4, last_epoch=3)",
    "s.LambdaLR(o, [abs])",
    "s.LambdaLR(o, 3)",
    "s.LambdaLR(o, [abs, 4])",
    "s.MultiplicativeLR(o, [abs])",
    "s.MultiplicativeLR(o, None)",
    "s.ConstantLR(o, factor=1.5)",
    "s.ConstantLR(o, factor=-0.5)",
    "s.LinearLR(o, start_factor=0)",
    "s.LinearLR(o, start_factor=1.5)",
    "s.LinearLR(o, end_factor=1.5)",
    "s.LinearLR(o, end_factor=-1)",
    "s.CosineAnnealingWarmRestarts(o, 0)",
    "s.CosineAnnealingWarmRestarts(o, 1.5)",
    "s.CosineAnnealingWarmRestarts(o, 5, 0)",
    "s.CosineAnnealingWarmRestarts(o, 5, 1.5)",
    "s.CosineAnnealingWarmRestarts(o, 5, eta_min='a')",
    "s.CosineAnnealingWarmRestarts(o, 5).step(-1)",
    "s.CyclicLR(o, 0.1, 0.2, mode='up')",
    "s.CyclicLR(o, [0.1], 0.2)",
    "s.CyclicLR(o, 0.1, [0.2, 0.2, 0.2])",
    "s.CyclicLR(o, 0.1, 0.2, base_momentum=[0.1])",
    "s.OneCycleLR(o, 0.1)",
    "s.OneCycleLR(o, 0.1, epochs=3)",
    "s.OneCycleLR(o, 0.1, total_steps=0)",
    "s.OneCycleLR(o, 0.1, total_steps=2.5)",
    "s.OneCycleLR(o, 0.1, epochs=-1, steps_per_epoch=3)",
    "s.OneCycleLR(o, 0.1, epochs=1, steps_per_epoch=0.5)",
    "s.OneCycleLR(o, 0.1, 10, pct_start=1)",
    "s.OneCycleLR(o, 0.1, 10, pct_start=1.5)",
    "s.OneCycleLR(o, 0.1, 10, anneal_strategy='exp')",
    "s.OneCycleLR(o, [0.1], 10)",
    "[c.step() for c in [s.OneCycleLR(o, 0.1, 10)] for _ in range(11)]",
    "s.ReduceLROnPlateau(o, factor=1.0)",
    "s.ReduceLROnPlateau(o, 'mid')",
    "s.ReduceLROnPlateau(o, threshold_mode='mid')",
    "s.ReduceLROnPlateau(o, min_lr=[0.1])",
    "s.ReduceLROnPlateau(o, verbose=True)",
    "s.ReduceLROnPlateau(o).step('bad')",
    "s.ReduceLROnPlateau(o).step()",
    "s.SequentialLR(o, [], [])",
    "s.SequentialLR(o, [s.StepLR(o, 3)], [1])",
    "s.SequentialLR(o, [s.StepLR(o, 3), 4], [1])",
    "s.SequentialLR(o, [s.StepLR(o, 3), s.ReduceLROnPlateau(o)], [1])",
    "s.SequentialLR(other, [s.StepLR(o, 3)], [])",
    "s.ChainedScheduler([])",
    "s.ChainedScheduler([s.StepLR(o, 3), 4])",
    "s.ChainedScheduler([s.StepLR(o, 3), s.StepLR(other, 3)])",
    "s.ChainedScheduler([s.ReduceLROnPlateau(o)])",
    "s.LRScheduler(o)",
    "u.SWALR(o, [0.1])",
    "u.SWALR(o, 0.1, anneal_epochs=-1)",
    "u.SWALR(o, 0.1, anneal_epochs=1.5)",
    "u.SWALR(o, 0.1, anneal_strategy='exp')",
)


def failure(t: Any, call: str) -> str:
    names = {"s": t.optim.lr_scheduler, "u": t.optim.swa_utils}
    names |= {"o": optimizer(t), "other": optimizer(t)}
    try:
        eval(call, names)
    except Exception as error:
        return type(error).__name__
    return "nothing"


@pytest.mark.parametrize("call", REFUSED)
def test_refused(call: str) -> None:
    assert failure(flambeau, call) == failure(torch, call) != "nothing"


def test_momentum_to_cycle_is_demanded() -> None:
    for t in (flambeau, torch):
        opt = t.optim.LBFGS([t.nn.Parameter(t.zeros(1))])
        with pytest.raises(ValueError, match="momentum"):
            t.optim.lr_scheduler.CyclicLR(opt, 0.1, 0.2)
        with pytest.raises(ValueError, match="momentum"):
            t.optim.lr_scheduler.OneCycleLR(opt, 0.1, 10)


def test_names() -> None:
    module = flambeau.optim.lr_scheduler
    assert set(torch.optim.lr_scheduler.__all__) <= set(dir(module))
    assert module._LRScheduler.__name__ == "_LRScheduler"
