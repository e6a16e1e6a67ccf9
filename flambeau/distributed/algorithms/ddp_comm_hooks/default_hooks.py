"""Hooks for ``DistributedDataParallel.register_comm_hook``; one process exchanges nothing."""

from __future__ import annotations

from flambeau.distributed._absent import Function, function

__all__ = [
    "allreduce_hook",
    "bf16_compress_hook",
    "bf16_compress_wrapper",
    "fp16_compress_hook",
    "fp16_compress_wrapper",
]

_INSTEAD = "one process has no gradients to exchange"

allreduce_hook: Function = function("allreduce_hook", _INSTEAD)
fp16_compress_hook: Function = function("fp16_compress_hook", _INSTEAD)
bf16_compress_hook: Function = function("bf16_compress_hook", _INSTEAD)
fp16_compress_wrapper: Function = function("fp16_compress_wrapper", _INSTEAD)
bf16_compress_wrapper: Function = function("bf16_compress_wrapper", _INSTEAD)
