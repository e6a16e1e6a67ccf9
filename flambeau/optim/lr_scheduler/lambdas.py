"""Schedules given as functions of the epoch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flambeau.optim.lr_scheduler.scheduler import (
    LRScheduler,
    Rate,
    current,
    restore_callable,
    saved_callable,
)
from flambeau.optim.optimizer import Optimizer

__all__ = ["LambdaLR", "MultiplicativeLR"]

Factor = Callable[[int], float]


class _FunctionLR(LRScheduler):
    """A schedule by one function of the epoch for all groups, or by one for each."""

    lr_lambdas: list[Factor]

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Factor | Sequence[Factor], last_epoch: int = -1
    ) -> None:
        groups = len(optimizer.param_groups)
        if not isinstance(lr_lambda, (list, tuple)):
            lr_lambda = [lr_lambda] * groups  # type: ignore[list-item]
        if len(lr_lambda) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(lr_lambda)}")
        for function in lr_lambda:
            if not callable(function):
                raise TypeError(
                    f"lr_lambda should be a function, but got {type(function).__name__}"
                )
        self.lr_lambdas = list(lr_lambda)
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """The state of the schedule; of its functions only what objects among them hold."""
        state = super().state_dict()
        state["lr_lambdas"] = [saved_callable(function) for function in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue where the schedule of a `state_dict` was, with the functions of this one."""
        super().load_state_dict({**state_dict, "lr_lambdas": self.lr_lambdas})
        for function, held in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=False):
            restore_callable(function, held)


class LambdaLR(_FunctionLR):
    """Scale the initial learning rate by a function of the epoch.

    lr = initial lr × lr_lambda(epoch)

    Args:
        optimizer: Optimiser whose learning rates are set.
        lr_lambda: Function of the epoch, or a list with one for each parameter group.
        last_epoch: Epoch to continue after; -1 starts anew. Default: -1.

    Example:
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (epoch + 1))
        >>> rates = []
        >>> for _ in range(6):
        ...     rates.append(round(scheduler.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [1.0, 0.5, 0.3333, 0.25, 0.2, 0.1667]

    See also:
        `optim.lr_scheduler.MultiplicativeLR`.
    """

    def get_lr(self) -> list[Rate]:
        self._fb_advise_last_lr()
        functions = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [rate * function(self.last_epoch) for rate, function in functions]


class MultiplicativeLR(_FunctionLR):
    """Multiply the learning rate of the epoch before by a function of the epoch.

    lr = previous lr × lr_lambda(epoch)

    Args:
        optimizer: Optimiser whose learning rates are set.
        lr_lambda: Function of the epoch, or a list with one for each parameter group.
        last_epoch: Epoch to continue after; -1 starts anew. Default: -1.

    Example:
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.9)
        >>> rates = []
        >>> for _ in range(6):
        ...     rates.append(round(scheduler.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [1.0, 0.9, 0.81, 0.729, 0.6561, 0.5905]

    See also:
        `optim.lr_scheduler.LambdaLR`.
    """

    def get_lr(self) -> list[Rate]:
        self._fb_advise_last_lr()
        if self._is_initial:
            return current(self.optimizer)
        groups = zip(self.optimizer.param_groups, self.lr_lambdas, strict=True)
        return [group["lr"] * function(self.last_epoch) for group, function in groups]
