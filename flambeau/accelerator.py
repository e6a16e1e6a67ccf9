"""``torch.accelerator``: the device beside the CPU, whatever its kind; this build has none."""

from __future__ import annotations

from flambeau import device
from flambeau._limits.refusing import Function, refusal, refused

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "device_index",
    "empty_cache",
    "get_memory_info",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
]


def current_accelerator(check_available: bool = False) -> device | None:
    """Return the device of the accelerator, or None.

    Args:
        check_available: Whether to name only a device that can be used. Default: False.

    Example:
        >>> print(torch.accelerator.current_accelerator())
        None

    See also:
        `accelerator.is_available`.
    """
    return None


def is_available() -> bool:
    """Whether there is one that tensors can live on."""
    return False


def device_count() -> int:
    """How many there are."""
    return 0


class device_index:
    """Makes one the current one while a block runs; None leaves it as it is."""

    def __init__(self, device: int | None, /) -> None:
        self.idx = device

    def __enter__(self) -> None:
        if self.idx is not None:
            raise refusal("accelerator.device_index")

    def __exit__(self, *exc_info: object) -> None:
        return


current_device_index: Function = refused("accelerator.current_device_index")
set_device_index: Function = refused("accelerator.set_device_index")
current_device_idx = current_device_index
set_device_idx = set_device_index
current_stream: Function = refused("accelerator.current_stream")
set_stream: Function = refused("accelerator.set_stream")
synchronize: Function = refused("accelerator.synchronize")
empty_cache: Function = refused("accelerator.empty_cache")
get_memory_info: Function = refused("accelerator.get_memory_info")
memory_stats: Function = refused("accelerator.memory_stats")
memory_allocated: Function = refused("accelerator.memory_allocated")
memory_reserved: Function = refused("accelerator.memory_reserved")
max_memory_allocated: Function = refused("accelerator.max_memory_allocated")
max_memory_reserved: Function = refused("accelerator.max_memory_reserved")
reset_peak_memory_stats: Function = refused("accelerator.reset_peak_memory_stats")
reset_accumulated_memory_stats: Function = refused("accelerator.reset_accumulated_memory_stats")
