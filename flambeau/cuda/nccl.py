"""NVIDIA's library of collective operations."""

from __future__ import annotations

from typing import Any

from flambeau._limits.refusing import Function, refused

__all__ = ["all_gather", "all_reduce", "broadcast", "reduce", "reduce_scatter"]


def is_available(tensors: Any) -> bool:
    """Whether the library can work on these tensors."""
    return False


version: Function = refused("cuda.nccl.version")
unique_id: Function = refused("cuda.nccl.unique_id")
all_reduce: Function = refused("cuda.nccl.all_reduce")
reduce: Function = refused("cuda.nccl.reduce")
broadcast: Function = refused("cuda.nccl.broadcast")
all_gather: Function = refused("cuda.nccl.all_gather")
reduce_scatter: Function = refused("cuda.nccl.reduce_scatter")
