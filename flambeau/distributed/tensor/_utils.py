"""How tensors that are spread over processes are divided."""

from __future__ import annotations

from flambeau._limits.refusing import Function, refused

__all__ = ["compute_local_shape_and_global_offset"]

compute_local_shape_and_global_offset: Function = refused(
    "distributed.tensor._utils.compute_local_shape_and_global_offset"
)
