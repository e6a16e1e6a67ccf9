"""RAdam: Adam that waits until its averages are long enough."""

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
    scalar_zero,
    shrunk,
    step_of,
    to_scalar,
)
from flambeau.optim.adam import follow_moments
from flambeau.optim.optimizer import Optimizer, ParamsT

__all__ = ["RAdam"]


class RAdam(Optimizer):
    """Rectified Adam: scales steps only once the average of squares is reliable.

    The first steps follow the average of gradients alone.

    Args:
        params: Parameters to optimise: tensors, pairs of name and tensor, or dicts, each a group
            with options of its own (see `optim.Optimizer`).
        lr: Learning rate. Default: 1e-3.
        betas: Decay rates of the averages of gradient and squared gradient.
            Default: (0.9, 0.999).
        eps: Added to the denominator. Default: 1e-8.
        weight_decay: L2 penalty, added to the gradient. Default: 0.
        decoupled_weight_decay: Whether weight decay shrinks the parameters, as in `optim.AdamW`.
            Default: False.
        foreach: Accepted; every step is one native pass. Default: None.
        maximize: Whether to maximise the objective. Default: False.
        capturable: For graphs of an accelerator; refused on the CPU. Default: False.
        differentiable: Whether gradients can flow through a step. Default: False.

    Example:
        >>> w = torch.tensor([3.0, -2.0], requires_grad=True)
        >>> optimizer = torch.optim.RAdam([w], lr=0.1)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([ 2.4000, -1.6000])

    See also:
        `optim.Adam`.
    """

    _fb_later_options = LATER_OPTIONS | {"decoupled_weight_decay": False}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
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
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    @stepping_by(_C._optim.radam)
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by their gradients; a closure computes these and the loss first."""

    def _fb_init_state(self, param: Tensor, group: dict[str, Any]) -> None:
        state = self.state[param]
        state["step"] = scalar_zero(group)
        state["exp_avg"] = fb.zeros_like(param, requires_grad=False)
        state["exp_avg_sq"] = fb.zeros_like(param, requires_grad=False)

    def _fb_update(
        self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> Tensor:
        lr, (beta1, beta2) = to_scalar(group["lr"]), group["betas"]
        steps = step_of(state)
        param, grad = shrunk(param, grad, group)
        average, square = follow_moments(grad, state, beta1, beta2)
        change = average / (1 - beta1**steps) * lr
        # The length of the average of squares, in steps that count fully: at most and now.
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * steps * beta2**steps / (1 - beta2**steps)
        if length > 5.0:
            scale = square.sqrt().add(group["eps"]).reciprocal() * (1 - beta2**steps) ** 0.5
            share = (length - 4) * (length - 2) * longest
            change = change * scale * (share / ((longest - 4) * (longest - 2) * length)) ** 0.5
        return param.sub(change)
