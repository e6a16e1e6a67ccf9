"""Schedules of learning rates: their formulas, written down independently, and resuming."""

import copy
import pickle
from collections.abc import Callable
from math import cos, pi
from typing import Any

import pytest

import flambeau as fb
from flambeau.optim import lr_scheduler as s

RATES = (0.1, 0.03)
STEPS = 200


def optimizer(rates: tuple[Any, ...] = RATES, **options: Any) -> fb.optim.SGD:
    groups = [{"params": [fb.nn.Parameter(fb.zeros(2))], "lr": rate} for rate in rates]
    return fb.optim.SGD(groups, **options)


def follow(scheduler: s.LRScheduler, steps: int = STEPS) -> list[list[float]]:
    """The rates of the epochs from now on."""
    curve = [[float(rate) for rate in scheduler.get_last_lr()]]
    for _ in range(steps):
        scheduler.optimizer.step()
        scheduler.step()
        assert scheduler.get_last_lr() == [g["lr"] for g in scheduler.optimizer.param_groups]
        curve.append([float(rate) for rate in scheduler.get_last_lr()])
    return curve


def triangle(epoch: int, up: int, down: int) -> float:
    """0 at the ends of a cycle, 1 at its peak."""
    at = epoch % (up + down)
    return at / up if at <= up else (up + down - at) / down


def cycle(epoch: int, length: int) -> int:
    return epoch // length


def restarts(epoch: int, first: int, times: int) -> float:
    """The share of its run that an epoch is at, for runs that grow."""
    length = first
    while epoch >= length:
        epoch -= length
        length *= times
    return epoch / length


# The schedule, and the factor of the initial rate at an epoch.
FACTORS: dict[str, tuple[Callable[[Any], s.LRScheduler], Callable[[int], float]]] = {
    "lambda": (lambda o: s.LambdaLR(o, lambda e: 1 / (1 + e)), lambda e: 1 / (1 + e)),
    "multiplicative": (lambda o: s.MultiplicativeLR(o, lambda e: 0.97), lambda e: 0.97**e),
    "step": (lambda o: s.StepLR(o, 30), lambda e: 0.1 ** (e // 30)),
    "step 1": (lambda o: s.StepLR(o, 1, gamma=0.98), lambda e: 0.98**e),
    "milestones": (
        lambda o: s.MultiStepLR(o, [10, 40, 40, 90], 0.5),
        lambda e: 0.5 ** ((e >= 10) + 2 * (e >= 40) + (e >= 90)),
    ),
    "constant": (lambda o: s.ConstantLR(o, 0.25, 20), lambda e: 0.25 if e < 20 else 1.0),
    "linear": (
        lambda o: s.LinearLR(o, 0.1, 0.9, 50),
        lambda e: 0.1 + 0.8 * min(e, 50) / 50,
    ),
    "exponential": (lambda o: s.ExponentialLR(o, 0.96), lambda e: 0.96**e),
    "polynomial": (
        lambda o: s.PolynomialLR(o, 120, power=2.0),
        lambda e: (1 - min(e, 120) / 120) ** 2,
    ),
    "cosine": (lambda o: s.CosineAnnealingLR(o, 70), lambda e: (1 + cos(pi * e / 70)) / 2),
    "restarts": (
        lambda o: s.CosineAnnealingWarmRestarts(o, 10, 2),
        lambda e: (1 + cos(pi * restarts(e, 10, 2))) / 2,
    ),
    "warm up, then cosine": (
        lambda o: s.SequentialLR(
            o, [s.LinearLR(o, 0.1, total_iters=10), s.CosineAnnealingLR(o, 190)], [10]
        ),
        lambda e: 0.1 + 0.9 * e / 10 if e < 10 else (1 + cos(pi * (e - 10) / 190)) / 2,
    ),
    "three in turn": (
        lambda o: s.SequentialLR(
            o, [s.ConstantLR(o, 0.5, 99), s.StepLR(o, 5, 0.5), s.ExponentialLR(o, 0.9)], [20, 50]
        ),
        lambda e: 0.5 if e < 20 else (0.5 ** ((e - 20) // 5) if e < 50 else 0.9 ** (e - 50)),
    ),
    "two at a time": (
        lambda o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 20), s.ExponentialLR(o, 0.95)]),
        lambda e: (0.1 if e < 20 else 1.0) * 0.95**e,
    ),
}


@pytest.mark.parametrize("name", FACTORS)
def test_formula(name: str) -> None:
    make, factor = FACTORS[name]
    for epoch, rates in enumerate(follow(make(optimizer()))):
        expected = [rate * factor(epoch) for rate in RATES]
        assert rates == pytest.approx(expected, rel=1e-11, abs=1e-12), f"epoch {epoch}"


@pytest.mark.parametrize("name", [n for n in FACTORS if n not in ("lambda", "multiplicative")])
def test_resumed_in_the_middle(name: str) -> None:
    """A pickled state continues the very same curve, whatever the new objects did before."""
    make, _ = FACTORS[name]
    whole = follow(make(optimizer()))
    first = make(optimizer())
    begun = follow(first, 77)
    state = pickle.dumps((first.optimizer.state_dict(), first.state_dict()))
    second = make(optimizer())
    follow(second, 5)
    of_optimizer, of_scheduler = pickle.loads(state)
    second.optimizer.load_state_dict(of_optimizer)
    second.load_state_dict(of_scheduler)
    assert begun + follow(second, STEPS - 77)[1:] == whole


@pytest.mark.parametrize("name", ["step", "milestones", "constant", "linear", "exponential"])
def test_jump_to_an_epoch(name: str) -> None:
    make, factor = FACTORS[name]
    scheduler = make(optimizer())
    scheduler.optimizer.step()
    for epoch in (40, 3, 0, 100):
        with pytest.warns(UserWarning, match="The epoch parameter .* is deprecated"):
            scheduler.step(epoch)
        assert scheduler.last_epoch == epoch
        expected = [rate * factor(epoch) for rate in RATES]
        assert scheduler.get_last_lr() == pytest.approx(expected, rel=1e-12)


def test_restarts_within_an_epoch() -> None:
    scheduler = s.CosineAnnealingWarmRestarts(optimizer(), 4, 3, eta_min=0.01)
    for epoch in (0.5, 3.75, 4.0, 10.25, 16.0, 51.5):
        scheduler.step(epoch)
        start, length = max((b, n) for b, n in ((0, 4), (4, 12), (16, 36)) if b <= epoch)
        share = (1 + cos(pi * (epoch - start) / length)) / 2
        expected = [0.01 + (rate - 0.01) * share for rate in RATES]
        assert scheduler.get_last_lr() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("mode", "scale"),
    [
        ("triangular", lambda e: 1.0),
        ("triangular2", lambda e: 0.5 ** cycle(e, 50)),
        ("exp_range", lambda e: 0.99**e),
    ],
)
def test_cyclic(mode: Any, scale: Callable[[int], float]) -> None:
    opt = optimizer(momentum=0.9)
    scheduler = s.CyclicLR(opt, 0.01, 0.2, 20, 30, mode=mode, gamma=0.99)
    for epoch in range(STEPS):
        height = triangle(epoch, 20, 30) * scale(epoch)
        for group in opt.param_groups:
            assert group["lr"] == pytest.approx(0.01 + 0.19 * height, rel=1e-11)
            assert group["momentum"] == pytest.approx(0.9 - 0.1 * height, rel=1e-11)
        opt.step()
        scheduler.step()


def test_cyclic_with_its_own_scale_and_bounds_for_each_group() -> None:
    opt = optimizer()
    scheduler = s.CyclicLR(
        opt, [0.1, 1.0], [0.2, 3.0], 4, scale_fn=lambda x: 1 / x, cycle_momentum=False
    )
    curve = follow(scheduler, 12)
    assert curve[4] == pytest.approx([0.2, 3.0])
    assert curve[12] == pytest.approx([0.15, 2.0])  # the second cycle is half as high
    assert opt.param_groups[0]["momentum"] == 0


@pytest.mark.parametrize("by", ["cos", "linear"])
@pytest.mark.parametrize("three", [False, True])
def test_one_cycle(by: Any, three: bool) -> None:
    params = [fb.nn.Parameter(fb.zeros(2))]
    opt = fb.optim.Adam(params, lr=1.0, betas=(0.5, 0.99))
    scheduler = s.OneCycleLR(opt, 0.5, 100, three_phase=three, anneal_strategy=by)
    start, least = 0.5 / 25, 0.5 / 25 / 1e4
    # The corners of the curve of the rate, and of the first beta.
    rates = {0: start, 29: 0.5, **({58: start} if three else {}), 99: least}
    betas = {0: 0.95, 29: 0.85, **({58: 0.95} if three else {}), 99: 0.95}
    for epoch in range(100):
        assert opt.param_groups[0]["lr"] == pytest.approx(between(rates, epoch, by), rel=1e-10)
        beta, second = opt.param_groups[0]["betas"]
        assert beta == pytest.approx(between(betas, epoch, by), rel=1e-11)
        assert second == 0.99
        opt.step()
        scheduler.step()
    with pytest.raises(ValueError, match=r"step 101 is beyond the end .* total_steps=100"):
        scheduler.step()


def between(corners: dict[int, float], epoch: int, by: str) -> float:
    ends = sorted(corners)
    right = next(each for each in ends[1:] if epoch <= each)
    left = ends[ends.index(right) - 1]
    share = (epoch - left) / (right - left)
    share = share if by == "linear" else (1 - cos(pi * share)) / 2
    return corners[left] + (corners[right] - corners[left]) * share


def test_plateau_waits_reduces_and_cools_down() -> None:
    scheduler = s.ReduceLROnPlateau(
        optimizer(), factor=0.5, patience=2, cooldown=3, min_lr=[0.02, 0.01]
    )
    rates = []
    for metric in [1.0, 0.9] + [0.9] * 12:
        scheduler.step(fb.tensor(metric))
        rates.append(scheduler.get_last_lr()[0])
    # Two epochs of patience after the best, and three more that do not count after a reduction.
    assert rates == [0.1] * 4 + [0.05] * 6 + [0.025] * 4
    for _ in range(40):
        scheduler.step(1.0)
    assert scheduler.get_last_lr() == [0.02, 0.01]
    assert scheduler.best == pytest.approx(0.9)
    scheduler.optimizer.add_param_group({"params": [fb.nn.Parameter(fb.zeros(1))]})
    scheduler.patience, scheduler.cooldown_counter = -1, 0  # the next step reduces
    with pytest.raises(RuntimeError, match="3 parameter groups, but min_lrs was given for 2"):
        scheduler.step(1.0)


@pytest.mark.parametrize(
    ("mode", "threshold_mode", "enough", "short"),
    [
        ("min", "rel", 8.9, 9.1),
        ("min", "abs", 9.8, 9.95),
        ("max", "rel", 11.1, 10.9),
        ("max", "abs", 10.2, 10.05),
    ],
)
def test_plateau_threshold(mode: Any, threshold_mode: Any, enough: float, short: float) -> None:
    for second, best in ((enough, enough), (short, 10.0)):
        scheduler = s.ReduceLROnPlateau(
            optimizer(), mode, threshold=0.1, threshold_mode=threshold_mode
        )
        scheduler.step(10.0)
        scheduler.step(second)
        assert scheduler.best == best
        assert scheduler.num_bad_epochs == (best == 10.0)


def test_plateau_resumed() -> None:
    first = s.ReduceLROnPlateau(optimizer(), "max", patience=3)
    for metric in (1, 2, 2, 2):
        first.step(metric)
    second = s.ReduceLROnPlateau(optimizer())
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    for scheduler in (first, second):
        scheduler.step(2)
        assert scheduler.get_last_lr() == pytest.approx([0.1, 0.03])
        scheduler.step(2)
        assert scheduler.get_last_lr() == pytest.approx([0.01, 0.003])
