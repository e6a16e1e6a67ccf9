"""RMSprop: steps measured by a running average of squares."""

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

__all__ = ["RMSprop"]


class RMSprop(Optimizer):
    """RMSprop: steps divided by the root of a running average of squared gradients.

    v = alpha v + (1 - alpha) g^2
    w = w - lr g / (sqrt(v) + eps)

    where g is the gradient and w the parameter.

    Args:
        params: Parameters to optimise: tensors, pairs of name and tensor, or dicts, each a group
            with options of its own (see `optim.Optimizer`).
        lr: Learning rate. Default: 0.01.
        alpha: Decay rate of the average. Default: 0.99.
        eps: Added to the denominator. Default: 1e-8.
        weight_decay: L2 penalty, added to the gradient. Default: 0.
        momentum: Share of past steps that is kept. Default: 0.
        centered: Whether to divide by the root of the variance instead. Default: False.
        capturable: For graphs of an accelerator; refused on the CPU. Default: False.
        foreach: Accepted; every step is one native pass. Default: None.
        maximize: Whether to maximise the objective. Default: False.
        differentiable: Whether gradients can flow through a step. Default: False.

    Example:
        >>> w = torch.tensor([3.0, -2.0], requires_grad=True)
        >>> optimizer = torch.optim.RMSprop([w], lr=0.1)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([ 2.0000, -1.0000])

    See also:
        `optim.Adam`, `optim.Adagrad`.
    """

    _fb_later_options = LATER_OPTIONS | {"momentum": 0, "centered": False}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_range(eps >= 0.0, "epsilon value", eps)
        check_range(momentum >= 0.0, "momentum value", momentum)
        check_range(weight_decay >= 0.0, "weight_decay value", weight_decay)
        check_range(alpha >= 0.0, "alpha value", alpha)
        defaults = {
            "lr": lr,
            "alpha": alpha,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "centered": centered,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    @stepping_by(_C._optim.rmsprop)
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by their gradients; a closure computes these and the loss first."""

    def _fb_init_state(self, param: Tensor, group: dict[str, Any]) -> None:
        state = self.state[param]
        state["step"] = scalar_zero(group)
        state["square_avg"] = fb.zeros_like(param, requires_grad=False)
        if group["momentum"] > 0:
            state["momentum_buffer"] = fb.zeros_like(param, requires_grad=False)
        if group["centered"]:
            state["grad_avg"] = fb.zeros_like(param, requires_grad=False)

    def _fb_update(
        self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> Tensor:
        lr, alpha = to_scalar(group["lr"]), group["alpha"]
        state["step"] += 1
        grad = decayed(param, grad, group)
        square = state["square_avg"].mul(alpha).addcmul(grad, grad, value=1 - alpha)
        state["square_avg"].copy_(square)
        if group["centered"]:
            average = state["grad_avg"].lerp(grad, 1 - alpha)
            state["grad_avg"].copy_(average)
            square = square.addcmul(average, average, value=-1)
        scale = square.sqrt().add(group["eps"])
        if not group["momentum"] > 0:
            return param.addcdiv(grad, scale, value=-number(lr))
        buffer = state["momentum_buffer"].mul(group["momentum"]).addcdiv(grad, scale)
        state["momentum_buffer"].copy_(buffer)
        return param.add(buffer, alpha=-number(lr))
