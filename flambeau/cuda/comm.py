"""Copies between GPUs."""

from __future__ import annotations

from flambeau._limits.refusing import Function, refused

__all__ = ["broadcast", "broadcast_coalesced", "gather", "reduce_add", "scatter"]

broadcast: Function = refused("cuda.comm.broadcast")
broadcast_coalesced: Function = refused("cuda.comm.broadcast_coalesced")
scatter: Function = refused("cuda.comm.scatter")
gather: Function = refused("cuda.comm.gather")
reduce_add: Function = refused("cuda.comm.reduce_add")
