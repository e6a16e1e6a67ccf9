"""A scale of losses that processes agree on."""

from __future__ import annotations

from typing import Any

from flambeau._limits.refusing import refused_type

__all__ = ["ShardedGradScaler"]

ShardedGradScaler: Any = refused_type("distributed.fsdp.sharded_grad_scaler.ShardedGradScaler")
