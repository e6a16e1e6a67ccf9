"""Adadelta: steps as large as past steps were for past gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor
from flambeau.optim._hooks import stepping_by
from flambeau.optim._options import (
    LATER_OPTIONS,
    check_lr,
    check_range,
    decayed,
    number,
    scalar_zero,
    to_scalar,
)
from flambeau.optim.optimizer import Optimizer, ParamsT

__all__ = ["Adadelta"]


class Adadelta(Optimizer):
    """Adadelta: steps of the size of past steps, relative to past gradients.

    v = rho v + (1 - rho) g^2
    d = g sqrt(u + eps) / sqrt(v + eps)
    u = rho u + (1 - rho) d^2
    w = w - lr d

    where g is the gradient and w the parameter.

    Args:
        params: Parameters to optimise: tensors, pairs of name and tensor, or dicts, each a group
            with options of its own (see `optim.Optimizer`).
        lr: Learning rate. Default: 1.
        rho: Decay rate of both averages. Default: 0.9.
        eps: Added to the denominator. Default: 1e-6.
        weight_decay: L2 penalty, added to the gradient. Default: 0.
        foreach: Accepted; every step is one native pass. Default: None.
        capturable: For graphs of an accelerator; refused on the CPU. Default: False.
        maximize: Whether to maximise the objective. Default: False.
        differentiable: Whether gradients can flow through a step. Default: False.

    Example:
        >>> w = torch.tensor([3.0, -2.0], requires_grad=True)
        >>> optimizer = torch.optim.Adadelta([w], lr=0.1)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([ 2.9997, -1.9997])

    See also:
        `optim.RMSprop`.
    """

    _fb_later_options = LATER_OPTIONS

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_range(0.0 <= rho <= 1.0, "rho value", rho)
        check_range(eps >= 0.0, "epsilon value", eps)
        check_range(weight_decay >= 0.0, "weight_decay value", weight_decay)
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "capturable": capturable,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    @stepping_by(_C._optim.adadelta)
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by their gradients; a closure computes these and the loss first."""

    def _fb_init_state(self, param: Tensor, group: dict[str, Any]) -> None:
        state = self.state[param]
        state["step"] = scalar_zero(group)
        state["square_avg"] = fb.zeros_like(param, requires_grad=False)
        state["acc_delta"] = fb.zeros_like(param, requires_grad=False)

    def _fb_update(
        self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> Tensor:
        rho, eps = group["rho"], group["eps"]
        state["step"] += 1
        grad = decayed(param, grad, group)
        square = state["square_avg"].mul(rho).addcmul(grad, grad, value=1 - rho)
        change = state["acc_delta"].add(eps).sqrt().div(square.add(eps).sqrt()).mul(grad)
        changes = state["acc_delta"].mul(rho).addcmul(change, change, value=1 - rho)
        state["square_avg"].copy_(square)
        state["acc_delta"].copy_(changes)
        return param.add(change, alpha=-number(to_scalar(group["lr"])))
