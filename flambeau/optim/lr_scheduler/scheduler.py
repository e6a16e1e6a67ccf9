"""The base of all schedules of learning rates: counting steps and writing rates to the groups."""

from __future__ import annotations

import functools
import types
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from flambeau import Tensor
from flambeau.optim.optimizer import Optimizer

__all__ = ["EPOCH_DEPRECATION_WARNING", "LRScheduler"]

Rate = float | Tensor
Group = dict[str, Any]
_Value = TypeVar("_Value")

# Warnings begin in PyTorch's words, by which programs filter them.
EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` is deprecated: it jumps to the closed form of the "
    "schedule where there is one, and ignores what other schedulers did to the rates. Call "
    "`scheduler.step()` instead."
)


def check_optimizer(optimizer: object) -> None:
    """Refuse what a schedule cannot be attached to."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def current(optimizer: Optimizer, key: str = "lr") -> list[Rate]:
    """The value of an option in every group; tensors as copies, which later steps do not change."""
    return [
        value.clone() if isinstance(value := group[key], Tensor) else value
        for group in optimizer.param_groups
    ]


def assign(group: Group, rate: Rate) -> None:
    """Give a group its rate; a rate kept as a tensor stays that tensor and is filled."""
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(rate.squeeze() if isinstance(rate, Tensor) else rate)
    else:
        group["lr"] = rate


def per_group(name: str, optimizer: Optimizer, value: _Value | Sequence[_Value]) -> list[_Value]:
    """One value for every group, from one for all of them or from a list."""
    groups = len(optimizer.param_groups)
    values: list[Any] = list(value) if isinstance(value, (list, tuple)) else [value] * groups
    if len(values) != groups:
        raise ValueError(
            f"{name} must have one value for each of the {groups} parameter groups, "
            f"but has {len(values)}"
        )
    copies: list[Any] = [each.clone() if isinstance(each, Tensor) else each for each in values]
    return copies


def saved_callable(function: Callable[..., Any]) -> dict[str, Any] | None:
    """What a state dict keeps of a function: the attributes of an object, nothing of a def."""
    if isinstance(function, types.FunctionType):
        return None
    return dict(getattr(function, "__dict__", {}))


def restore_callable(function: Callable[..., Any], held: dict[str, Any] | None) -> None:
    """Give an object that is called as a function the attributes that a state dict kept of it."""
    if held:
        function.__dict__.update(held)


def _watch_steps(optimizer: Optimizer) -> None:
    """Have the optimiser note that it stepped, so that a schedule stepped too early is noticed."""
    bound: Any = optimizer.step
    if hasattr(bound, "_wrapped_by_lr_sched"):
        return
    step = bound.__func__
    owner = weakref.ref(optimizer)  # which holds the wrapper: a plain reference would be a cycle

    @functools.wraps(step)
    def noted_step(*args: Any, **kwargs: Any) -> Any:
        stepped = owner()
        stepped._opt_called = True  # type: ignore[union-attr]
        return step(stepped, *args, **kwargs)

    noted_step._wrapped_by_lr_sched = True  # type: ignore[attr-defined]
    optimizer.step = noted_step  # type: ignore[method-assign]


class LRScheduler:
    """Base class of learning rate schedules. A subclass defines `get_lr`.

    Args:
        optimizer: Optimiser whose learning rates are set.
        last_epoch: Epoch to continue after; -1 starts anew. Default: -1.

    Attributes:
        last_epoch: Number of steps so far.
        base_lrs: Initial learning rate of each group.

    Example:
        >>> class Halving(torch.optim.lr_scheduler.LRScheduler):
        ...     def get_lr(self):
        ...         return [lr * 0.5**self.last_epoch for lr in self.base_lrs]
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = Halving(optimizer)
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [0.5]
    """

    optimizer: Optimizer
    base_lrs: list[Rate]
    last_epoch: int
    _last_lr: list[Rate]
    _step_count: int
    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for index, group in enumerate(optimizer.param_groups):
            if last_epoch != -1 and "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{index}], which a "
                    f"schedule resumed at last_epoch={last_epoch} needs: load the state of the "
                    "optimizer first, or leave last_epoch at -1"
                )
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, current(optimizer), strict=True):
                group.setdefault("initial_lr", rate)
        self.base_lrs = current(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _watch_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        """Set the rates of the first epoch."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """Return all that the schedule knows, without its optimiser.

        Example:
            >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
            >>> torch.optim.lr_scheduler.StepLR(optimizer, step_size=3).state_dict()["step_size"]
            3

        See also:
            `LRScheduler.load_state_dict`.
        """
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue where the schedule of a `state_dict` was.

        Args:
            state_dict: What `state_dict` returned.

        Example:
            >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
            >>> scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=3)
            >>> saved = scheduler.state_dict()
            >>> scheduler.load_state_dict(saved | {"last_epoch": 2})
            >>> scheduler.last_epoch
            2
        """
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Rate]:
        """Return the learning rate of each group as the last step set it.

        Example:
            >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
            >>> torch.optim.lr_scheduler.StepLR(optimizer, step_size=3).get_last_lr()
            [1.0]
        """
        return self._last_lr

    def get_lr(self) -> list[Rate]:
        """Return the learning rate of each group at `last_epoch`; `step` calls it."""
        raise NotImplementedError(f"{type(self).__name__} does not define get_lr")

    def step(self, epoch: int | None = None) -> None:
        """Set the learning rates of the next epoch. Call it after `optimizer.step()`.

        Args:
            epoch: Deprecated; epoch to jump to. Default: the next one.

        Example:
            >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
            >>> scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)
            >>> optimizer.step()
            >>> scheduler.step()
            >>> optimizer.param_groups[0]["lr"]
            0.1
        """
        if self._step_count == 1:
            self._fb_check_order()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _fb_check_order(self) -> None:
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            warnings.warn(
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler "
                "initialization, which can no longer see whether it comes before "
                "`lr_scheduler.step()`.",
                UserWarning,
                stacklevel=3,
            )
        elif not getattr(self.optimizer, "_opt_called", False):
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`, by which the "
                "first learning rate of the schedule is skipped. Call `optimizer.step()` first.",
                UserWarning,
                stacklevel=3,
            )

    def _update_lr(self, epoch: int | None = None) -> None:
        """Move to the next epoch, or jump to a given one, and set the rates there."""
        if epoch is None:
            self.last_epoch += 1
            self._fb_set_rates(self.get_lr)
        else:
            self.last_epoch = epoch
            self._fb_set_rates(getattr(self, "_get_closed_form_lr", self.get_lr))

    def _fb_set_rates(self, compute: Callable[[], list[Rate]]) -> None:
        self._get_lr_called_within_step = True
        try:
            rates = compute()
        finally:
            self._get_lr_called_within_step = False
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            assign(group, rate)
        self._last_lr = current(self.optimizer)

    def _fb_advise_last_lr(self) -> None:
        """Warn a caller of `get_lr` who is not `step`: the recursive forms would step twice."""
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`: `get_lr()` computes the next one.",
                UserWarning,
                stacklevel=3,
            )


class _LRScheduler(LRScheduler):
    """The older name of the base class."""
