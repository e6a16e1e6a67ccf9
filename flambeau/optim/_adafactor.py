"""Adafactor: steps scaled by a second moment of which only row and column means are kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.optim._options import complete_groups, scalar_zero, step_of, to_scalar
from flambeau.optim.optimizer import Optimizer, ParamsT

__all__ = ["Adafactor"]


class Adafactor(Optimizer):
    """Adafactor of Shazeer and Stern, with `lr` as the greatest relative step and for the decay.

    The second moment of a parameter of two dimensions or more is a product of a column and a row;
    `beta2_decay` is the power of the step with which its mean forgets, `d` bounds the update.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        bounds = {
            "Learning rate should be >= 0": (lr, lr >= 0.0),
            "beta2_decay should be <= 0": (beta2_decay, beta2_decay <= 0.0),
            "epsilon1 should be >= 0": (eps[0], eps[0] is None or eps[0] >= 0.0),
            "epsilon2 should be >= 0": (eps[1], eps[1] >= 0.0),
            "Clipping threshold d should be >= 1": (d, d >= 1.0),
            "weight_decay should be >= 0": (weight_decay, weight_decay >= 0.0),
        }
        for demand, (value, holds) in bounds.items():
            if not holds:
                raise ValueError(f"{demand} but is: {value}")
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        complete_groups(self, foreach=None)

    @fb.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Make one step; returns what `closure`, called before it, returns."""
        loss = None
        if closure is not None:
            with fb.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self._step(p, -p.grad if group["maximize"] else p.grad, group)
        return loss

    def _step(self, param: Tensor, grad: Tensor, group: dict[str, Any]) -> None:
        if fb.is_complex(param):
            raise RuntimeError("Adafactor does not support complex parameters")
        if grad.is_sparse:
            raise RuntimeError("Adafactor does not support sparse gradients")
        eps1, eps2 = group["eps"]
        if eps1 is None:
            eps1 = fb.finfo(param.dtype).eps
        lr = to_scalar(group["lr"])
        state = self.state[param] or self._begin(param, grad, group)
        step = step_of(state)
        length = max(eps2, _rms(param)) * min(lr, 1 / step**0.5)
        if group["weight_decay"] != 0:
            param.mul_(1 - lr * group["weight_decay"])
        update = _second_moment(state, grad, step ** group["beta2_decay"], eps1)
        update.clamp_(min=eps1 * eps1).rsqrt_().mul_(grad)
        param.add_(update, alpha=-length / max(1.0, _rms(update) / group["d"]))

    def _begin(self, param: Tensor, grad: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        state: dict[str, Any] = self.state[param]
        state["step"] = scalar_zero(group)
        if grad.dim() > 1:
            state["row_var"] = fb.zeros_like(grad[..., :1])
            state["col_var"] = fb.zeros_like(grad[..., :1, :])
        else:
            state["variance"] = fb.zeros_like(grad)
        return state


def _rms(tensor: Tensor) -> float:
    return float(tensor.norm(2)) / math.sqrt(tensor.numel())


def _second_moment(state: dict[str, Any], grad: Tensor, weight: float, eps: float) -> Tensor:
    """The second moment after this gradient, as a new tensor."""
    if grad.dim() < 2:
        variance: Tensor = state["variance"].lerp_(grad * grad, weight)
        return variance.clone()
    rows = grad.norm(dim=-1, keepdim=True).square_().div_(grad.size(-1))
    columns = grad.norm(dim=-2, keepdim=True).square_().div_(grad.size(-2))
    row_var: Tensor = state["row_var"].lerp_(rows, weight)
    col_var: Tensor = state["col_var"].lerp_(columns, weight)
    return (row_var @ col_var).div_(row_var.mean(dim=-2, keepdim=True).clamp_(min=eps))
