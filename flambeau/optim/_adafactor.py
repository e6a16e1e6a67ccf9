"""Adafactor: steps scaled by a second moment of which only row and column means are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import flambeau as fb
from flambeau import _C, Tensor
from flambeau.optim._options import number, scalar_zero
from flambeau.optim.optimizer import Optimizer, ParamsT

__all__ = ["Adafactor"]


class Adafactor(Optimizer):
    """Adafactor: Adam-like steps with a factored second moment, which needs little memory.

    Matrices keep the mean squares of their rows and columns only; steps are clipped and relative
    to the size of the parameter.

    Args:
        params: Parameters to optimise: tensors, pairs of name and tensor, or dicts, each a group
            with options of its own (see `optim.Optimizer`).
        lr: Largest relative step. Default: 0.01.
        beta2_decay: Exponent of the decay rate of averages. Default: -0.8.
        eps: Smallest mean square, and smallest size of a parameter. Default: (None, 1e-3), where
            None is the precision of the type.
        d: Largest root mean square of a step. Default: 1.
        weight_decay: Share of a parameter that a step with lr = 1 would remove. Default: 0.
        foreach: Accepted; every step is one native pass. Default: None.
        maximize: Whether to maximise the objective. Default: False.

    Example:
        >>> w = torch.ones(4, 3, requires_grad=True)
        >>> optimizer = torch.optim.Adafactor([w], lr=0.1)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> bool((w < 1).all())
        True

    See also:
        `optim.AdamW`.
    """

    _fb_later_options: ClassVar[dict[str, Any]] = {
        "foreach": None,
    }

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

    @fb.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Make one step; returns what `closure`, called before it, returns."""
        loss = None
        if closure is not None:
            with fb.enable_grad():
                loss = closure()
        for group in self.param_groups:
            self._fb_step_group(group)
        return loss

    def _fb_step_group(self, group: dict[str, Any]) -> None:
        params = [p for p in group["params"] if p.grad is not None]
        grads = [p.grad for p in params]
        states = [self._fb_state_of(p, g, group) for p, g in zip(params, grads, strict=True)]
        eps1, eps2 = group["eps"]
        _C._adafactor_step(
            params,
            grads,
            [state["row_var" if "row_var" in state else "variance"] for state in states],
            [state["col_var" if "row_var" in state else "variance"] for state in states],
            [state["step"] for state in states],
            number(group["lr"]),
            group["beta2_decay"],
            eps1,
            eps2,
            group["d"],
            group["weight_decay"],
            group["maximize"],
        )

    def _fb_state_of(self, param: Tensor, grad: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """The state of a parameter, begun with its first gradient."""
        if fb.is_complex(param):
            raise RuntimeError("Adafactor does not support complex parameters")
        if grad.is_sparse:
            raise RuntimeError("Adafactor does not support sparse gradients")
        state: dict[str, Any] = self.state[param]
        if state:
            return state
        state["step"] = scalar_zero(group)
        if grad.dim() > 1:
            state["row_var"] = grad.new_zeros((*grad.shape[:-1], 1))
            state["col_var"] = grad.new_zeros((*grad.shape[:-2], 1, grad.shape[-1]))
        else:
            state["variance"] = fb.zeros_like(grad)
        return state
