"""Gradients by finite differences, a reference without graphs."""

from __future__ import annotations

from collections.abc import Callable

import flambeau as torch


def numeric(function: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """The gradient of a scalar function at `x` by central differences."""
    result, step = torch.zeros_like(x), 1e-6
    with torch.no_grad():
        for i in range(x.numel()):
            up, down = x.detach().clone(), x.detach().clone()
            up.view(-1)[i] += step
            down.view(-1)[i] -= step
            result.view(-1)[i] = (function(up) - function(down)) / (2 * step)
    return result


def assert_gradient(function: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> None:
    """backward of a scalar function at `x` against finite differences."""
    leaf = x.detach().clone().requires_grad_()
    function(leaf).backward()
    torch.testing.assert_close(leaf.grad, numeric(function, x), rtol=1e-5, atol=1e-6)
