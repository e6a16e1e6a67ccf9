"""NVIDIA's library of collective operations."""

from __future__ import annotations

from typing import Any

from flambeau._limits.absent import Function
from flambeau.cuda._absence import CUDA

__all__ = ["all_gather", "all_reduce", "broadcast", "reduce", "reduce_scatter"]


def is_available(tensors: Any) -> bool:
    """Whether the library can work on these tensors."""
    return False


version: Function = CUDA.function("nccl.version", "The version of the library.")
unique_id: Function = CUDA.function("nccl.unique_id", "An identifier for a group.")
all_reduce: Function = CUDA.function("nccl.all_reduce", "The sum of tensors on all GPUs.")
reduce: Function = CUDA.function("nccl.reduce", "The sum of tensors on one GPU.")
broadcast: Function = CUDA.function("nccl.broadcast", "One tensor on all GPUs.")
all_gather: Function = CUDA.function("nccl.all_gather", "The tensors of all GPUs on each.")
reduce_scatter: Function = CUDA.function("nccl.reduce_scatter", "A part of the sum on each GPU.")
