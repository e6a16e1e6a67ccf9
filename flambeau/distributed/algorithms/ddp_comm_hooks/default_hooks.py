"""Hooks for ``DistributedDataParallel.register_comm_hook``; one process exchanges nothing."""

from __future__ import annotations

from flambeau._limits.refusing import Function, refused

__all__ = [
    "allreduce_hook",
    "bf16_compress_hook",
    "bf16_compress_wrapper",
    "fp16_compress_hook",
    "fp16_compress_wrapper",
]

allreduce_hook: Function = refused(
    "distributed.algorithms.ddp_comm_hooks.default_hooks.allreduce_hook"
)
fp16_compress_hook: Function = refused(
    "distributed.algorithms.ddp_comm_hooks.default_hooks.fp16_compress_hook"
)
bf16_compress_hook: Function = refused(
    "distributed.algorithms.ddp_comm_hooks.default_hooks.bf16_compress_hook"
)
fp16_compress_wrapper: Function = refused(
    "distributed.algorithms.ddp_comm_hooks.default_hooks.fp16_compress_wrapper"
)
bf16_compress_wrapper: Function = refused(
    "distributed.algorithms.ddp_comm_hooks.default_hooks.bf16_compress_wrapper"
)
