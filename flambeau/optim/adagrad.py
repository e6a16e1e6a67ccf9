"""Adagrad: steps measured by the sum of all squares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import flambeau as fb
from flambeau import _C, Tensor
from flambeau.optim._hooks import stepping_by
from flambeau.optim._options import (
    check_fused,
    check_fused_param,
    check_lr,
    check_range,
    decayed,
    number,
    scalar_zero,
    step_of,
    to_scalar,
)
from flambeau.optim.optimizer import Optimizer, ParamsT

__all__ = ["Adagrad"]


class Adagrad(Optimizer):
    """Adagrad: steps divided by the root of the sum of all squared gradients.

    s = s + g^2
    w = w - lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps)

    where g is the gradient, w the parameter and t the number of the step.

    Args:
        params: Parameters to optimise: tensors, pairs of name and tensor, or dicts, each a group
            with options of its own (see `optim.Optimizer`).
        lr: Learning rate. Default: 0.01.
        lr_decay: Decay of the learning rate. Default: 0.
        weight_decay: L2 penalty, added to the gradient. Default: 0.
        initial_accumulator_value: What the sum starts with. Default: 0.
        eps: Added to the denominator. Default: 1e-10.
        foreach: Accepted; every step is one native pass. Default: None.
        maximize: Whether to maximise the objective. Default: False.
        differentiable: Whether gradients can flow through a step. Default: False.
        fused: Accepted; every step is one native pass. Default: None.

    Example:
        >>> w = torch.tensor([3.0, -2.0], requires_grad=True)
        >>> optimizer = torch.optim.Adagrad([w], lr=0.1)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([ 2.9000, -1.9000])

    See also:
        `optim.Adadelta`, `optim.RMSprop`.
    """

    _fb_later_options: ClassVar[dict[str, Any]] = {
        "foreach": None,
        "maximize": False,
        "differentiable": False,
        "fused": None,
    }

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check_range(lr_decay >= 0.0, "lr_decay value", lr_decay)
        check_range(weight_decay >= 0.0, "weight_decay value", weight_decay)
        check_range(
            initial_accumulator_value >= 0.0,
            "initial_accumulator_value value",
            initial_accumulator_value,
        )
        check_range(eps >= 0.0, "epsilon value", eps)
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "eps": eps,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        check_fused(self, fused, foreach, differentiable)
        for group in self.param_groups:
            for param in group["params"]:
                self._fb_init_state(param, group)

    def share_memory(self) -> None:
        """Move the sums to memory that other processes see."""
        for group in self.param_groups:
            for param in group["params"]:
                self.state[param]["sum"].share_memory_()

    @stepping_by(_C._optim.adagrad)
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by their gradients; a closure computes these and the loss first."""

    def _fb_init_state(self, param: Tensor, group: dict[str, Any]) -> None:
        check_fused_param(param, group)
        state = self.state[param]
        state["step"] = scalar_zero(group)

        first = self.defaults["initial_accumulator_value"]
        value = complex(first, first) if param.is_complex() else first
        state["sum"] = fb.full_like(param, value, requires_grad=False)

    def _fb_step_one(self, param: Tensor, grad: Tensor, group: dict[str, Any]) -> None:
        if grad.is_sparse:
            _step_rows(param, grad, self.state[param], group)
        else:
            super()._fb_step_one(param, grad, group)

    def _fb_update(
        self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> Tensor:
        rate = _rate(state, group)
        grad = decayed(param, grad, group)
        total = state["sum"].addcmul(grad, grad, value=1)
        state["sum"].copy_(total)
        return param.addcdiv(grad, total.sqrt().add(group["eps"]), value=-rate)


def _rate(state: dict[str, Any], group: dict[str, Any]) -> float:
    """Count a step, and return how far it goes."""
    steps = step_of(state)
    rate: float = number(to_scalar(group["lr"]) / (1 + (steps - 1) * group["lr_decay"]))
    return rate


def _step_rows(param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
    """Take a step with those rows of a parameter that its sparse gradient has."""
    rate = _rate(state, group)
    if group["weight_decay"] != 0:
        raise RuntimeError("weight_decay option is not compatible with sparse gradients")
    _C._sparse_adagrad_(param, state["sum"], grad, rate, group["eps"], group["maximize"])
