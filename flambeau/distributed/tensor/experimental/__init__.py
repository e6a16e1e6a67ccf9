"""Ways to spread tensors that may still change."""

from __future__ import annotations

from flambeau._limits.refusing import Function, refused

__all__ = ["context_parallel", "implicit_replication", "local_map"]

context_parallel: Function = refused("distributed.tensor.experimental.context_parallel")
implicit_replication: Function = refused("distributed.tensor.experimental.implicit_replication")
local_map: Function = refused("distributed.tensor.experimental.local_map")
