"""How tensors that are spread over processes are divided."""

from __future__ import annotations

from flambeau.distributed._absent import Function, function

__all__ = ["compute_local_shape_and_global_offset"]

compute_local_shape_and_global_offset: Function = function(
    "compute_local_shape_and_global_offset", "use a tensor of one process"
)
