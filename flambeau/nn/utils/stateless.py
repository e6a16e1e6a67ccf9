"""Modules as functions of their parameters: the older path of `flambeau.func.functional_call`."""

from __future__ import annotations

import warnings
from typing import Any

from flambeau import Tensor, func
from flambeau.nn.modules.module import Module

__all__ = ["functional_call"]


def functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other tensors in place of its parameters and buffers."""
    warnings.warn(
        "`flambeau.nn.utils.stateless.functional_call` is deprecated in favor of "
        "`flambeau.func.functional_call`.",
        FutureWarning,
        stacklevel=2,
    )
    return func.functional_call(
        module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict
    )
