"""Adam: steps measured by running averages of the gradient and of its square."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor
from flambeau.optim._functional import scale_back, step_lists
from flambeau.optim._hooks import stepping_by
from flambeau.optim._options import (
    LATER_OPTIONS,
    check_betas,
    check_fused,
    check_fused_param,
    check_range,
    number,
    scalar_zero,
    shrunk,
    to_scalar,
)
from flambeau.optim.optimizer import Optimizer, ParamsT

__all__ = ["Adam", "adam", "follow_moments"]

_Beta = float | Tensor


class Adam(Optimizer):
    """Adam: steps scaled by running averages of the gradient and its square.

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
        weight_decay: L2 penalty, added to the gradient. Default: 0.
        amsgrad: Whether to divide by the largest average so far. Default: False.
        foreach: Accepted; every step is one native pass. Default: None.
        maximize: Whether to maximise the objective. Default: False.
        capturable: For graphs of an accelerator; refused on the CPU. Default: False.
        differentiable: Whether gradients can flow through a step. Default: False.
        fused: Accepted; every step is one native pass. Default: None.
        decoupled_weight_decay: Whether weight decay shrinks the parameters, as in `optim.AdamW`.
            Default: False.

    Example:
        >>> w = torch.tensor([3.0, -2.0], requires_grad=True)
        >>> optimizer = torch.optim.Adam([w], lr=0.1)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([ 2.9000, -1.9000])

    See also:
        `optim.AdamW`, `optim.SGD`, `optim.NAdam`, `optim.RAdam`.
    """

    _fb_later_options = LATER_OPTIONS | {
        "amsgrad": False,
        "decoupled_weight_decay": False,
        "fused": None,
    }

    _fb_refuses_sparse = (
        "Adam does not support sparse gradients, please consider SparseAdam instead"
    )

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[_Beta, _Beta] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        _check_tensor("lr", lr, foreach and not capturable)
        check_range(lr >= 0.0, "learning rate", lr)
        check_range(eps >= 0.0, "epsilon value", eps)
        check_betas(betas)
        check_range(weight_decay >= 0.0, "weight_decay value", weight_decay)
        if not any(all(isinstance(beta, kind) for beta in betas) for kind in (float, Tensor)):
            raise ValueError("betas must be either both floats or both Tensors")
        for index in (0, 1):
            _check_tensor(f"betas[{index}]", betas[index], foreach and not capturable)
        defaults = {
            "lr": lr,
            "betas": tuple(map(to_scalar, betas)),
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)
        check_fused(self, fused, foreach, differentiable)

    @stepping_by(_C._optim.adam)
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by their gradients; a closure computes these and the loss first."""

    def _fb_init_state(self, param: Tensor, group: dict[str, Any]) -> None:
        check_fused_param(param, group)
        state = self.state[param]
        state["step"] = scalar_zero(group)
        state["exp_avg"] = fb.zeros_like(param, requires_grad=False)
        state["exp_avg_sq"] = fb.zeros_like(param, requires_grad=False)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = fb.zeros_like(param, requires_grad=False)

    def _fb_update(
        self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> Tensor:
        if group["differentiable"] and state["step"].requires_grad:
            raise RuntimeError("`requires_grad` is not supported for `step` in differentiable mode")
        if group["foreach"] and isinstance(group["lr"], Tensor) and not group["capturable"]:
            raise RuntimeError(
                "lr as a Tensor is not supported for capturable=False and foreach=True"
            )
        return _update(param, grad, state, group)


def _check_tensor(name: str, value: Any, is_unsupported: Any) -> None:
    if isinstance(value, Tensor):
        if is_unsupported:
            raise ValueError(
                f"{name} as a Tensor is not supported for capturable=False and foreach=True"
            )
        if value.numel() != 1:
            raise ValueError(f"Tensor {name} must be 1-element")


def _update(param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> Tensor:
    lr = to_scalar(group["lr"])
    beta1, beta2 = group["betas"]
    state["step"] += 1
    param, grad = shrunk(param, grad, group)
    average, square = follow_moments(grad, state, beta1, beta2)
    if group["amsgrad"]:
        square = fb.maximum(state["max_exp_avg_sq"].clone(), square)
        state["max_exp_avg_sq"].copy_(square)
    if group["differentiable"]:
        step = state["step"].clone()
        rate = -(lr / (1 - beta1**step))
        scale = square.sqrt() / ((1 - beta2**step).sqrt() * rate) + group["eps"] / rate
        return param.addcdiv(average, scale)
    steps = number(state["step"])
    rate = number(lr / (1 - beta1**steps))
    scale = (square.sqrt() / (1 - beta2**steps) ** 0.5).add(group["eps"])
    return param.addcdiv(average, scale, value=-rate)


def follow_moments(
    grad: Tensor, state: dict[str, Any], beta1: _Beta, beta2: _Beta
) -> tuple[Tensor, Tensor]:
    """The running averages of the gradient and of its square, which the state remembers."""
    weight = (1 - beta1).to(grad.dtype) if isinstance(beta1, Tensor) else 1 - beta1
    average = _closer(state["exp_avg"], grad, weight)
    if isinstance(beta2, Tensor) and beta2.requires_grad:
        square = _closer(state["exp_avg_sq"], grad.square(), 1 - beta2)
    else:
        square = state["exp_avg_sq"].mul(beta2).addcmul(grad, grad, value=number(1 - beta2))
    state["exp_avg"].copy_(average)
    state["exp_avg_sq"].copy_(square)
    return average, square


def _closer(average: Tensor, value: Tensor, weight: Any) -> Tensor:
    """A running average one value further."""
    if isinstance(weight, Tensor) and weight.requires_grad:
        average = average.clone()  # kept for the gradient, while the state goes on
    return average.lerp(value, weight)


def adam(
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
    decoupled_weight_decay: bool = False,
    *,
    amsgrad: bool,
    beta1: _Beta,
    beta2: _Beta,
    lr: float | Tensor,
    weight_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """Take a step of `Adam` with parameters, gradients and state given as lists."""
    if capturable and not all(param.is_cuda for param in params):
        raise AssertionError("adam: capturable=True is for parameters on an accelerator")
    if scale_back(grads, grad_scale, found_inf):
        return
    state = {
        "exp_avg": exp_avgs,
        "exp_avg_sq": exp_avg_sqs,
        "max_exp_avg_sq": max_exp_avg_sqs,
        "step": state_steps,
    }
    options = {
        "lr": lr,
        "betas": (beta1, beta2),
        "eps": eps,
        "weight_decay": weight_decay,
        "amsgrad": amsgrad,
        "maximize": maximize,
        "differentiable": differentiable,
        "decoupled_weight_decay": decoupled_weight_decay,
    }
    step_lists(_update, params, grads, state, options, splits_complex=True)
