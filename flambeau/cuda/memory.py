"""What the memory of a GPU holds."""

from __future__ import annotations

import collections
import contextlib
from collections.abc import Iterator
from typing import Any

from flambeau import _C
from flambeau._limits.refusing import Function, refused, refused_type
from flambeau.cuda._device import chosen_index, needs_gpu

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


_POOLS = ("all", "large_pool", "small_pool")
_COUNTS = ("num_alloc_retries", "num_ooms", "num_device_alloc", "num_device_free")


def empty_cache() -> None:
    """Return memory of the GPU that no tensor uses to the system; without a GPU, do nothing.

    Example:
        >>> torch.cuda.empty_cache()
    """
    if _C._cuda_is_started():
        for index in range(_C._cuda_device_count()):
            _C._cuda_empty_cache(index)


def caching_allocator_enable(value: bool = True) -> None:
    """Keep freed memory for the next tensor, or not. Here it is always kept."""


@contextlib.contextmanager
def caching_allocator_disabled() -> Iterator[None]:
    """Do not keep freed memory while a block runs: what it leaves is returned behind it."""
    yield
    empty_cache()


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """The counts of ``memory_stats`` as dictionaries in dictionaries."""
    if not _C._cuda_is_started():
        return {}
    found = _C._cuda_memory_statistics(chosen_index(device))
    stats: dict[str, Any] = {name: found[name] for name in _COUNTS}
    small, large = found["small_pool"], found["large_pool"]
    for quantity, part in small.items():
        # The peak of both is at most the sum of the pools' peaks; where it is counted, it is exact.
        both = found.get(quantity) or {k: part[k] + large[quantity][k] for k in part}
        stats[quantity] = dict(zip(_POOLS, (both, large[quantity], part), strict=True))
    return stats


def _flat(prefix: str, value: Any) -> Iterator[tuple[str, int]]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _flat(f"{prefix}.{name}" if prefix else name, part)
    else:
        yield prefix, value


def memory_stats(device: Any = None) -> dict[str, Any]:
    """The statistics of the allocator: none before CUDA has been started.

    ``"allocated_bytes.all.current"`` and its like: a quantity, of the small pool, the large one or
    both, and whether it is the ``current`` value, its ``peak`` or the sum of what was ``allocated``
    or ``freed``.
    """
    return collections.OrderedDict(sorted(_flat("", memory_stats_as_nested_dict(device))))


def host_memory_stats_as_nested_dict() -> dict[str, Any]:
    """The counts of ``host_memory_stats`` as dictionaries in dictionaries."""
    return {}


def host_memory_stats() -> dict[str, Any]:
    """The counts of the allocator of page-locked memory: it keeps none."""
    return collections.OrderedDict()


def _bytes(device: Any, quantity: str, which: str) -> int:
    if not _C._cuda_is_started():
        return 0
    return int(_C._cuda_memory_statistics(chosen_index(device))[quantity][which])


def memory_allocated(device: Any = None) -> int:
    """Return the bytes of GPU memory that tensors take.

    Args:
        device: The GPU. Default: the current one.

    Example:
        >>> torch.cuda.memory_allocated() >= 0
        True
    """
    return _bytes(device, "allocated_bytes", "current")


def max_memory_allocated(device: Any = None) -> int:
    """Return the largest number of bytes of GPU memory that tensors took so far.

    Args:
        device: The GPU. Default: the current one.

    Example:
        >>> torch.cuda.max_memory_allocated() >= 0
        True
    """
    return _bytes(device, "allocated_bytes", "peak")


def memory_reserved(device: Any = None) -> int:
    """Return the bytes of GPU memory that the allocator holds.

    Args:
        device: The GPU. Default: the current one.

    Example:
        >>> torch.cuda.memory_reserved() >= 0
        True
    """
    return _bytes(device, "reserved_bytes", "current")


def max_memory_reserved(device: Any = None) -> int:
    """Return the largest number of bytes of GPU memory that the allocator held so far.

    Args:
        device: The GPU. Default: the current one.

    Example:
        >>> torch.cuda.max_memory_reserved() >= 0
        True
    """
    return _bytes(device, "reserved_bytes", "peak")


# The names of these two before "reserved".
memory_cached = memory_reserved
max_memory_cached = max_memory_reserved


def reset_peak_memory_stats(device: Any = None) -> None:
    """Let the peaks begin anew at what there is now.

    Args:
        device: The GPU. Default: the current one.

    Example:
        >>> if torch.cuda.is_available():
        ...     torch.cuda.reset_peak_memory_stats()
    """
    needs_gpu()
    _C._cuda_reset_peaks(chosen_index(device))


# The peaks are reset together.
reset_max_memory_allocated = reset_peak_memory_stats
reset_max_memory_cached = reset_peak_memory_stats


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Let the sums of what was allocated and freed begin anew."""
    needs_gpu()
    _C._cuda_reset_accumulated(chosen_index(device))


def reset_peak_host_memory_stats() -> None:
    """The same for page-locked memory, of which nothing is counted."""
    needs_gpu()


def reset_accumulated_host_memory_stats() -> None:
    """The same for page-locked memory, of which nothing is counted."""
    needs_gpu()


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """The free and the total bytes of a GPU's memory, whoever uses it."""
    needs_gpu()
    return _C._cuda_memory_info(chosen_index(device))


def get_allocator_backend() -> str:
    """The name of the allocator."""
    needs_gpu()
    return "native"


def get_per_process_memory_fraction(device: Any = None) -> float:
    """The fraction of a GPU's memory that this process may reserve."""
    needs_gpu()
    return _C._cuda_memory_fraction(chosen_index(device))


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Limit the fraction of a GPU's memory that this process may reserve."""
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    needs_gpu()
    _C._cuda_set_memory_fraction(chosen_index(device), fraction)


def memory_snapshot(mempool_id: Any = None) -> list[dict[str, Any]]:
    """Every block that the allocator of the current GPU holds.

    Args:
        mempool_id: There are no memory pools: must be None.
    """
    needs_gpu()
    if mempool_id is not None:
        raise NotImplementedError("cuda.memory_snapshot: there are no memory pools")
    return [
        {
            "device": _C._cuda_current_device(),
            "address": address,
            "total_size": size,
            "state": "active_allocated" if used else "inactive",
            "segment_type": "small" if small else "large",
            "stream": stream,
        }
        for address, size, used, mapped, small, stream in _C._cuda_memory_blocks(
            _C._cuda_current_device()
        )
        if mapped
    ]


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """The statistics of the allocator as a table."""
    needs_gpu()
    stats = memory_stats(device)
    title = f"memory of cuda:{chosen_index(device)}"
    lines = [title, "-" * 78, f"{'':24}{'now':>13}{'peak':>13}{'allocated':>14}{'freed':>14}"]
    rows = [("tensors", "allocated_bytes"), ("reserved", "reserved_bytes")]
    rows += [("asked for", "requested_bytes")] * (not abbreviated)
    for text, quantity in rows:
        for pool in _POOLS[: 1 if abbreviated else 3]:
            values = [stats.get(f"{quantity}.{pool}.{part}", 0) for part in _PARTS]
            label = text if pool == "all" else "  in the " + pool.replace("_", " ")
            cells = (f"{value / 2**20:.1f} MiB" for value in values)
            lines.append(f"{label:24}" + "".join(f"{cell:>13} " for cell in cells).rstrip())
    counts = {name: stats.get(name, 0) for name in _COUNTS}
    lines.append(
        f"retries after freeing the cache: {counts['num_alloc_retries']}, "
        f"out of memory: {counts['num_ooms']}"
    )
    return "\n".join(lines)


_PARTS = ("current", "peak", "allocated", "freed")


def list_gpu_processes(device: Any = None) -> str:
    """The processes that use a GPU, one to a line."""
    return "nvidia-smi lists the processes that use a GPU"


caching_allocator_alloc: Function = refused("cuda.caching_allocator_alloc")
caching_allocator_delete: Function = refused("cuda.caching_allocator_delete")
change_current_allocator: Function = refused("cuda.change_current_allocator")
use_mem_pool: Function = refused("cuda.use_mem_pool")
_record_memory_history: Function = refused("cuda.memory._record_memory_history")
_snapshot: Function = refused("cuda.memory._snapshot")
_dump_snapshot: Function = refused("cuda.memory._dump_snapshot")
MemPool: Any = refused_type("cuda.MemPool")
CUDAPluggableAllocator: Any = refused_type("cuda.CUDAPluggableAllocator")
