"""Gradients of low rank on their way to the other processes."""

from __future__ import annotations

from typing import Any

from flambeau._limits.refusing import Function, refused, refused_type

__all__ = ["PowerSGDState", "batched_powerSGD_hook", "powerSGD_hook"]

PowerSGDState: Any = refused_type(
    "distributed.algorithms.ddp_comm_hooks.powerSGD_hook.PowerSGDState"
)
powerSGD_hook: Function = refused(
    "distributed.algorithms.ddp_comm_hooks.powerSGD_hook.powerSGD_hook"
)
batched_powerSGD_hook: Function = refused(
    "distributed.algorithms.ddp_comm_hooks.powerSGD_hook.batched_powerSGD_hook"
)
