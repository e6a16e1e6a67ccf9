"""Stochastic gradient descent, with momentum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import flambeau as fb
from flambeau import _C, Tensor
from flambeau.optim._functional import scale_back, step_lists
from flambeau.optim._hooks import stepping_by
from flambeau.optim._options import (
    check_fused,
    check_fused_param,
    check_range,
    decayed,
    number,
    to_scalar,
)
from flambeau.optim.optimizer import Optimizer, ParamsT

__all__ = ["SGD", "sgd"]


class SGD(Optimizer):
    """Stochastic gradient descent, with optional momentum.

    v = momentum v + (1 - dampening) g
    w = w - lr v

    where g is the gradient and w the parameter. Without momentum v = g; with `nesterov` the step
    is g + momentum v.

    Args:
        params: Parameters to optimise: tensors, pairs of name and tensor, or dicts, each a group
            with options of its own (see `optim.Optimizer`).
        lr: Learning rate. Default: 1e-3.
        momentum: Share of past gradients that is kept. Default: 0.
        dampening: Share by which a new gradient is reduced. Default: 0.
        weight_decay: L2 penalty, added to the gradient. Default: 0.
        nesterov: Whether to look one step ahead (Nesterov momentum). Default: False.
        maximize: Whether to maximise the objective. Default: False.
        foreach: Accepted; every step is one native pass. Default: None.
        differentiable: Whether gradients can flow through a step. Default: False.
        fused: Accepted; every step is one native pass. Default: None.

    Raises:
        ValueError: An option is negative, or `nesterov` is set without momentum.

    Example:
        >>> w = torch.tensor([3.0, -2.0], requires_grad=True)
        >>> optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([ 2.4000, -1.6000])

    See also:
        `optim.Adam`, `optim.lr_scheduler`.
    """

    _fb_later_options: ClassVar[dict[str, Any]] = {
        "nesterov": False,
        "maximize": False,
        "foreach": None,
        "differentiable": False,
        "fused": False,
    }

    _fb_splits_complex = False

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        check_range(not lr < 0.0, "learning rate", lr)
        check_range(not momentum < 0.0, "momentum value", momentum)
        check_range(not weight_decay < 0.0, "weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        check_fused(self, fused, foreach, differentiable)

    @stepping_by(_C._optim.sgd)
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by their gradients; a closure computes these and the loss first."""

    def _fb_init_state(self, param: Tensor, group: dict[str, Any]) -> None:
        check_fused_param(param, group)
        # The kernel puts the first gradient there.
        self.state[param]["momentum_buffer"] = fb.empty_like(param, requires_grad=False)

    def _fb_step_one(self, param: Tensor, grad: Tensor, group: dict[str, Any]) -> None:
        check_fused_param(param, group)
        state = self.state[param] if group["momentum"] != 0 else {}
        if grad.is_sparse:
            # Changed in place: a new parameter would cost more than the rows of the gradient.
            direction = _direction(param, grad, state, group)
            param.add_(direction, alpha=-number(to_scalar(group["lr"])))
        else:
            param.copy_(self._fb_update(param, grad, state, group))

    def _fb_update(
        self, param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> Tensor:
        return _update(param, grad, state, group)


def _update(param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> Tensor:
    direction = _direction(param, grad, state, group)
    lr = to_scalar(group["lr"])
    if isinstance(lr, Tensor) and lr.requires_grad:
        return param.addcmul(direction, lr, value=-1)
    return param.add(direction, alpha=-number(lr))


def _direction(param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> Tensor:
    """What the parameter moves against: the gradient, or the running sum that the state keeps."""
    grad = decayed(param, grad, group)
    momentum = group["momentum"]
    if momentum != 0:
        old = state.get("momentum_buffer")
        if old is None:
            buffer = state["momentum_buffer"] = grad.detach().clone()
        else:
            buffer = old.mul(momentum).add(grad, alpha=1 - group["dampening"])
            old.copy_(buffer)
        grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
    return grad


def sgd(
    params: list[Tensor],
    d_p_list: list[Tensor],
    momentum_buffer_list: list[Tensor | None],
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    *,
    weight_decay: float,
    momentum: float,
    lr: float,
    dampening: float,
    nesterov: bool,
    maximize: bool,
) -> None:
    """Take a step of `SGD` with parameters, gradients and state given as lists."""
    if scale_back(d_p_list, grad_scale, found_inf):
        return
    options = {
        "weight_decay": weight_decay,
        "momentum": momentum,
        "lr": lr,
        "dampening": dampening,
        "nesterov": nesterov,
        "maximize": maximize,
    }
    step_lists(_update, params, d_p_list, {"momentum_buffer": momentum_buffer_list}, options)
