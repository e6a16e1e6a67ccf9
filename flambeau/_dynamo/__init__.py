"""The part of PyTorch's compiler that programs name: its options, and marks on functions.

Functions run eagerly here (see ``torch.compile``), so marks are kept and change nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flambeau._dynamo import config, exc
from flambeau._dynamo.eval_frame import OptimizedModule
from flambeau.compiler import (
    allow_in_graph,
    assume_constant_result,
    disable,
    is_compiling,
    list_backends,
    reset,
)
from flambeau.compiler._compile import compile

__all__ = [
    "OptimizedModule",
    "allow_in_graph",
    "assume_constant_result",
    "config",
    "disable",
    "disallow_in_graph",
    "exc",
    "graph_break",
    "is_compiling",
    "is_dynamo_supported",
    "list_backends",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "optimize",
    "optimize_assert",
    "reset",
]


def optimize(
    backend: str | Callable[..., Any] = "inductor",
    *,
    nopython: bool = False,
    disable: bool = False,
    dynamic: bool | None = None,
) -> Callable[..., Any]:
    """A decorator that does what ``torch.compile`` does; ``nopython`` is its ``fullgraph``."""
    return compile(  # type: ignore[no-any-return]
        backend=backend, fullgraph=nopython, disable=disable, dynamic=dynamic
    )


def optimize_assert(backend: str | Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """The same for functions that must be one graph."""
    return optimize(backend, nopython=True, **options)


def is_dynamo_supported() -> bool:
    """Whether functions can be compiled: not yet, they run eagerly."""
    return False


def disallow_in_graph(fn: Any) -> Any:
    """Mark a function as one that is not compiled."""
    return allow_in_graph(fn)


def graph_break(msg: str = "") -> None:
    """A place at which a compiled function is cut in two."""


def mark_dynamic(t: Any, index: Any, **kwargs: Any) -> None:
    """Say that a dimension will have other sizes."""


def maybe_mark_dynamic(t: Any, index: Any) -> None:
    """Say that a dimension may have other sizes."""


def mark_static(t: Any, index: Any = None) -> None:
    """Say that a dimension will keep its size."""


def mark_static_address(t: Any, guard: bool = True) -> None:
    """Say that a tensor will keep its memory."""
