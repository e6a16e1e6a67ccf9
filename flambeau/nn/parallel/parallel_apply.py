"""Calls of modules on several devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau.nn.modules.module import Module

__all__ = ["parallel_apply"]


def parallel_apply(
    modules: Sequence[Module],
    inputs: Sequence[Any],
    kwargs_tup: Sequence[dict[str, Any]] | None = None,
    devices: Sequence[Any] | None = None,
) -> list[Any]:
    """The results of each module for its inputs, one module after the other."""
    keywords = kwargs_tup or [{}] * len(modules)
    if not len(modules) == len(inputs) == len(keywords):
        raise AssertionError(
            f"parallel_apply: expected as many inputs as modules, got {len(inputs)} and "
            f"{len(modules)}"
        )
    if devices is not None:
        if len(devices) != len(modules):
            raise AssertionError(
                f"parallel_apply: expected as many devices as modules, got {len(devices)} and "
                f"{len(modules)}"
            )
        for device in devices:
            if device is not None:
                fb.empty(0, device=device)  # refuses one that there is not
    return [
        module(*(args if isinstance(args, (list, tuple)) else (args,)), **options)
        for module, args, options in zip(modules, inputs, keywords, strict=True)
    ]
