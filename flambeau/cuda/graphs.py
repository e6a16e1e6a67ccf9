"""Work on a GPU that is recorded once and launched as a whole."""

from __future__ import annotations

from typing import Any

from flambeau._limits.refusing import Function, refused, refused_type

__all__ = [
    "CUDAGraph",
    "graph",
    "graph_pool_handle",
    "is_current_stream_capturing",
    "make_graphed_callables",
]

_GRAPH = ("capture_begin", "capture_end", "debug_dump", "pool", "replay", "reset")

CUDAGraph: Any = refused_type("cuda.CUDAGraph", _GRAPH)
graph: Any = refused_type("cuda.graph")
graph_pool_handle: Function = refused("cuda.graph_pool_handle")
make_graphed_callables: Function = refused("cuda.make_graphed_callables")


def is_current_stream_capturing() -> bool:
    """Whether work is being recorded: never without a stream to record."""
    return False
