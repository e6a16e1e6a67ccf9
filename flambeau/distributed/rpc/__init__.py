"""Calls of functions in other processes, of which there are none yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from flambeau.distributed._absent import Function, function, type_without_objects

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

_INSTEAD = "call the function itself, or use torch.multiprocessing"


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


init_rpc: Function = function("init_rpc", _INSTEAD)
shutdown: Function = function("rpc.shutdown", _INSTEAD)
rpc_sync: Function = function("rpc_sync", _INSTEAD)
rpc_async: Function = function("rpc_async", _INSTEAD)
remote: Function = function("rpc.remote", _INSTEAD)
get_worker_info: Function = function("rpc.get_worker_info", _INSTEAD)
RRef: Any = type_without_objects("RRef", _INSTEAD)
PyRRef = RRef
WorkerInfo: Any = type_without_objects("WorkerInfo", _INSTEAD)
