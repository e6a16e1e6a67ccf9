"""What the memory of a GPU holds."""

from __future__ import annotations

import collections
import contextlib
from collections.abc import Iterator
from typing import Any

from flambeau._limits.refusing import Function, refused, refused_type

__all__ = [
    "CUDAPluggableAllocator",
    "MemPool",
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "caching_allocator_disabled",
    "caching_allocator_enable",
    "change_current_allocator",
    "empty_cache",
    "get_allocator_backend",
    "get_per_process_memory_fraction",
    "host_memory_stats",
    "host_memory_stats_as_nested_dict",
    "list_gpu_processes",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "reset_accumulated_host_memory_stats",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_host_memory_stats",
    "reset_peak_memory_stats",
    "set_per_process_memory_fraction",
    "use_mem_pool",
]


def empty_cache() -> None:
    """Return memory of the GPU that no tensor uses to the system; without a GPU, do nothing.

    Example:
        >>> torch.cuda.empty_cache()
    """


def caching_allocator_enable(value: bool = True) -> None:
    """Keep freed memory for the next tensor, or not."""


@contextlib.contextmanager
def caching_allocator_disabled() -> Iterator[None]:
    """Do not keep freed memory while a block runs."""
    yield


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """The counts of ``memory_stats`` as dictionaries in dictionaries."""
    return {}


def memory_stats(device: Any = None) -> dict[str, Any]:
    """The statistics of the allocator: none before CUDA has been started."""
    return collections.OrderedDict()


def host_memory_stats_as_nested_dict() -> dict[str, Any]:
    """The counts of ``host_memory_stats`` as dictionaries in dictionaries."""
    return {}


def host_memory_stats() -> dict[str, Any]:
    """The counts of the allocator of page-locked memory."""
    return collections.OrderedDict()


def memory_allocated(device: Any = None) -> int:
    """Return the bytes of GPU memory that tensors take.

    Args:
        device: The GPU. Default: the current one.

    Example:
        >>> torch.cuda.memory_allocated() >= 0
        True
    """
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """Return the largest number of bytes of GPU memory that tensors took so far.

    Args:
        device: The GPU. Default: the current one.

    Example:
        >>> torch.cuda.max_memory_allocated() >= 0
        True
    """
    return 0


def memory_reserved(device: Any = None) -> int:
    """Return the bytes of GPU memory that the allocator holds.

    Args:
        device: The GPU. Default: the current one.

    Example:
        >>> torch.cuda.memory_reserved() >= 0
        True
    """
    return 0


def max_memory_reserved(device: Any = None) -> int:
    """Return the largest number of bytes of GPU memory that the allocator held so far.

    Args:
        device: The GPU. Default: the current one.

    Example:
        >>> torch.cuda.max_memory_reserved() >= 0
        True
    """
    return 0


# The names of these two before "reserved".
memory_cached = memory_reserved
max_memory_cached = max_memory_reserved


def list_gpu_processes(device: Any = None) -> str:
    """The processes that use a GPU, one to a line."""
    return "there is no GPU that this build computes on"


reset_peak_memory_stats: Function = refused("cuda.reset_peak_memory_stats")
reset_max_memory_allocated: Function = refused("cuda.reset_max_memory_allocated")
reset_max_memory_cached: Function = refused("cuda.reset_max_memory_cached")
reset_accumulated_memory_stats: Function = refused("cuda.reset_accumulated_memory_stats")
reset_peak_host_memory_stats: Function = refused("cuda.reset_peak_host_memory_stats")
reset_accumulated_host_memory_stats: Function = refused("cuda.reset_accumulated_host_memory_stats")
mem_get_info: Function = refused("cuda.mem_get_info")
memory_summary: Function = refused("cuda.memory_summary")
memory_snapshot: Function = refused("cuda.memory_snapshot")
get_allocator_backend: Function = refused("cuda.get_allocator_backend")
get_per_process_memory_fraction: Function = refused("cuda.get_per_process_memory_fraction")
set_per_process_memory_fraction: Function = refused("cuda.set_per_process_memory_fraction")
caching_allocator_alloc: Function = refused("cuda.caching_allocator_alloc")
caching_allocator_delete: Function = refused("cuda.caching_allocator_delete")
change_current_allocator: Function = refused("cuda.change_current_allocator")
use_mem_pool: Function = refused("cuda.use_mem_pool")
_record_memory_history: Function = refused("cuda.memory._record_memory_history")
_snapshot: Function = refused("cuda.memory._snapshot")
_dump_snapshot: Function = refused("cuda.memory._dump_snapshot")
MemPool: Any = refused_type("cuda.MemPool")
CUDAPluggableAllocator: Any = refused_type("cuda.CUDAPluggableAllocator")
