"""What the memory of a GPU holds."""

from __future__ import annotations

import collections
import contextlib
import pickle
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
    # Blocks of any size are cut, and nobody waits for all streams.
    none = dict.fromkeys(_PARTS, 0)
    stats |= {"oversize_allocations": none, "oversize_segments": none}
    return stats | {"max_split_size": -1, "num_sync_all_streams": 0}


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
    """Every segment that the allocators of all GPUs hold, with its blocks.

    A block has a ``state``: ``"active_allocated"``, ``"active_pending_free"`` or ``"inactive"``.

    Args:
        mempool_id: There are no memory pools: must be None.
    """
    needs_gpu()
    if mempool_id is not None:
        raise NotImplementedError("cuda.memory_snapshot: there are no memory pools")
    segments: dict[tuple[int, int], dict[str, Any]] = {}
    for index in range(_C._cuda_device_count()):
        for block in _C._cuda_memory_blocks(index):
            if block["mapped"]:
                _add_block(segments, index, block)
    return list(segments.values())


def _add_block(
    segments: dict[tuple[int, int], dict[str, Any]], index: int, block: dict[str, Any]
) -> None:
    size = block["size"]
    segment = segments.setdefault(
        (index, block["segment"]),
        {
            "device": index,
            "address": block["segment"],
            "total_size": 0,
            "allocated_size": 0,
            "active_size": 0,
            "requested_size": 0,
            "stream": block["stream"],
            "segment_type": "small" if block["small"] else "large",
            "segment_pool_id": (0, 0),
            "is_expandable": True,
            "frames": [],
            "blocks": [],
        },
    )
    state = "inactive"
    if block["used"]:
        state = "active_pending_free" if block["waits"] else "active_allocated"
    segment["total_size"] += size
    segment["active_size"] += size if block["used"] else 0
    segment["allocated_size"] += size if state == "active_allocated" else 0
    segment["requested_size"] += block["requested_size"]
    segment["blocks"].append(
        {
            "address": block["address"],
            "size": size,
            "requested_size": block["requested_size"],
            "state": state,
            "frames": _frames(block["origin"]),
        }
    )


def _frames(origin: str | None) -> list[dict[str, Any]]:
    """A line of the program, "file.py:12", as the frames of a stack."""
    if origin is None:
        return []
    file, _, line = origin.rpartition(":")
    return [{"filename": file, "line": int(line), "name": "??"}]


def _record_memory_history(
    enabled: str | bool | None = "all",
    context: str | None = "all",
    stacks: str = "all",
    max_entries: int = 1 << 20,
    *args: Any,
    **kwargs: Any,
) -> None:
    """Note from now on which line of the program asks for memory.

    Args:
        enabled: "all" keeps the lines and every change, "state" the lines alone; None ends it.
        context: PyTorch's: lines are noted for all events.
        stacks: PyTorch's: the innermost line of the program is noted.
        max_entries: How many changes of a GPU are kept. Default: a million.
        *args: Further options of PyTorch's, which change nothing.
        **kwargs: Likewise.
    """
    needs_gpu()
    if enabled not in ("all", "state", None, True, False):
        raise RuntimeError(f"expected enabled to be 'all', 'state' or None, got {enabled!r}")
    entries = min(max_entries, 1 << 20) if enabled in ("all", True) else 0
    _C._cuda_record_history(entries if enabled else -1)


def _snapshot(device: Any = None, augment_with_fx_traces: bool = False) -> dict[str, Any]:
    """What the allocators hold, and the recorded changes, as PyTorch's tools read it."""
    segments = memory_snapshot()
    traces = []
    for index in range(_C._cuda_device_count()):
        entries = _C._cuda_memory_history(index)
        for entry in entries:
            entry["frames"] = _frames(entry.pop("origin"))
            entry["device"] = index
        traces.append(entries)
    settings = {"expandable_segments": True, "garbage_collection_threshold": 0.0}
    return {"segments": segments, "device_traces": traces, "allocator_settings": settings}


def _dump_snapshot(filename: str = "dump_snapshot.pickle", **options: Any) -> None:
    """Write `_snapshot` to a file, which pytorch.org/memory_viz shows."""
    with open(filename, "wb") as file:
        pickle.dump(_snapshot(), file)


_QUANTITIES = (
    ("Allocated memory", "allocated_bytes"),
    ("Active memory", "active_bytes"),
    ("Requested memory", "requested_bytes"),
    ("GPU reserved memory", "reserved_bytes"),
    ("Non-releasable memory", "inactive_split_bytes"),
    ("Allocations", "allocation"),
    ("Active allocs", "active"),
    ("GPU reserved segments", "segment"),
    ("Non-releasable allocs", "inactive_split"),
)
_PARTS = ("current", "peak", "allocated", "freed")


def _amount(value: int, is_bytes: bool) -> str:
    """A number of at most six digits, with a unit."""
    unit = 0
    step, units = (1024, ("B", "KiB", "MiB", "GiB", "TiB")) if is_bytes else (1000, ("", "K", "M"))
    while abs(value) >= 100000 and unit + 1 < len(units):
        value, unit = value // step, unit + 1
    return f"{value:7d} {units[unit]:<3}"


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """Return the statistics of the allocator as PyTorch's table.

    Args:
        device: The GPU. Default: the current one.
        abbreviated: Whether the pools of small and of large blocks are left out. Default: False.

    Example:
        >>> if torch.cuda.is_available():
        ...     print(torch.cuda.memory_summary())
    """
    needs_gpu()
    stats = memory_stats(device)
    rule, thin = "|" + "=" * 75 + "|", "|" + "-" * 75 + "|"
    title = f"PyTorch CUDA memory summary, device ID {chosen_index(device)}"
    ooms, retries = stats.get("num_ooms", 0), stats.get("num_alloc_retries", 0)
    lines = [rule, f"|{title:^75}|", thin]
    lines += [f"|{f'CUDA OOMs: {ooms}':^37}|{f'cudaMalloc retries: {retries}':^37}|", rule]
    heads = ("Cur Usage", "Peak Usage", "Tot Alloc", "Tot Freed")
    lines.append(f"|{'Metric':^23}|" + "|".join(f"{head:^12}" for head in heads) + "|")
    for text, quantity in _QUANTITIES:
        lines.append(thin)
        for pool in _POOLS[:1] if abbreviated else _POOLS:
            label = text if pool == "all" else "      from " + pool.replace("_", " ")
            values = (stats.get(f"{quantity}.{pool}.{part}", 0) for part in _PARTS)
            cells = (f"{_amount(value, 'bytes' in quantity):^12}" for value in values)
            lines.append(f"| {label:<22}|" + "|".join(cells) + "|")
    return "\n".join([*lines, rule, ""])


def list_gpu_processes(device: Any = None) -> str:
    """The processes that use a GPU, one to a line."""
    return "nvidia-smi lists the processes that use a GPU"


caching_allocator_alloc: Function = refused("cuda.caching_allocator_alloc")
caching_allocator_delete: Function = refused("cuda.caching_allocator_delete")
change_current_allocator: Function = refused("cuda.change_current_allocator")
use_mem_pool: Function = refused("cuda.use_mem_pool")
MemPool: Any = refused_type("cuda.MemPool")
CUDAPluggableAllocator: Any = refused_type("cuda.CUDAPluggableAllocator")
