"""``torch.mtia``: accelerators of Meta, which this build does not compute on."""

from __future__ import annotations

from typing import Any

from flambeau._limits.refusing import Function, refused

__all__ = [
    "current_device",
    "current_stream",
    "default_stream",
    "device_count",
    "empty_cache",
    "get_device_capability",
    "get_device_properties",
    "is_available",
    "is_initialized",
    "max_memory_allocated",
    "memory_allocated",
    "memory_stats",
    "set_device",
    "synchronize",
]


def device_count() -> int:
    """How many there are."""
    return 0


def is_available() -> bool:
    """Whether tensors can live there."""
    return False


def is_initialized() -> bool:
    """Whether they have been started in this process."""
    return False


def memory_allocated(device: Any = None) -> int:
    """The bytes that tensors take there."""
    return 0


max_memory_allocated = memory_allocated


def memory_stats(device: Any = None) -> dict[str, Any]:
    """The statistics of the allocator."""
    return {}


current_device: Function = refused("mtia.current_device")
current_stream: Function = refused("mtia.current_stream")
default_stream: Function = refused("mtia.default_stream")
set_device: Function = refused("mtia.set_device")
synchronize: Function = refused("mtia.synchronize")
empty_cache: Function = refused("mtia.empty_cache")
get_device_capability: Function = refused("mtia.get_device_capability")
get_device_properties: Function = refused("mtia.get_device_properties")
