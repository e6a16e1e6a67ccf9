"""Schedules in use: subclasses, state dicts, tensors as rates, order of calls and mistakes."""

import gc
import weakref
from typing import Any

import pytest

import flambeau as fb
from flambeau.optim import lr_scheduler as s
from flambeau.optim.swa_utils import SWALR


def optimizer(lr: Any = 0.1, groups: int = 1, **options: Any) -> fb.optim.SGD:
    params = [{"params": [fb.nn.Parameter(fb.zeros(2))]} for _ in range(groups)]
    return fb.optim.SGD(params, lr=lr, **options)


class Halve(s.LRScheduler):
    """A schedule of a user's own, with a closed form."""

    def get_lr(self) -> list[Any]:
        if self.last_epoch == 0:
            return [group["lr"] for group in self.optimizer.param_groups]
        return [group["lr"] / 2 for group in self.optimizer.param_groups]

    def _get_closed_form_lr(self) -> list[Any]:
        return [rate / 2**self.last_epoch for rate in self.base_lrs]


class Inverse:
    """A function with state."""

    def __init__(self, shift: int) -> None:
        self.shift = shift

    def __call__(self, epoch: float) -> float:
        return 1 / (epoch + self.shift)


def test_subclass() -> None:
    scheduler = Halve(optimizer(0.8))
    scheduler.optimizer.step()
    scheduler.step()
    assert scheduler.get_last_lr() == [0.4]
    with pytest.warns(UserWarning, match="deprecated"):
        scheduler.step(3)
    assert scheduler.get_last_lr() == [0.1]
    assert isinstance(scheduler, fb.optim.lr_scheduler.LRScheduler)
    assert issubclass(s._LRScheduler, s.LRScheduler)
    with pytest.raises(NotImplementedError, match="LRScheduler does not define get_lr"):
        s.LRScheduler(optimizer())


def test_rates_of_groups_added_later_are_not_forgotten() -> None:
    opt = optimizer()
    scheduler = s.ExponentialLR(opt, 0.5)
    opt.add_param_group({"params": [fb.nn.Parameter(fb.zeros(1))], "lr": 1.0})
    opt.step()
    scheduler.step()
    assert scheduler.get_last_lr() == [0.05, 0.5]


def test_a_rate_that_is_a_tensor_stays_that_tensor() -> None:
    rate = fb.tensor(0.1)
    opt = optimizer(rate)
    scheduler = s.CosineAnnealingLR(opt, 10)
    before = scheduler.get_last_lr()
    for _ in range(5):
        opt.step()
        scheduler.step()
    assert opt.param_groups[0]["lr"] is rate
    assert rate.item() == pytest.approx(0.05)
    assert before[0].item() == pytest.approx(0.1)  # a copy
    assert scheduler.base_lrs[0].item() == pytest.approx(0.1)


def test_order_of_steps() -> None:
    scheduler = s.StepLR(optimizer(), 2)
    with pytest.warns(UserWarning, match=r"before `optimizer.step\(\)`, by which") as warned:
        scheduler.step()
    assert warned[0].filename == __file__
    scheduler.step()  # says it once

    opt = optimizer()
    scheduler = s.StepLR(opt, 2)
    opt.step = lambda: None  # type: ignore[method-assign, assignment, misc]
    with pytest.warns(UserWarning, match="has been overridden"):
        scheduler.step()


def test_get_lr_from_outside_is_advised_against() -> None:
    opt = optimizer(momentum=0.9)
    schedules = [
        s.StepLR(opt, 2),
        s.LambdaLR(opt, lambda epoch: 0.9),
        s.MultiplicativeLR(opt, lambda epoch: 0.9),
        s.CosineAnnealingLR(opt, 4),
        s.CosineAnnealingWarmRestarts(opt, 4),
        s.CyclicLR(opt, 0.1, 0.2),
        s.OneCycleLR(opt, 0.1, 9),
        SWALR(opt, 0.1),
    ]
    for scheduler in schedules:
        with pytest.warns(UserWarning, match=r"please use `get_last_lr\(\)`") as warned:
            scheduler.get_lr()
        assert warned[0].filename == __file__


def test_schedule_keeps_no_optimizer_alive() -> None:
    opt = optimizer()
    alive = weakref.ref(opt)
    scheduler = s.StepLR(opt, 2)
    gc.disable()
    try:
        del opt, scheduler
        assert alive() is None
    finally:
        gc.enable()


def test_step_keeps_closure_and_result() -> None:
    opt = optimizer()
    s.StepLR(opt, 2)
    assert opt.step(lambda: 7) == 7
    assert opt.step(closure=lambda: 8) == 8


def test_functions_with_state_are_saved() -> None:
    opt = optimizer(1.0, 2)
    scheduler = s.LambdaLR(opt, [Inverse(2), lambda epoch: 0.5])
    state = scheduler.state_dict()
    assert state["lr_lambdas"] == [{"shift": 2}, None]
    other = s.LambdaLR(optimizer(1.0, 2), [Inverse(9), lambda epoch: 0.25])
    other.load_state_dict(state)
    assert state["lr_lambdas"] == [{"shift": 2}, None]
    other.optimizer.step()
    other.step()
    assert other.get_last_lr() == [pytest.approx(1 / 3), 0.25]

    cyclic = s.CyclicLR(optimizer(momentum=0.9), 0.0, 1.0, 1, scale_fn=Inverse(1))
    state = cyclic.state_dict()
    assert state["_scale_fn_custom"] == {"shift": 1}
    other_cyclic = s.CyclicLR(optimizer(momentum=0.9), 0.0, 1.0, 1, scale_fn=Inverse(5))
    other_cyclic.load_state_dict(state)
    other_cyclic.optimizer.step()
    other_cyclic.step()
    assert other_cyclic.get_last_lr() == [0.5]


def test_resumed_by_last_epoch() -> None:
    with pytest.raises(KeyError, match=r"'initial_lr' is not specified in param_groups\[0\]"):
        s.StepLR(optimizer(), 3, last_epoch=5)
    opt = optimizer(0.01)
    opt.param_groups[0]["initial_lr"] = 1.0
    scheduler = s.StepLR(opt, 3, last_epoch=4)  # the next epoch is the fifth
    assert scheduler.last_epoch == 5
    opt.step()
    scheduler.step()
    assert scheduler.get_last_lr() == [pytest.approx(0.001)]


def test_swalr() -> None:
    opt = optimizer(0.1, 2)
    scheduler = SWALR(opt, [0.5, 0.02], anneal_epochs=4, anneal_strategy="linear")
    curve = [scheduler.get_last_lr()]
    for _ in range(6):
        opt.step()
        scheduler.step()
        curve.append(scheduler.get_last_lr())
    expected = [0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.5]
    assert [rates[0] for rates in curve] == pytest.approx(expected)
    assert curve[4][1] == pytest.approx(0.02)


MISTAKES = (
    ("s.StepLR(3, 2)", TypeError, "int is not an Optimizer"),
    ("s.LambdaLR(o, [abs])", ValueError, "Expected 2 lr_lambdas, but got 1"),
    ("s.LambdaLR(o, 3)", TypeError, "lr_lambda should be a function, but got int"),
    ("s.ConstantLR(o, 1.5)", ValueError, "factor must be between 0 and 1, but got 1.5"),
    ("s.LinearLR(o, 0)", ValueError, "start_factor must be above 0 and at most 1, but got 0"),
    ("s.LinearLR(o, 1, 2)", ValueError, "end_factor must be between 0 and 1, but got 2"),
    ("s.CosineAnnealingWarmRestarts(o, 0)", ValueError, "positive integer T_0, but got 0"),
    ("s.CosineAnnealingWarmRestarts(o, 1, 0)", ValueError, "integer T_mult >= 1, but got 0"),
    ("s.CosineAnnealingWarmRestarts(o, 1, 1, '')", ValueError, "int eta_min, but got a str"),
    ("s.CosineAnnealingWarmRestarts(o, 1).step(-2)", ValueError, "non-negative epoch, but got -2"),
    ("s.CyclicLR(o, 0, 1, mode='up')", ValueError, "mode must be 'triangular'.* but got 'up'"),
    ("s.CyclicLR(o, [0], 1)", ValueError, "base_lr must have one value .* 2 parameter groups"),
    ("s.OneCycleLR(o, 0.1)", ValueError, r"either total_steps OR \(epochs AND steps_per_epoch\)"),
    ("s.OneCycleLR(o, 0.1, 0)", ValueError, "positive integer total_steps, but got 0"),
    ("s.OneCycleLR(o, 1, epochs=2.0, steps_per_epoch=3)", ValueError, "integer epochs, but got 2"),
    ("s.OneCycleLR(o, 0.1, 9, pct_start=2.0)", ValueError, "between 0 and 1 pct_start, but got 2"),
    ("s.OneCycleLR(o, 0.1, 9, anneal_strategy='x')", ValueError, "'cos' or 'linear', but got 'x'"),
    ("s.ReduceLROnPlateau(o, factor=1.0)", ValueError, "factor must be below 1.0, but got 1.0"),
    ("s.ReduceLROnPlateau(o, 'up')", ValueError, "mode up is unknown: expected 'min' or 'max'"),
    ("s.ReduceLROnPlateau(o, threshold_mode='x')", ValueError, "threshold mode x is unknown"),
    ("s.ReduceLROnPlateau(o, min_lr=[0])", ValueError, "expected 2 min_lrs, got 1"),
    ("s.SequentialLR(o, [], [])", ValueError, "SequentialLR expects at least one scheduler"),
    ("s.SequentialLR(o, [s.StepLR(o, 1)], [3])", ValueError, "1 milestones for 1 schedulers"),
    ("s.SequentialLR(o, [4], [])", TypeError, "at index 0, a int, has no attribute `optimizer`"),
    (
        "s.ChainedScheduler([s.StepLR(o, 1), s.StepLR(p, 1)])",
        ValueError,
        "StepLR at index 1 belongs to another SGD",
    ),
    ("s.ChainedScheduler([s.ReduceLROnPlateau(o)])", ValueError, "its step needs a metric"),
    ("SWALR(o, [1])", ValueError, "swa_lr must have one value .* but has 1"),
    ("SWALR(o, 1, -1)", ValueError, "anneal_epochs must be an integer of 0 or more, got -1"),
    ("SWALR(o, 1, anneal_strategy='x')", ValueError, "'cos' or 'linear', but got 'x'"),
)


@pytest.mark.parametrize(("call", "error", "message"), MISTAKES)
def test_mistakes(call: str, error: type[Exception], message: str) -> None:
    names = {"s": s, "SWALR": SWALR, "o": optimizer(groups=2), "p": optimizer(groups=2)}
    with pytest.raises(error, match=message):
        eval(call, names)


def test_momentum_to_cycle_is_demanded() -> None:
    opt = fb.optim.LBFGS([fb.nn.Parameter(fb.zeros(2))])
    with pytest.raises(ValueError, match="OneCycleLR: LBFGS has neither momentum nor betas"):
        s.OneCycleLR(opt, 0.1, 10)
    s.OneCycleLR(opt, 0.1, 10, cycle_momentum=False)
