"""Calls of functions in other processes, of which there are none yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from flambeau._limits.refusing import Function, refused, refused_type

__all__ = [
    "PyRRef",
    "RRef",
    "TensorPipeRpcBackendOptions",
    "WorkerInfo",
    "get_worker_info",
    "init_rpc",
    "is_available",
    "remote",
    "rpc_async",
    "rpc_sync",
    "shutdown",
]


@dataclass
class TensorPipeRpcBackendOptions:
    """How processes would be reached."""

    num_worker_threads: int = 16
    rpc_timeout: float = 60.0
    init_method: str = "env://"
    device_maps: dict[str, Any] | None = None
    devices: list[Any] | None = None
    _transports: list[str] | None = field(default=None, repr=False)
    _channels: list[str] | None = field(default=None, repr=False)


def is_available() -> bool:
    """Whether functions can be called in other processes."""
    return False


init_rpc: Function = refused("distributed.rpc.init_rpc")
shutdown: Function = refused("distributed.rpc.shutdown")
rpc_sync: Function = refused("distributed.rpc.rpc_sync")
rpc_async: Function = refused("distributed.rpc.rpc_async")
remote: Function = refused("distributed.rpc.remote")
get_worker_info: Function = refused("distributed.rpc.get_worker_info")
RRef: Any = refused_type("distributed.rpc.RRef")
PyRRef = RRef
WorkerInfo: Any = refused_type("distributed.rpc.WorkerInfo")
