"""Schedules that follow a cosine: once down and up again, and with warm restarts."""

from __future__ import annotations

import math

from flambeau.optim.lr_scheduler.scheduler import LRScheduler, Rate, current
from flambeau.optim.optimizer import Optimizer

__all__ = ["CosineAnnealingLR", "CosineAnnealingWarmRestarts"]


def _height(epoch: float, period: float) -> float:
    """Twice the share of the way between the least and the greatest rate: 2 at 0, 0 at `period`."""
    return 1 + math.cos(math.pi * epoch / period)


class CosineAnnealingLR(LRScheduler):
    """Let the learning rate follow half a cosine down, and up again.

    lr = eta_min + (initial lr - eta_min) (1 + cos(π epoch / T_max)) / 2

    Args:
        optimizer: Optimiser whose learning rates are set.
        T_max: Number of epochs down.
        eta_min: Lowest learning rate. Default: 0.
        last_epoch: Epoch to continue after; -1 starts anew. Default: -1.

    Example:
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
        >>> rates = []
        >>> for _ in range(6):
        ...     rates.append(round(scheduler.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [1.0, 0.8536, 0.5, 0.1464, 0.0, 0.1464]

    See also:
        `optim.lr_scheduler.CosineAnnealingWarmRestarts`, `optim.lr_scheduler.OneCycleLR`.
    """

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._fb_advise_last_lr()
        if self._is_initial:
            return current(self.optimizer)
        if self._step_count == 1 and self.last_epoch > 0:
            return self._get_closed_form_lr()
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            return self._fb_leave_minimum()
        ratio = _height(self.last_epoch, self.T_max) / _height(self.last_epoch - 1, self.T_max)
        return [
            ratio * (group["lr"] - self.eta_min) + self.eta_min
            for group in self.optimizer.param_groups
        ]

    def _fb_leave_minimum(self) -> list[Rate]:
        """The first rates after the minimum, whose ratio to it has no meaning."""
        rise = 1 - math.cos(math.pi / self.T_max)
        return [
            group["lr"] + (base - self.eta_min) * rise / 2
            for base, group in zip(self.base_lrs, self.optimizer.param_groups, strict=True)
        ]

    def _get_closed_form_lr(self) -> list[Rate]:
        height = _height(self.last_epoch, self.T_max)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Let the learning rate follow half a cosine down, again and again.

    lr = eta_min + (initial lr - eta_min) (1 + cos(π T_cur / T_i)) / 2

    where T_cur counts epochs since the last restart and T_i is the length of the run. `step` may be
    given an epoch with a fraction, such as `epoch + batch / batches`.

    Args:
        optimizer: Optimiser whose learning rates are set.
        T_0: Epochs of the first run.
        T_mult: Factor from the length of one run to the next. Default: 1.
        eta_min: Lowest learning rate. Default: 0.
        last_epoch: Epoch to continue after; -1 starts anew. Default: -1.

    Example:
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=3)
        >>> rates = []
        >>> for _ in range(6):
        ...     rates.append(round(scheduler.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [1.0, 0.75, 0.25, 1.0, 0.75, 0.25]

    See also:
        `optim.lr_scheduler.CosineAnnealingLR`.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got a {type(eta_min).__name__}")
        self.T_0 = T_0
        self.T_i: int = T_0  # epochs of the current run
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch  # epochs since its start
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._fb_advise_last_lr()
        height = _height(self.T_cur, self.T_i)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Set the rates of the next epoch, or of any other one, whole or not."""
        if epoch is None and self.last_epoch >= 0:
            epoch = self.last_epoch + 1
            self._fb_advance()
        else:
            self._fb_jump(0 if epoch is None else epoch)
            epoch = epoch or 0
        self.last_epoch: int = math.floor(epoch)
        self._fb_set_rates(self.get_lr)

    def _fb_advance(self) -> None:
        self.T_cur += 1
        if self.T_cur >= self.T_i:
            self.T_cur %= self.T_i
            self.T_i *= self.T_mult

    def _fb_jump(self, epoch: float) -> None:
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        if epoch < self.T_0:
            self.T_i = self.T_0
            self.T_cur = epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            # The first n runs take T_0 (T_mult^n - 1) / (T_mult - 1) epochs together.
            runs = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**runs - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**runs
