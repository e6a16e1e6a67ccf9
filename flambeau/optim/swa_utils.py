"""Averages of the weights that a model had during training: equal (SWA) or exponential (EMA)."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import flambeau as fb
from flambeau import _C, Tensor
from flambeau.nn import Module
from flambeau.nn.modules.batchnorm import _BatchNorm
from flambeau.optim.lr_scheduler.scheduler import LRScheduler, Rate, per_group
from flambeau.optim.optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

Tensors = Sequence[Tensor]
Average = Callable[[Tensor, Tensor, Tensor], Tensor]
MultiAverage = Callable[[Tensors, Tensors, Tensor], None]


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay}: expected one in [0, 1]")


def get_ema_multi_avg_fn(decay: float = 0.999) -> MultiAverage:
    """Exponential moving average, for `multi_avg_fn` of `AveragedModel`.

    average = decay average + (1 - decay) value

    Args:
        decay: Share of the average that is kept, from 0 to 1. Default: 0.999.

    Example:
        >>> from flambeau.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
        >>> model = nn.Linear(1, 1, bias=False)
        >>> average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.5))
        >>> for value in (1.0, 3.0):
        ...     _ = nn.init.constant_(model.weight, value)
        ...     average.update_parameters(model)
        >>> average.module.weight.item()
        2.0
    """
    _check_decay(decay)

    @fb.no_grad()
    def ema_update(averages: Tensors, values: Tensors, num_averaged: Tensor | int) -> None:
        if _interpolates(averages):
            _C._lerp_all(averages, values, 1 - decay)
            return
        for average, value in zip(averages, values, strict=True):
            average.copy_(average * decay + value * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> MultiAverage:
    """Equal average, for `multi_avg_fn` of `AveragedModel`: all tensors in one native pass.

    Example:
        >>> from flambeau.optim.swa_utils import AveragedModel, get_swa_multi_avg_fn
        >>> average = AveragedModel(nn.Linear(1, 1), multi_avg_fn=get_swa_multi_avg_fn())
    """

    @fb.no_grad()
    def swa_update(averages: Tensors, values: Tensors, num_averaged: Tensor | int) -> None:
        count = int(num_averaged) + 1
        if _interpolates(averages):
            _C._lerp_all(averages, values, 1 / count)
            return
        for average, value in zip(averages, values, strict=True):
            average.copy_(average + (value - average) / count)

    return swa_update


def _interpolates(tensors: Tensors) -> bool:
    return fb.is_floating_point(tensors[0]) or fb.is_complex(tensors[0])


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """Exponential moving average of one tensor, for `avg_fn` of `AveragedModel`.

    Args:
        decay: Share of the average that is kept, from 0 to 1. Default: 0.999.

    Example:
        >>> average = torch.optim.swa_utils.get_ema_avg_fn(0.5)
        >>> average(torch.tensor(1.0), torch.tensor(3.0), 1)
        tensor(2.)
    """
    _check_decay(decay)

    @fb.no_grad()
    def ema_update(average: Tensor, value: Tensor, num_averaged: Tensor | int) -> Tensor:
        return decay * average + (1 - decay) * value

    return ema_update


def get_swa_avg_fn() -> Average:
    """Equal average of one tensor, for `avg_fn` of `AveragedModel`.

    Example:
        >>> average = torch.optim.swa_utils.get_swa_avg_fn()
        >>> average(torch.tensor(1.0), torch.tensor(4.0), torch.tensor(2))
        tensor(2.)
    """

    @fb.no_grad()
    def swa_update(average: Tensor, value: Tensor, num_averaged: Tensor | int) -> Tensor:
        return average + (value - average) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    """Copy of a model whose parameters are an average of the model's over time.

    Args:
        model: Model to average.
        device: Where the copy lives. Default: where the model is.
        avg_fn: Function of average, new value and count, which gives the new average of a tensor.
            Default: the equal average.
        multi_avg_fn: The same for lists of tensors, in place; as `get_ema_multi_avg_fn(0.999)`.
        use_buffers: Whether buffers are averaged too, instead of copied. Default: False.

    Example:
        >>> model = nn.Linear(1, 1, bias=False)
        >>> average = torch.optim.swa_utils.AveragedModel(model)
        >>> for value in (1.0, 2.0, 3.0):
        ...     _ = nn.init.constant_(model.weight, value)
        ...     average.update_parameters(model)
        >>> average.module.weight.item()
        2.0

    See also:
        `optim.swa_utils.update_bn`, `optim.swa_utils.SWALR`.
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: int | fb.device | None = None,
        avg_fn: Average | None = None,
        multi_avg_fn: MultiAverage | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module: Module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", fb.tensor(0, dtype=fb.long, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    @fb.no_grad()
    def update_parameters(self, model: Module) -> None:
        """Take the current parameters of `model` into the average; the first call copies them."""
        averages, values = self._fb_averaged(self.module), self._fb_averaged(model)
        pairs = list(zip(averages, values, strict=False))
        if self.n_averaged == 0:
            _copy(pairs)
        elif self.avg_fn is not None:
            for average, value in pairs:
                count = self.n_averaged.to(average.device)
                average.copy_(self.avg_fn(average, value.to(average.device), count))
        else:
            self._fb_average_lists(pairs)
        if not self.use_buffers:
            _copy(zip(self.module.buffers(), model.buffers(), strict=True))
        self.n_averaged += 1

    def _fb_averaged(self, model: Module) -> list[Tensor]:
        tensors: list[Tensor] = [p.detach() for p in model.parameters()]
        return tensors + list(model.buffers()) if self.use_buffers else tensors

    def _fb_average_lists(self, pairs: list[tuple[Tensor, Tensor]]) -> None:
        lists: dict[Any, tuple[list[Tensor], list[Tensor]]] = {}
        for average, value in pairs:
            kind = average.device, average.dtype
            averages, values = lists.setdefault(kind, ([], []))
            averages.append(average)
            values.append(value.to(*kind))
        update = self.multi_avg_fn or get_swa_multi_avg_fn()
        for (device, _), (averages, values) in lists.items():
            update(averages, values, self.n_averaged.to(device))


def _copy(pairs: Iterable[tuple[Tensor, Tensor]]) -> None:
    for target, source in pairs:
        target.copy_(source)


@fb.no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: int | fb.device | None = None) -> None:
    """Recompute the running statistics of the batch normalisations of a model.

    Args:
        loader: Batches; of a list or tuple the first item is the input.
        model: Model to update.
        device: Where batches are moved to. Default: nowhere.

    Example:
        >>> model = nn.BatchNorm1d(2)
        >>> torch.optim.swa_utils.update_bn([torch.ones(4, 2)], model)
        >>> model.running_mean
        tensor([1., 1.])
    """
    layers = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    if not layers:
        return
    momenta = [layer.momentum for layer in layers]
    was_training = model.training
    model.train()
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None  # the plain average of all batches
    for batch in loader:
        inputs = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(inputs if device is None else inputs.to(device))
    for layer, momentum in zip(layers, momenta, strict=True):
        layer.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Anneal the learning rate of each group to a constant, for stochastic weight averaging.

    Args:
        optimizer: Optimiser whose learning rates are set.
        swa_lr: Learning rate at the end, one number or one per group.
        anneal_epochs: Number of epochs to get there. Default: 10.
        anneal_strategy: `"cos"` (the default) or `"linear"`.
        last_epoch: Epoch to continue after; -1 starts anew. Default: -1.

    Example:
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = torch.optim.swa_utils.SWALR(optimizer, swa_lr=0.05, anneal_epochs=2)
        >>> for _ in range(3):
        ...     optimizer.step()
        ...     scheduler.step()
        >>> scheduler.get_last_lr()
        [0.05]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | Sequence[float],
        anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ) -> None:
        rates = per_group("swa_lr", optimizer, swa_lr)
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', but got {anneal_strategy!r}"
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be an integer of 0 or more, got {anneal_epochs}")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, t: float) -> float:
        """How much of the way is done after the share `t` of the epochs."""
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def get_lr(self) -> list[Rate]:
        self._fb_advise_last_lr()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._fb_done(step - 1), self._fb_done(step)
        groups = self.optimizer.param_groups
        return [
            group["swa_lr"] * now + _start(group["lr"], group["swa_lr"], before) * (1 - now)
            for group in groups
        ]

    def _fb_done(self, step: int) -> float:
        return self.anneal_func(max(0, min(1, step / max(1, self.anneal_epochs))))


def _start(rate: Rate, swa_rate: Rate, done: float) -> Rate:
    """The rate from which the annealing, `done` of it, has come to `rate`."""
    return swa_rate if done == 1 else (rate - done * swa_rate) / (1 - done)
