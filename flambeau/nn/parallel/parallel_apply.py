"""Calls of modules on several devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
    return [
        module(*(args if isinstance(args, (list, tuple)) else (args,)), **options)
        for module, args, options in zip(modules, inputs, keywords, strict=True)
    ]
