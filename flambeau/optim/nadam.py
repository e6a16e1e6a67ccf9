"""NAdam: Adam with Nesterov's momentum."""

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
    number,
    scalar_dtype,
    scalar_zero,
    shrunk,
    step_of,
    to_scalar,
)
from flambeau.optim.adam import follow_moments
from flambeau.optim.optimizer import Optimizer, ParamsT

__all__ = ["NAdam"]


class NAdam(Optimizer):
    """Adam with Nesterov momentum.

    The average of gradients is taken one step ahead; its weight grows as
    beta1 (1 - 0.5 × 0.96^(t momentum_decay)).

    Args:
        params: Parameters to optimise: tensors, pairs of name and tensor, or dicts, each a group
            with options of its own (see `optim.Optimizer`).
        lr: Learning rate. Default: 2e-3.
        betas: Decay rates of the averages of gradient and squared gradient.
            Default: (0.9, 0.999).
        eps: Added to the denominator. Default: 1e-8.
        weight_decay: L2 penalty, added to the gradient. Default: 0.
        momentum_decay: How soon the momentum is complete. Default: 4e-3.
        decoupled_weight_decay: Whether weight decay shrinks the parameters, as in `optim.AdamW`.
            Default: False.
        foreach: Accepted; every step is one native pass. Default: None.
        maximize: Whether to maximise the objective. Default: False.
        capturable: For graphs of an accelerator; refused on the CPU. Default: False.
        differentiable: Whether gradients can flow through a step. Default: False.

    Example:
        >>> w = torch.tensor([3.0, -2.0], requires_grad=True)
        >>> optimizer = torch.optim.NAdam([w], lr=0.1)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([ 2.8944, -1.8944])

    See also:
        `optim.Adam`.
    """

    _fb_later_options = LATER_OPTIONS | {"decoupled_weight_decay": False}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_range(eps >= 0.0, "epsilon value", eps)
        check_betas(betas)
        check_range(weight_decay >= 0.0, "weight_decay value", weight_decay)
        check_range(momentum_decay >= 0.0, "momentum_decay value", momentum_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    @stepping_by(_C._optim.nadam)
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by their gradients; a closure computes these and the loss first."""

    def _fb_init_state(self, param: Tensor, group: dict[str, Any]) -> None:
        state = self.state[param]
        state["step"] = scalar_zero(group)
        state["mu_product"] = fb.ones((), dtype=scalar_dtype())
        state["exp_avg"] = fb.zeros_like(param, requires_grad=False)
        state["exp_avg_sq"] = fb.zeros_like(param, requires_grad=False)

    def _fb_update(
        self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> Tensor:
        lr, (beta1, beta2) = to_scalar(group["lr"]), group["betas"]
        steps = step_of(state)
        mu, mu_next = (
            beta1 * (1.0 - 0.5 * 0.96 ** (step * group["momentum_decay"]))
            for step in (steps, steps + 1)
        )
        state["mu_product"] *= mu
        is_recorded = group["differentiable"]
        product = state["mu_product"].item()
        param, grad = shrunk(param, grad, group)
        average, square = follow_moments(grad, state, beta1, beta2)
        scale = square.div(1 - beta2**steps).sqrt().add(group["eps"])
        of_grad = -lr * (1.0 - mu) / (1.0 - product)
        of_average = -lr * mu_next / (1.0 - product * mu_next)
        if is_recorded:
            return param.addcdiv(grad * of_grad, scale).addcdiv(average * of_average, scale)
        param = param.addcdiv(grad, scale, value=number(of_grad))
        return param.addcdiv(average, scale, value=number(of_average))
