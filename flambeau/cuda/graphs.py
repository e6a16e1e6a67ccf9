"""Work on a GPU that is recorded once and launched as a whole."""

from __future__ import annotations

from typing import Any

from flambeau._limits.absent import Function
from flambeau.cuda._absence import CUDA

__all__ = [
    "CUDAGraph",
    "graph",
    "graph_pool_handle",
    "is_current_stream_capturing",
    "make_graphed_callables",
]

_GRAPH = ("capture_begin", "capture_end", "debug_dump", "pool", "replay", "reset")

CUDAGraph: Any = CUDA.type("CUDAGraph", "A recorded sequence of kernels.", RuntimeError, _GRAPH)
graph: Any = CUDA.type("graph", "Records a block into a CUDAGraph.", RuntimeError)
graph_pool_handle: Function = CUDA.function(
    "graph_pool_handle", "A pool that graphs share.", RuntimeError
)
make_graphed_callables: Function = CUDA.function(
    "make_graphed_callables", "Functions that replay their graph.", RuntimeError
)


def is_current_stream_capturing() -> bool:
    """Whether work is being recorded: never without a stream to record."""
    return False
