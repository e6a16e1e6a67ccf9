"""Ways to spread tensors that may still change."""

from __future__ import annotations

from flambeau.distributed._absent import function

__all__ = ["context_parallel", "implicit_replication", "local_map"]

context_parallel = function("context_parallel", "run attention in one process")
implicit_replication = function("implicit_replication", "use tensors of one process")
local_map = function("local_map", "call the function itself")
