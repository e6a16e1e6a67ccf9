"""Schedules that multiply all rates by a factor of the epoch: steps, ramps and decays."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable

from flambeau.optim.lr_scheduler.scheduler import LRScheduler, Rate, current
from flambeau.optim.optimizer import Optimizer

__all__ = ["ConstantLR", "ExponentialLR", "LinearLR", "MultiStepLR", "PolynomialLR", "StepLR"]


class _FactorLR(LRScheduler):
    """A schedule that is a factor of the initial rate.

    It is applied as the change of that factor from one epoch to the next, so that several
    schedules can act on the same rates.
    """

    def _fb_factor(self) -> float:
        """The factor of the initial rate at `last_epoch`."""
        raise NotImplementedError

    def _fb_change(self) -> float | None:
        """The factor of the rate of the epoch before; None leaves it as it is."""
        raise NotImplementedError

    def get_lr(self) -> list[Rate]:
        self._fb_advise_last_lr()
        change = self._fb_change()
        if change is None:
            return current(self.optimizer)
        return [group["lr"] * change for group in self.optimizer.param_groups]

    def _get_closed_form_lr(self) -> list[Rate]:
        factor = self._fb_factor()
        return [rate * factor for rate in self.base_lrs]


class StepLR(_FactorLR):
    """Times `gamma` every `step_size` epochs."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _fb_factor(self) -> float:
        return self.gamma ** (self.last_epoch // self.step_size)

    def _fb_change(self) -> float | None:
        due = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return self.gamma if due else None


class MultiStepLR(_FactorLR):
    """Times `gamma` at each of the `milestones`; one that is listed twice counts twice."""

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones: Counter[int] = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _fb_factor(self) -> float:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return self.gamma**passed

    def _fb_change(self) -> float | None:
        times = self.milestones.get(self.last_epoch)
        return None if times is None else self.gamma**times


class ConstantLR(_FactorLR):
    """Times `factor` for the first `total_iters` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError(f"ConstantLR: factor must be between 0 and 1, but got {factor}")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _fb_factor(self) -> float:
        return self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)

    def _fb_change(self) -> float | None:
        if self.last_epoch == 0:
            return self.factor
        return 1.0 / self.factor if self.last_epoch == self.total_iters else None


class LinearLR(_FactorLR):
    """Times a factor that goes from `start_factor` to `end_factor` in `total_iters` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError(
                f"LinearLR: start_factor must be above 0 and at most 1, but got {start_factor}"
            )
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError(f"LinearLR: end_factor must be between 0 and 1, but got {end_factor}")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _fb_factor(self) -> float:
        rise = self.end_factor - self.start_factor
        return self.start_factor + rise * min(self.total_iters, self.last_epoch) / self.total_iters

    def _fb_change(self) -> float | None:
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return 1.0 + rise / before


class ExponentialLR(_FactorLR):
    """Times `gamma` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _fb_factor(self) -> float:
        return self.gamma**self.last_epoch

    def _fb_change(self) -> float | None:
        return None if self._is_initial else self.gamma


class PolynomialLR(_FactorLR):
    """Down to 0 in `total_iters` epochs, as the `power` of the share of them that is left."""

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _fb_left(self, epoch: int) -> float:
        return 1.0 - epoch / self.total_iters

    def _fb_factor(self) -> float:
        return float(self._fb_left(min(self.total_iters, self.last_epoch)) ** self.power)

    def _fb_change(self) -> float | None:
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        ratio = self._fb_left(self.last_epoch) / self._fb_left(self.last_epoch - 1)
        return float(ratio**self.power)
