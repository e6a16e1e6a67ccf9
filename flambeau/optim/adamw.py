"""Adam with decoupled weight decay."""

from __future__ import annotations

from typing import Any

from flambeau import Tensor
from flambeau.optim.adam import Adam, adam
from flambeau.optim.optimizer import ParamsT

__all__ = ["AdamW", "adamw"]


class AdamW(Adam):
    """Adam with weight decay that is independent of the gradient.

    w = w - lr weight_decay w
    m = beta1 m + (1 - beta1) g
    v = beta2 v + (1 - beta2) g^2
    w = w - lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)

    where g is the gradient, w the parameter and t the number of the step.

    Args:
        params: Parameters to optimise: tensors, pairs of name and tensor, or dicts, each a group
            with options of its own (see `optim.Optimizer`).
        lr: Learning rate. Default: 1e-3.
        betas: Decay rates of the averages of gradient and squared gradient.
            Default: (0.9, 0.999).
        eps: Added to the denominator. Default: 1e-8.
        weight_decay: Share of a parameter that a step with lr = 1 would remove. Default: 0.01.
        amsgrad: Whether to divide by the largest average so far. Default: False.
        maximize: Whether to maximise the objective. Default: False.
        foreach: Accepted; every step is one native pass. Default: None.
        capturable: For graphs of an accelerator; refused on the CPU. Default: False.
        differentiable: Whether gradients can flow through a step. Default: False.
        fused: Accepted; every step is one native pass. Default: None.

    Example:
        >>> model = nn.Linear(4, 1)
        >>> groups = [
        ...     {"params": [model.weight], "weight_decay": 0.01},
        ...     {"params": [model.bias], "weight_decay": 0.0},
        ... ]
        >>> optimizer = torch.optim.AdamW(groups, lr=1e-3)
        >>> model(torch.ones(1, 4)).sum().backward()
        >>> optimizer.step()
        >>> optimizer.zero_grad()

    See also:
        `optim.Adam`, `optim.Optimizer` for groups without weight decay.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


def adamw(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    max_exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_complex: bool = False,
    *,
    amsgrad: bool,
    beta1: float | Tensor,
    beta2: float | Tensor,
    lr: float | Tensor,
    weight_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """Take a step of `AdamW` with parameters, gradients and state given as lists."""
    adam(
        params,
        grads,
        exp_avgs,
        exp_avg_sqs,
        max_exp_avg_sqs,
        state_steps,
        foreach,
        capturable,
        differentiable,
        fused,
        grad_scale,
        found_inf,
        has_complex,
        decoupled_weight_decay=True,
        amsgrad=amsgrad,
        beta1=beta1,
        beta2=beta2,
        lr=lr,
        weight_decay=weight_decay,
        eps=eps,
        maximize=maximize,
    )
