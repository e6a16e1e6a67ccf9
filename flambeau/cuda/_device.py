"""Which GPUs there are, and which one is current."""

from __future__ import annotations

from typing import Any, NoReturn

import flambeau as fb
from flambeau._limits.refusing import Function, refusal, refused

__all__ = [
    "CudaError",
    "DeferredCudaCallError",
    "can_device_access_peer",
    "check_error",
    "clock_rate",
    "cudaStatus",
    "cudart",
    "current_blas_handle",
    "current_device",
    "device",
    "device_count",
    "device_memory_used",
    "device_of",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_gencode_flags",
    "get_sync_debug_mode",
    "has_half",
    "has_magma",
    "init",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "is_tf32_supported",
    "memory_usage",
    "power_draw",
    "set_device",
    "set_sync_debug_mode",
    "synchronize",
    "temperature",
    "utilization",
]

has_half = True
has_magma = False


class CudaError(RuntimeError):
    """A call into CUDA that failed, with its code."""

    def __init__(self, code: int) -> None:
        super().__init__(f"CUDA failed with code {code}")


class DeferredCudaCallError(Exception):
    """A call that waited for CUDA to start and failed then."""


class cudaStatus:
    """The codes that programs compare with."""

    SUCCESS: int = 0
    ERROR_NOT_READY: int = 34


def device_count() -> int:
    """Return the number of GPUs that tensors can live on.

    Example:
        >>> torch.cuda.device_count() >= 0
        True
    """
    return 0


def is_available() -> bool:
    """Return whether tensors can live on a GPU.

    Example:
        >>> device = "cuda" if torch.cuda.is_available() else "cpu"
        >>> torch.ones(2, device=device).device.type == device
        True

    See also:
        `torch.cuda.device_count`, `torch.accelerator`.
    """
    return device_count() > 0


def is_initialized() -> bool:
    """Whether CUDA has been started in this process."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return whether the current GPU computes in bfloat16.

    Args:
        including_emulation: Whether emulation counts. Default: True.

    Example:
        >>> torch.cuda.is_bf16_supported() in (True, False)
        True
    """
    return False


def is_tf32_supported() -> bool:
    """Whether the current GPU computes products in TF32."""
    return False


def get_arch_list() -> list[str]:
    """The architectures that kernels exist for."""
    return []


def get_gencode_flags() -> str:
    """The same as options of NVCC."""
    return ""


def check_error(res: int) -> None:
    """Raise for a code that is not success."""
    if res != cudaStatus.SUCCESS:
        raise CudaError(res)


def index_of(place: Any) -> int:
    """The index that ``device`` and ``set_device`` are given: -1 and None name no GPU at all."""
    if place is None:
        return -1
    if isinstance(place, int):
        return place
    chosen = fb.device(place)
    if chosen.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {chosen}")
    return 0 if chosen.index is None else chosen.index


class device:
    """Make a GPU the current one while a block runs.

    Args:
        device: A device or its index. ``-1`` and None leave the current one as it is; others are
            refused when the block is entered.

    Example:
        >>> with torch.cuda.device(-1):
        ...     x = torch.ones(2)

    See also:
        `cuda.is_available`.
    """

    def __init__(self, device: Any) -> None:
        self.idx: int = index_of(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        if self.idx >= 0:
            raise refusal("cuda.device")

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:
        return


class device_of(device):
    """The same for the GPU of a tensor; a tensor on the CPU leaves the current one."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else -1)


def set_device(device: Any) -> None:
    """Make a GPU current. Prefer the environment variable `CUDA_VISIBLE_DEVICES`.

    Args:
        device: The GPU, by index, name or `torch.device`; -1 changes nothing.

    Raises:
        AssertionError: There is no such GPU.

    Example:
        >>> if torch.cuda.is_available():
        ...     torch.cuda.set_device(0)
    """
    if index_of(device) >= 0:
        raise refusal("cuda.set_device")


def current_device() -> NoReturn:
    """Return the index of the current GPU.

    Example:
        >>> torch.cuda.current_device() if torch.cuda.is_available() else None
    """
    raise refusal("cuda.current_device")


def synchronize(device: Any = None) -> NoReturn:
    """Wait until a GPU has done all that it was given to do, as before reading a clock.

    Args:
        device: The GPU. Default: the current one.

    Example:
        >>> if torch.cuda.is_available():
        ...     torch.cuda.synchronize()
    """
    raise refusal("cuda.synchronize")


def get_device_name(device: Any = None) -> NoReturn:
    """Return the name of a GPU.

    Args:
        device: The GPU. Default: the current one.

    Example:
        >>> torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
        'none'
    """
    raise refusal("cuda.get_device_name")


init: Function = refused("cuda.init")
get_device_properties: Function = refused("cuda.get_device_properties")
get_device_capability: Function = refused("cuda.get_device_capability")
can_device_access_peer: Function = refused("cuda.can_device_access_peer")
cudart: Function = refused("cuda.cudart")
current_blas_handle: Function = refused("cuda.current_blas_handle")
ipc_collect: Function = refused("cuda.ipc_collect")
set_sync_debug_mode: Function = refused("cuda.set_sync_debug_mode")
get_sync_debug_mode: Function = refused("cuda.get_sync_debug_mode")
memory_usage: Function = refused("cuda.memory_usage")
device_memory_used: Function = refused("cuda.device_memory_used")
utilization: Function = refused("cuda.utilization")
temperature: Function = refused("cuda.temperature")
power_draw: Function = refused("cuda.power_draw")
clock_rate: Function = refused("cuda.clock_rate")
