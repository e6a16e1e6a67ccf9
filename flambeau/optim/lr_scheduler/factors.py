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
    """Multiply the learning rate by a factor every few epochs.

    lr = initial lr × gamma^floor(epoch / step_size)

    Args:
        optimizer: Optimiser whose learning rates are set.
        step_size: Number of epochs between two changes.
        gamma: The factor. Default: 0.1.
        last_epoch: Epoch to continue after; -1 starts anew. Default: -1.

    Example:
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.1)
        >>> rates = []
        >>> for _ in range(6):
        ...     rates.append(round(scheduler.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [1.0, 1.0, 0.1, 0.1, 0.01, 0.01]

    See also:
        `optim.lr_scheduler.MultiStepLR`, `optim.lr_scheduler.ExponentialLR`.
    """

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
    """Multiply the learning rate by a factor at given epochs.

    lr = initial lr × gamma^(number of milestones reached)

    Args:
        optimizer: Optimiser whose learning rates are set.
        milestones: The epochs; one that is listed twice counts twice.
        gamma: The factor. Default: 0.1.
        last_epoch: Epoch to continue after; -1 starts anew. Default: -1.

    Example:
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[2, 5])
        >>> rates = []
        >>> for _ in range(6):
        ...     rates.append(round(scheduler.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [1.0, 1.0, 0.1, 0.1, 0.1, 0.01]

    See also:
        `optim.lr_scheduler.StepLR`.
    """

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
    """Scale the learning rate by a factor for the first epochs.

    Args:
        optimizer: Optimiser whose learning rates are set.
        factor: The factor. Default: 1/3.
        total_iters: Number of epochs. Default: 5.
        last_epoch: Epoch to continue after; -1 starts anew. Default: -1.

    Example:
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=3)
        >>> rates = []
        >>> for _ in range(6):
        ...     rates.append(round(scheduler.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [0.5, 0.5, 0.5, 1.0, 1.0, 1.0]

    See also:
        `optim.lr_scheduler.LinearLR`.
    """

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
    """Scale the learning rate by a factor that changes linearly, as for a warm-up.

    lr = initial lr × (start_factor + (end_factor - start_factor) min(1, epoch / total_iters))

    Args:
        optimizer: Optimiser whose learning rates are set.
        start_factor: First factor. Default: 1/3.
        end_factor: Last factor, which then stays. Default: 1.
        total_iters: Number of epochs between them. Default: 5.
        last_epoch: Epoch to continue after; -1 starts anew. Default: -1.

    Example:
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 0.25, total_iters=3)
        >>> rates = []
        >>> for _ in range(6):
        ...     rates.append(round(scheduler.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]

    See also:
        `optim.lr_scheduler.SequentialLR`.
    """

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
    """Multiply the learning rate by a factor every epoch.

    lr = initial lr × gamma^epoch

    Args:
        optimizer: Optimiser whose learning rates are set.
        gamma: The factor.
        last_epoch: Epoch to continue after; -1 starts anew. Default: -1.

    Example:
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        >>> rates = []
        >>> for _ in range(6):
        ...     rates.append(round(scheduler.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [1.0, 0.5, 0.25, 0.125, 0.0625, 0.0312]

    See also:
        `optim.lr_scheduler.StepLR`.
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _fb_factor(self) -> float:
        return self.gamma**self.last_epoch

    def _fb_change(self) -> float | None:
        return None if self._is_initial else self.gamma


class PolynomialLR(_FactorLR):
    """Let the learning rate fall to 0 as a polynomial.

    lr = initial lr × (1 - min(1, epoch / total_iters))^power

    Args:
        optimizer: Optimiser whose learning rates are set.
        total_iters: Number of epochs. Default: 5.
        power: The exponent. Default: 1.
        last_epoch: Epoch to continue after; -1 starts anew. Default: -1.

    Example:
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=4, power=2.0)
        >>> rates = []
        >>> for _ in range(6):
        ...     rates.append(round(scheduler.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [1.0, 0.5625, 0.25, 0.0625, 0.0, 0.0]

    See also:
        `optim.lr_scheduler.LRScheduler`.
    """

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
