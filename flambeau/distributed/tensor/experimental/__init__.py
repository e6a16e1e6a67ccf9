"""Ways to spread tensors that may still change."""

from __future__ import annotations

from flambeau.distributed._absent import Function, function

__all__ = ["context_parallel", "implicit_replication", "local_map"]

context_parallel: Function = function("context_parallel", "run attention in one process")
implicit_replication: Function = function("implicit_replication", "use tensors of one process")
local_map: Function = function("local_map", "call the function itself")
