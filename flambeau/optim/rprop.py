"""Rprop: steps by the sign of the gradient alone."""

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
    number,
    scalar_zero,
    to_scalar,
)
from flambeau.optim.optimizer import Optimizer, ParamsT

__all__ = ["Rprop"]


class Rprop(Optimizer):
    """Resilient backpropagation: only the sign of the gradient counts.

    The step of each element grows while its gradient keeps its sign, and shrinks when it changes.
    Meant for full batches.

    Args:
        params: Parameters to optimise: tensors, pairs of name and tensor, or dicts, each a group
            with options of its own (see `optim.Optimizer`).
        lr: First step. Default: 0.01.
        etas: Factors to shrink and to grow by. Default: (0.5, 1.2).
        step_sizes: Smallest and largest step. Default: (1e-6, 50).
        capturable: For graphs of an accelerator; refused on the CPU. Default: False.
        foreach: Accepted; every step is one native pass. Default: None.
        maximize: Whether to maximise the objective. Default: False.
        differentiable: Whether gradients can flow through a step. Default: False.

    Example:
        >>> w = torch.tensor([3.0, -2.0], requires_grad=True)
        >>> optimizer = torch.optim.Rprop([w], lr=0.1)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([ 2.9000, -1.9000])

    See also:
        `optim.SGD`.
    """

    _fb_later_options = LATER_OPTIONS

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_range(0.0 < etas[0] < 1.0 < etas[1], "eta values", f"{etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    @stepping_by(_C._optim.rprop)
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by their gradients; a closure computes these and the loss first."""

    def _fb_init_state(self, param: Tensor, group: dict[str, Any]) -> None:
        state = self.state[param]
        state["step"] = scalar_zero(group)
        state["prev"] = fb.zeros_like(param, requires_grad=False)
        lr = number(to_scalar(group["lr"]))
        first = complex(lr, lr) if param.is_complex() else lr
        state["step_size"] = fb.full_like(param, first, requires_grad=False)

    def _fb_update(
        self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> Tensor:
        shrink, grow = group["etas"]
        state["step"] += 1
        grad = -grad if group["maximize"] else grad
        agreement = grad.mul(state["prev"].clone()).sign()
        factor = fb.ones_like(grad).masked_fill(agreement > 0, grow)
        factor = factor.masked_fill(agreement < 0, shrink)
        size = state["step_size"].mul(factor).clamp(*group["step_sizes"])
        grad = grad.masked_fill(agreement < 0, 0)
        state["step_size"].copy_(size)
        state["prev"].copy_(grad)
        return param.addcmul(grad.sign(), size, value=-1)
