"""Schedules that cycle the rates between bounds, and the momentum the other way round."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

from flambeau.optim.lr_scheduler.scheduler import (
    Group,
    LRScheduler,
    Rate,
    assign,
    check_optimizer,
    per_group,
    restore_callable,
    saved_callable,
)
from flambeau.optim.optimizer import Optimizer

__all__ = ["CyclicLR", "OneCycleLR"]

Bound = float | Sequence[float]


class _MomentumLR(LRScheduler):
    """A schedule of rates that may cycle the momentum (or the first beta) as well."""

    cycle_momentum: bool
    use_beta1: bool

    def _fb_init_momentum(
        self, base_momentum: Bound, max_momentum: Bound, fresh: bool
    ) -> tuple[list[float], list[float]]:
        """The bounds of every group; a fresh schedule begins at the upper ones."""
        defaults = self.optimizer.defaults
        if "momentum" not in defaults and "betas" not in defaults:
            raise ValueError(
                f"{type(self).__name__}: {type(self.optimizer).__name__} has neither momentum nor "
                "betas to cycle; pass cycle_momentum=False"
            )
        self.use_beta1 = "betas" in defaults
        lower = per_group("base_momentum", self.optimizer, base_momentum)
        upper = per_group("max_momentum", self.optimizer, max_momentum)
        if fresh:
            for group, least, most in zip(self.optimizer.param_groups, lower, upper, strict=True):
                self._fb_assign_momentum(group, most)
                group["max_momentum"] = most
                group["base_momentum"] = least
        return lower, upper

    def _fb_assign_momentum(self, group: Group, momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(_MomentumLR):
    """Cycle the learning rate up and down between two bounds; call `step` after each batch.

    Args:
        optimizer: Optimiser whose learning rates are set.
        base_lr: Lower bound, one number or one per group.
        max_lr: Upper bound, likewise.
        step_size_up: Number of steps up. Default: 2000.
        step_size_down: Number of steps down. Default: `step_size_up`.
        mode: How the amplitude shrinks: `"triangular"` not (the default), `"triangular2"` by half
            every cycle, `"exp_range"` by `gamma` every step.
        gamma: The factor of `"exp_range"`. Default: 1.
        scale_fn: Function that replaces `mode`. Default: None.
        scale_mode: Whether its argument counts `"cycle"` (the default) or `"iterations"`.
        cycle_momentum: Whether momentum cycles the other way round. Default: True.
        base_momentum: Lower bound of the momentum. Default: 0.8.
        max_momentum: Upper bound of the momentum. Default: 0.9.
        last_epoch: Epoch to continue after; -1 starts anew. Default: -1.

    Example:
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.CyclicLR(
        ...     optimizer, base_lr=0.1, max_lr=0.5, step_size_up=2, cycle_momentum=False
        ... )
        >>> rates = []
        >>> for _ in range(6):
        ...     rates.append(round(scheduler.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [0.1, 0.3, 0.5, 0.3, 0.1, 0.3]

    See also:
        `optim.lr_scheduler.OneCycleLR`.
    """

    base_momentums: list[float]
    max_momentums: list[float]

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Bound,
        max_lr: Bound,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle",
        cycle_momentum: bool = True,
        base_momentum: Bound = 0.8,
        max_momentum: Bound = 0.9,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(
                "CyclicLR: mode must be 'triangular', 'triangular2' or 'exp_range' where no "
                f"scale_fn is given, but got {mode!r}"
            )
        base_lrs: list[Rate] = list(per_group("base_lr", optimizer, base_lr))
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, base_lrs, strict=True):
                assign(group, rate)
        self.max_lrs: list[float] = per_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size: float = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio: float = up / self.total_size
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        self._fb_choose_scale_mode()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = self._fb_init_momentum(
                base_momentum, max_momentum, fresh=last_epoch == -1
            )
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _fb_choose_scale_mode(self) -> None:
        """A built-in mode decides itself what its scale is a function of."""
        if self._scale_fn_custom is None:
            self.scale_mode = "iterations" if self.mode == "exp_range" else "cycle"

    def scale_fn(self, x: float) -> float:
        """The factor of the amplitude in cycle, or at step, `x`."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return float(1 / (2.0 ** (x - 1)) if self.mode == "triangular2" else self.gamma**x)

    def get_lr(self) -> list[Rate]:
        """The rates at `last_epoch`; the momenta there are set as well."""
        self._fb_advise_last_lr()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        share = 1.0 + self.last_epoch / self.total_size - cycle  # of the cycle that is over
        rising = share <= self.step_ratio
        height = share / self.step_ratio if rising else (share - 1) / (self.step_ratio - 1)
        at = cycle if self.scale_mode == "cycle" else self.last_epoch
        if self.cycle_momentum:
            bounds = zip(self.base_momentums, self.max_momentums, strict=True)
            momenta = [most - (most - least) * height * self.scale_fn(at) for least, most in bounds]
            for group, momentum in zip(self.optimizer.param_groups, momenta, strict=True):
                self._fb_assign_momentum(group, momentum)
        return [
            least + (most - least) * height * self.scale_fn(at)
            for least, most in zip(self.base_lrs, self.max_lrs, strict=True)
        ]

    def state_dict(self) -> dict[str, Any]:
        """The state of the schedule; of `scale_fn` only what an object holds."""
        state = super().state_dict()
        if self._scale_fn_custom is not None:
            state["_scale_fn_custom"] = saved_callable(self._scale_fn_custom)
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue where the schedule of a `state_dict` was, with the `scale_fn` of this one."""
        super().load_state_dict({**state_dict, "_scale_fn_custom": self._scale_fn_custom})
        if self._scale_fn_custom is not None:
            restore_callable(self._scale_fn_custom, state_dict["_scale_fn_custom"])
        self._fb_choose_scale_mode()


def _anneal_cosine(start: float, end: float, share: float) -> float:
    return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)


def _anneal_linearly(start: float, end: float, share: float) -> float:
    return (end - start) * share + start


_ANNEALING = {"cos": _anneal_cosine, "linear": _anneal_linearly}


def _phase(end_step: float, rates: str, momenta: str) -> dict[str, Any]:
    """A stretch of the one cycle: where it ends, and which entries of a group it goes between."""
    start_lr, end_lr = rates.split()
    start_momentum, end_momentum = momenta.split()
    return {
        "end_step": end_step,
        "start_lr": start_lr,
        "end_lr": end_lr,
        "start_momentum": start_momentum,
        "end_momentum": end_momentum,
    }


class OneCycleLR(_MomentumLR):
    """One cycle over all of training: warm up, then anneal; call `step` after each batch.

    The rate rises from max_lr / div_factor to max_lr, then falls to
    max_lr / (div_factor final_div_factor).

    Args:
        optimizer: Optimiser whose learning rates are set.
        max_lr: Highest learning rate, one number or one per group.
        total_steps: Number of steps of the cycle; or `epochs` and `steps_per_epoch` give it.
        epochs: Number of epochs. Default: None.
        steps_per_epoch: Number of steps per epoch. Default: None.
        pct_start: Share of the cycle that rises. Default: 0.3.
        anneal_strategy: `"cos"` (the default) or `"linear"`.
        cycle_momentum: Whether momentum cycles the other way round. Default: True.
        base_momentum: Lower bound of the momentum. Default: 0.85.
        max_momentum: Upper bound of the momentum. Default: 0.95.
        div_factor: max_lr by the first learning rate. Default: 25.
        final_div_factor: First learning rate by the last. Default: 1e4.
        three_phase: Whether to fall as it rose before the last phase. Default: False.
        last_epoch: Epoch to continue after; -1 starts anew. Default: -1.

    Example:
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.OneCycleLR(
        ...     optimizer, max_lr=1.0, total_steps=6, cycle_momentum=False
        ... )
        >>> rates = []
        >>> for _ in range(5):
        ...     rates.append(round(scheduler.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [0.04, 0.9944, 0.8117, 0.4626, 0.1335]

    See also:
        `optim.lr_scheduler.CyclicLR`, `optim.lr_scheduler.CosineAnnealingLR`.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Bound,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        cycle_momentum: bool = True,
        base_momentum: Bound = 0.85,
        max_momentum: Bound = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in _ANNEALING:
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', but got {anneal_strategy!r}"
            )
        self.total_steps: int = _length(total_steps, epochs, steps_per_epoch)
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        peaks = per_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, peak in zip(optimizer.param_groups, peaks, strict=True):
                group["initial_lr"] = peak / div_factor
                group["max_lr"] = peak
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._fb_init_momentum(base_momentum, max_momentum, fresh=last_epoch == -1)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """The rates at `last_epoch`; the momenta there are set as well."""
        self._fb_advise_last_lr()
        phase, share = self._fb_place()
        anneal = _ANNEALING[self._anneal_func_type]
        rates: list[Rate] = []
        for group in self.optimizer.param_groups:
            rates.append(anneal(group[phase["start_lr"]], group[phase["end_lr"]], share))
            if self.cycle_momentum:
                ends = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._fb_assign_momentum(group, anneal(*ends, share))
        return rates

    def _fb_place(self) -> tuple[dict[str, Any], float]:
        """The phase that `last_epoch` is in, and the share of it that is over."""
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"OneCycleLR: step {step} is beyond the end of the schedule, which has "
                f"total_steps={self.total_steps}"
            )
        start = 0.0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if step <= end or phase is self._schedule_phases[-1]:
                break
            start = end
        return phase, (step - start) / (end - start)


def _length(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    """The steps of the cycle, however they are given."""
    if total_steps is not None:
        return _positive("total_steps", total_steps)
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    return _positive("epochs", epochs) * _positive("steps_per_epoch", steps_per_epoch)


def _positive(name: str, value: int) -> int:
    if not isinstance(value, int) or value <= 0:
        raise ValueError(f"Expected positive integer {name}, but got {value}")
    return value


def _phases(total_steps: int, pct_start: float, three_phase: bool) -> list[dict[str, Any]]:
    peak = float(pct_start * total_steps) - 1
    rise = _phase(peak, "initial_lr max_lr", "max_momentum base_momentum")
    last = total_steps - 1
    if not three_phase:
        return [rise, _phase(last, "max_lr min_lr", "base_momentum max_momentum")]
    back = float(2 * pct_start * total_steps) - 2
    return [
        rise,
        _phase(back, "max_lr initial_lr", "base_momentum max_momentum"),
        _phase(last, "initial_lr min_lr", "max_momentum max_momentum"),
    ]
