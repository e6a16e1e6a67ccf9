"""Compiling parts of a graph with PyTorch's compiler, which Flambeau does not have."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["regional_inductor"]


def regional_inductor(gm: Any, *example_args: Any) -> NoReturn:
    """Not available: graphs are run as they are."""
    raise NotImplementedError(
        "regional_inductor: there is no compiler for parts of a graph; the graph module itself "
        "runs them"
    )
