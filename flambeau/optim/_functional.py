"""Steps of optimisers as functions of lists, as PyTorch's modules have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.amp._unscaling import unscale

__all__ = ["scale_back", "step_lists"]


def scale_back(grads: list[Tensor], grad_scale: Tensor | None, found_inf: Tensor | None) -> bool:
    """Divide gradients by a scale; say whether some were found not to be finite."""
    if grad_scale is not None:
        inverse = grad_scale.double().reciprocal().float()
        unscale(grads, inverse, fb.zeros((), device=inverse.device))
    return found_inf is not None and bool(found_inf.item())


def step_lists(
    update: Callable[[Tensor, Tensor, dict[str, Any], dict[str, Any]], Tensor],
    params: list[Tensor],
    grads: list[Tensor],
    lists: dict[str, Any],
    options: dict[str, Any],
    *,
    splits_complex: bool = False,
) -> None:
    """Take a step with each parameter; ``lists`` has the state of all by its name."""
    for i, (param, grad) in enumerate(zip(params, grads, strict=True)):
        state = {name: each[i] for name, each in lists.items() if i < len(each)}
        before = dict(state)
        if splits_complex and param.is_complex():
            param, grad = fb.view_as_real(param), fb.view_as_real(grad)
            state = {
                name: fb.view_as_real(value) if value.is_complex() else value
                for name, value in state.items()
            }
        param.copy_(update(param, grad, state, options))
        for name, value in before.items():
            if value is None:
                lists[name][i] = state[name]
