"""``torch.accelerator``: the device beside the CPU, whatever its kind; this build has none."""

from __future__ import annotations

from flambeau import device
from flambeau._limits.absent import ACCELERATOR, Function

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
    """The device, or None."""
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
            raise ACCELERATOR.error("device_index")

    def __exit__(self, *exc_info: object) -> None:
        return


current_device_index: Function = ACCELERATOR.function(
    "current_device_index", "The current one's index."
)
set_device_index: Function = ACCELERATOR.function("set_device_index", "Make one the current one.")
current_device_idx = current_device_index
set_device_idx = set_device_index
current_stream: Function = ACCELERATOR.function("current_stream", "The stream that work goes into.")
set_stream: Function = ACCELERATOR.function("set_stream", "Make a stream the current one.")
synchronize: Function = ACCELERATOR.function(
    "synchronize", "Wait for everything one was given to do."
)
empty_cache: Function = ACCELERATOR.function(
    "empty_cache", "Give unused memory back to the system."
)
get_memory_info: Function = ACCELERATOR.function(
    "get_memory_info", "The free and the whole memory."
)
memory_stats: Function = ACCELERATOR.function("memory_stats", "The counts of the allocator.")
memory_allocated: Function = ACCELERATOR.function(
    "memory_allocated", "The bytes that tensors take."
)
memory_reserved: Function = ACCELERATOR.function("memory_reserved", "The bytes that are held.")
max_memory_allocated: Function = ACCELERATOR.function(
    "max_memory_allocated", "The most of them so far."
)
max_memory_reserved: Function = ACCELERATOR.function(
    "max_memory_reserved", "The most of them so far."
)
reset_peak_memory_stats: Function = ACCELERATOR.function(
    "reset_peak_memory_stats", "Forget the peaks."
)
reset_accumulated_memory_stats: Function = ACCELERATOR.function(
    "reset_accumulated_memory_stats", "Forget totals."
)
