"""Gradients that are exchanged now and then."""

from __future__ import annotations

from typing import Any

from flambeau._limits.refusing import Function, refused, refused_type

__all__ = ["PostLocalSGDState", "post_localSGD_hook"]

PostLocalSGDState: Any = refused_type(
    "distributed.algorithms.ddp_comm_hooks.post_localSGD_hook.PostLocalSGDState"
)
post_localSGD_hook: Function = refused(
    "distributed.algorithms.ddp_comm_hooks.post_localSGD_hook.post_localSGD_hook"
)
