"""Muon: momentum whose matrices are made orthogonal before the step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.optim._options import to_scalar
from flambeau.optim.optimizer import Optimizer, ParamsT

__all__ = ["Muon"]

Coefficients = tuple[float, float, float]


class Muon(Optimizer):
    """Muon: momentum steps made orthogonal, for the matrices of hidden layers.

    The momentum is replaced by its nearest orthogonal matrix, found by `ns_steps` of a
    Newton-Schulz iteration. Use another optimiser for vectors and embeddings.

    Args:
        params: Parameters to optimise: tensors, pairs of name and tensor, or dicts, each a group
            with options of its own (see `optim.Optimizer`).
        lr: Learning rate. Default: 1e-3.
        weight_decay: Share of a parameter that a step with lr = 1 would remove. Default: 0.1.
        momentum: Share of past gradients that is kept. Default: 0.95.
        nesterov: Whether to look one step ahead. Default: True.
        ns_coefficients: Coefficients of the iteration. Default: (3.4445, -4.775, 2.0315).
        eps: Smallest norm to divide by. Default: 1e-7.
        ns_steps: Number of iterations. Default: 5.
        adjust_lr_fn: How steps fit the shape: `"original"` (the default) or `"match_rms_adamw"`,
            the size of AdamW's.

    Example:
        >>> w = torch.ones(4, 3, requires_grad=True)
        >>> optimizer = torch.optim.Muon([w], lr=0.1)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> bool((w < 1).all())
        True

    See also:
        `optim.AdamW`.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: Coefficients = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        values = {"Learning rate": lr, "momentum": momentum, "weight decay": weight_decay}
        for name, value in values.items():
            if not value >= 0.0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(
                f"Adjust learning rate function {adjust_lr_fn} is not supported: expected "
                "'original' or 'match_rms_adamw'"
            )
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(
                        "Muon only supports 2D parameters, but got one of shape "
                        f"{tuple(p.shape)}; give such parameters to another optimizer"
                    )

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
                    self._fb_step(p, p.grad, group)
        return loss

    def _fb_step(self, param: Tensor, grad: Tensor, group: dict[str, Any]) -> None:
        if fb.is_complex(param):
            raise RuntimeError("Muon does not support complex parameters")
        if grad.is_sparse:
            raise RuntimeError("Muon does not support sparse gradients")
        state = self.state[param]
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = fb.zeros_like(grad)
        momentum = group["momentum"]
        buffer = state["momentum_buffer"].lerp_(grad, 1 - momentum)
        update = grad.lerp(buffer, momentum) if group["nesterov"] else buffer
        update = _orthogonal(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        lr = to_scalar(group["lr"])
        param.mul_(1 - lr * group["weight_decay"])
        param.add_(update, alpha=-lr * _shape_factor(group["adjust_lr_fn"], *param.shape))


def _shape_factor(adjust_lr_fn: str | None, rows: int, columns: int) -> float:
    """What the learning rate is multiplied by, for updates of the same size in every shape."""
    if adjust_lr_fn == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1, rows / columns))


def _orthogonal(matrix: Tensor, coefficients: Coefficients, steps: int, eps: float) -> Tensor:
    """About U V^T for a matrix U S V^T, in bfloat16.

    The polynomial a x + b x^3 + c x^5 is steepest at 0 and takes the singular values not to 1, but
    to around 0.5 to 1.5, which serves as well and takes few steps.
    """
    if steps >= 100:
        raise ValueError(f"Muon: ns_steps must be less than 100, but is {steps}")
    if len(coefficients) != 3:
        raise ValueError(f"Muon: expected 3 ns_coefficients, but got {len(coefficients)}")
    a, b, c = coefficients
    is_tall = matrix.size(0) > matrix.size(1)
    x = matrix.T.bfloat16() if is_tall else matrix.bfloat16()  # the smaller products
    x = x / x.norm().clamp(min=eps)  # singular values of 1 at most
    for _ in range(steps):
        gram = x @ x.T
        x = fb.addmm(x, fb.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if is_tall else x
