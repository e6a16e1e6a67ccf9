"""Copies between GPUs."""

from __future__ import annotations

from flambeau._limits.absent import Function
from flambeau.cuda._absence import CUDA

__all__ = ["broadcast", "broadcast_coalesced", "gather", "reduce_add", "scatter"]

broadcast: Function = CUDA.function("comm.broadcast", "Copies of a tensor on several GPUs.")
broadcast_coalesced: Function = CUDA.function(
    "comm.broadcast_coalesced", "The same for many tensors."
)
scatter: Function = CUDA.function("comm.scatter", "Pieces of a tensor on several GPUs.")
gather: Function = CUDA.function("comm.gather", "One tensor of pieces on several GPUs.")
reduce_add: Function = CUDA.function("comm.reduce_add", "The sum of tensors on several GPUs.")
