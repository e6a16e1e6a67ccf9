"""Schedules made of others: one after the other, and several at a time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from flambeau.optim.lr_scheduler.plateau import ReduceLROnPlateau
from flambeau.optim.lr_scheduler.scheduler import LRScheduler, assign, current
from flambeau.optim.optimizer import Optimizer

__all__ = ["ChainedScheduler", "SequentialLR"]


class _ComposedLR(LRScheduler):
    """A schedule that steps others, all of the same optimiser."""

    _schedulers: Sequence[LRScheduler]

    def _fb_adopt(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None) -> None:
        """Take over the schedulers, and with them their optimiser."""
        name = type(self).__name__
        if len(schedulers) < 1:
            raise ValueError(f"{name} expects at least one scheduler, but got no scheduler.")
        for index, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(
                    f"{name}: the object at index {index}, a {type(scheduler).__name__}, has no "
                    "attribute `optimizer` and is no scheduler"
                )
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support the `ReduceLROnPlateau` scheduler at index {index}, "
                    "because its step needs a metric"
                )
            optimizer = optimizer or scheduler.optimizer
            if optimizer is not scheduler.optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but the "
                    f"{type(scheduler).__name__} at index {index} belongs to another "
                    f"{type(scheduler.optimizer).__name__}"
                )
        self._schedulers = schedulers
        self.optimizer: Optimizer = schedulers[0].optimizer

    def state_dict(self) -> dict[str, Any]:
        """The state of the schedule and of the schedules it is made of."""
        state = super().state_dict()
        state["_schedulers"] = [scheduler.state_dict() for scheduler in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue where the schedules of a `state_dict` were."""
        super().load_state_dict({**state_dict, "_schedulers": self._schedulers})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)


class SequentialLR(_ComposedLR):
    """Run several schedules one after the other, as warm-up and decay.

    Args:
        optimizer: Optimiser whose learning rates are set.
        schedulers: The schedules, all of this optimiser.
        milestones: Epochs at which the second, third, ... begin.
        last_epoch: Epoch to continue after; -1 starts anew. Default: -1.

    Example:
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.SequentialLR(
        ...     optimizer,
        ...     [
        ...         torch.optim.lr_scheduler.LinearLR(optimizer, 0.5, total_iters=2),
        ...         torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5),
        ...     ],
        ...     milestones=[2],
        ... )
        >>> rates = []
        >>> for _ in range(6):
        ...     rates.append(round(scheduler.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [0.5, 0.75, 1.0, 0.5, 0.25, 0.125]

    See also:
        `optim.lr_scheduler.ChainedScheduler`.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        self._fb_adopt(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "SequentialLR expects one milestone less than schedulers, but got "
                f"{len(milestones)} milestones for {len(schedulers)} schedulers"
            )
        self._milestones = milestones
        self.last_epoch: int = last_epoch + 1
        # Every schedule took its first step when it was made; only the first of them shall.
        for group in optimizer.param_groups:
            assign(group, group["initial_lr"])
        self.recursive_undo()
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: LRScheduler | None = None) -> None:
        """Take back the first step of a schedule, or of all that it is made of."""
        scheduler = self if sched is None else sched
        if hasattr(scheduler, "_schedulers"):
            for each in scheduler._schedulers:
                self.recursive_undo(each)
        elif hasattr(scheduler, "last_epoch"):
            scheduler.last_epoch -= 1

    def step(self) -> None:  # type: ignore[override]
        """Step the schedule whose turn it is."""
        self.last_epoch += 1
        index = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[index]
        if index > 0 and self._milestones[index - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_ComposedLR):
    """Run several schedules at once: each changes the rates that the others left.

    Args:
        schedulers: The schedules, all of one optimiser.
        optimizer: Their optimiser. Default: that of the first.

    Example:
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.ChainedScheduler(
        ...     [
        ...         torch.optim.lr_scheduler.ConstantLR(optimizer, 0.5, total_iters=2),
        ...         torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9),
        ...     ]
        ... )
        >>> rates = []
        >>> for _ in range(6):
        ...     rates.append(round(scheduler.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [0.5, 0.45, 0.81, 0.729, 0.6561, 0.5905]

    See also:
        `optim.lr_scheduler.SequentialLR`.
    """

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        self._fb_adopt(schedulers, optimizer)
        self._last_lr = current(self.optimizer)

    def step(self) -> None:  # type: ignore[override]
        """Step every schedule."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = current(self.optimizer)
