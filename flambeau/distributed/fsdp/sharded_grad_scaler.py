"""A scale of losses that processes agree on."""

from __future__ import annotations

from typing import Any

from flambeau.distributed._absent import type_without_objects

__all__ = ["ShardedGradScaler"]

ShardedGradScaler: Any = type_without_objects("ShardedGradScaler", "use torch.amp.GradScaler")
