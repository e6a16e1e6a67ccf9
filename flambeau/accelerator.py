"""``torch.accelerator``: the device beside the CPU, whatever its kind; here, a GPU of NVIDIA's."""

from __future__ import annotations

from typing import Any

from flambeau import cuda, device
from flambeau._limits.refusing import refusal

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


def _needs_accelerator(name: str) -> None:
    if not is_available():
        raise refusal(f"accelerator.{name}")


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
    return device("cuda") if is_available() else None


def is_available() -> bool:
    """Whether there is one that tensors can live on."""
    return cuda.is_available()


def device_count() -> int:
    """How many there are."""
    return cuda.device_count()


class device_index:
    """Makes one the current one while a block runs; None leaves it as it is."""

    def __init__(self, device: int | None, /) -> None:
        self.idx = device

    def __enter__(self) -> None:
        if self.idx is not None:
            _needs_accelerator("device_index")
            self.prev_idx = cuda.current_device()
            cuda.set_device(self.idx)

    def __exit__(self, *exc_info: object) -> None:
        if self.idx is not None:
            cuda.set_device(self.prev_idx)


def current_device_index() -> int:
    """The index of the current device."""
    _needs_accelerator("current_device_index")
    return cuda.current_device()


def set_device_index(device: Any, /) -> None:
    """Make a device current."""
    _needs_accelerator("set_device_index")
    cuda.set_device(device)


current_device_idx = current_device_index
set_device_idx = set_device_index


def current_stream(device: Any = None, /) -> cuda.Stream:
    """The current stream of a device."""
    _needs_accelerator("current_stream")
    return cuda.current_stream(device)


def set_stream(stream: cuda.Stream) -> None:
    """Make a stream current, and its device."""
    _needs_accelerator("set_stream")
    cuda.set_device(stream.device_index)
    cuda.set_stream(stream)


def synchronize(device: Any = None, /) -> None:
    """Wait until a device has finished its work."""
    _needs_accelerator("synchronize")
    cuda.synchronize(device)


def empty_cache() -> None:
    """Return unused memory to the system."""
    _needs_accelerator("empty_cache")
    cuda.empty_cache()


def get_memory_info(device_index: Any = None, /) -> tuple[int, int]:
    """The free and the total bytes of a device's memory."""
    _needs_accelerator("get_memory_info")
    return cuda.mem_get_info(device_index)


def memory_stats(device_index: Any = None, /) -> dict[str, Any]:
    """The statistics of the allocator."""
    _needs_accelerator("memory_stats")
    return cuda.memory_stats(device_index)


def memory_allocated(device_index: Any = None, /) -> int:
    """The bytes that tensors take."""
    _needs_accelerator("memory_allocated")
    return cuda.memory_allocated(device_index)


def memory_reserved(device_index: Any = None, /) -> int:
    """The bytes that the allocator holds."""
    _needs_accelerator("memory_reserved")
    return cuda.memory_reserved(device_index)


def max_memory_allocated(device_index: Any = None, /) -> int:
    """The peak of the bytes that tensors took."""
    _needs_accelerator("max_memory_allocated")
    return cuda.max_memory_allocated(device_index)


def max_memory_reserved(device_index: Any = None, /) -> int:
    """The peak of the bytes that the allocator held."""
    _needs_accelerator("max_memory_reserved")
    return cuda.max_memory_reserved(device_index)


def reset_peak_memory_stats(device_index: Any = None, /) -> None:
    """Let the peaks begin anew."""
    _needs_accelerator("reset_peak_memory_stats")
    cuda.reset_peak_memory_stats(device_index)


def reset_accumulated_memory_stats(device_index: Any = None, /) -> None:
    """Let the sums begin anew."""
    _needs_accelerator("reset_accumulated_memory_stats")
    cuda.reset_accumulated_memory_stats(device_index)
