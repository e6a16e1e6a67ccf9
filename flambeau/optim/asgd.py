"""Averaged stochastic gradient descent."""

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
    scalar_dtype,
    scalar_zero,
    to_scalar,
)
from flambeau.optim.optimizer import Optimizer, ParamsT

__all__ = ["ASGD"]


class ASGD(Optimizer):
    """Averaged stochastic gradient descent.

    The steps shorten as lr / (1 + lambd lr t)^alpha; `optimizer.state[param]["ax"]` is the average
    of the parameter from step `t0` on.

    Args:
        params: Parameters to optimise: tensors, pairs of name and tensor, or dicts, each a group
            with options of its own (see `optim.Optimizer`).
        lr: Learning rate. Default: 0.01.
        lambd: Decay of steps and parameters. Default: 1e-4.
        alpha: Exponent of the decay of steps. Default: 0.75.
        t0: Step at which averaging begins. Default: 1e6.
        weight_decay: L2 penalty, added to the gradient. Default: 0.
        foreach: Accepted; every step is one native pass. Default: None.
        maximize: Whether to maximise the objective. Default: False.
        differentiable: Whether gradients can flow through a step. Default: False.
        capturable: For graphs of an accelerator; refused on the CPU. Default: False.

    Example:
        >>> w = torch.tensor([3.0, -2.0], requires_grad=True)
        >>> optimizer = torch.optim.ASGD([w], lr=0.1)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([ 2.4000, -1.6000])

    See also:
        `optim.swa_utils.AveragedModel`.
    """

    _fb_later_options = LATER_OPTIONS

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_range(weight_decay >= 0.0, "weight_decay value", weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    @stepping_by(_C._optim.asgd)
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by their gradients; a closure computes these and the loss first."""

    def _fb_init_state(self, param: Tensor, group: dict[str, Any]) -> None:
        state = self.state[param]
        state["step"] = scalar_zero(group)
        lr = number(to_scalar(group["lr"]))
        state["eta"] = fb.tensor(float(lr), dtype=scalar_dtype())
        state["mu"] = fb.ones((), dtype=scalar_dtype())
        state["ax"] = fb.zeros_like(param, requires_grad=False)

    def _fb_update(
        self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> Tensor:
        lr, lambd = to_scalar(group["lr"]), group["lambd"]
        state["step"] += 1
        steps, eta, mu = (state[name].item() for name in ("step", "eta", "mu"))
        grad = decayed(param, grad, group)
        param = param.mul(1 - lambd * eta).add(grad, alpha=-eta)
        average = state["ax"].add(param.sub(state["ax"]).mul(mu)) if mu != 1 else param
        state["ax"].copy_(average)
        state["eta"].copy_(fb.as_tensor(lr / (1 + lambd * lr * steps) ** group["alpha"]))
        state["mu"].copy_(fb.as_tensor(1 / max(1, steps - group["t0"])))
        return param
