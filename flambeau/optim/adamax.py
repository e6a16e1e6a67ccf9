"""Adamax: steps measured by the largest gradient of late."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor
from flambeau.optim._hooks import stepping_by
from flambeau.optim._options import (
    LATER_OPTIONS,
    check_betas,
    check_lr,
    check_range,
    decayed,
    number,
    scalar_zero,
    step_of,
    to_scalar,
)
from flambeau.optim.optimizer import Optimizer, ParamsT

__all__ = ["Adamax"]


class Adamax(Optimizer):
    """Adamax: Adam with the largest gradient in place of the mean square.

    m = beta1 m + (1 - beta1) g
    u = max(beta2 u, |g| + eps)
    w = w - lr / (1 - beta1^t) m / u

    where g is the gradient, w the parameter and t the number of the step.

    Args:
        params: Parameters to optimise: tensors, pairs of name and tensor, or dicts, each a group
            with options of its own (see `optim.Optimizer`).
        lr: Learning rate. Default: 2e-3.
        betas: Decay rates of the averages of gradient and largest gradient.
            Default: (0.9, 0.999).
        eps: Added to the denominator. Default: 1e-8.
        weight_decay: L2 penalty, added to the gradient. Default: 0.
        foreach: Accepted; every step is one native pass. Default: None.
        maximize: Whether to maximise the objective. Default: False.
        differentiable: Whether gradients can flow through a step. Default: False.
        capturable: For graphs of an accelerator; refused on the CPU. Default: False.

    Example:
        >>> w = torch.tensor([3.0, -2.0], requires_grad=True)
        >>> optimizer = torch.optim.Adamax([w], lr=0.1)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([ 2.9000, -1.9000])

    See also:
        `optim.Adam`.
    """

    _fb_later_options = LATER_OPTIONS

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_range(eps >= 0.0, "epsilon value", eps)
        check_betas(betas)
        check_range(weight_decay >= 0.0, "weight_decay value", weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    @stepping_by(_C._optim.adamax)
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by their gradients; a closure computes these and the loss first."""

    def _fb_init_state(self, param: Tensor, group: dict[str, Any]) -> None:
        state = self.state[param]
        state["step"] = scalar_zero(group)
        state["exp_avg"] = fb.zeros_like(param, requires_grad=False)
        state["exp_inf"] = fb.zeros_like(param, requires_grad=False)

    def _fb_update(
        self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> Tensor:
        lr, (beta1, beta2) = to_scalar(group["lr"]), group["betas"]
        steps = step_of(state)
        grad = decayed(param, grad, group)
        average = state["exp_avg"].lerp(grad, 1 - beta1)
        largest = fb.maximum(state["exp_inf"].mul(beta2), grad.abs().add(group["eps"]))
        state["exp_avg"].copy_(average)
        state["exp_inf"].copy_(largest)
        rate = number(lr / (1 - beta1**steps))
        return param.addcdiv(average, largest, value=-rate)
