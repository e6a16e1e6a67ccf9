"""``torch.mtia``: accelerators of Meta, which this build does not compute on."""

from __future__ import annotations

from typing import Any

from flambeau._limits.absent import Absent, Function

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

MTIA = Absent("mtia", "ask torch.mtia.is_available() first", RuntimeError)


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
    """The counts of the allocator."""
    return {}


current_device: Function = MTIA.function("current_device", "The index of the current one.")
current_stream: Function = MTIA.function("current_stream", "The stream that work goes into.")
default_stream: Function = MTIA.function("default_stream", "The stream that is current at first.")
set_device: Function = MTIA.function("set_device", "Make one the current one.")
synchronize: Function = MTIA.function("synchronize", "Wait for everything one was given to do.")
empty_cache: Function = MTIA.function("empty_cache", "Give unused memory back to the system.")
get_device_capability: Function = MTIA.function("get_device_capability", "What one can do.")
get_device_properties: Function = MTIA.function("get_device_properties", "Name and memory of one.")
