"""Which GPUs there are, and which one is current."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau import _C
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
    return _C._cuda_device_count()


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
    return _C._cuda_is_started()


def init() -> None:
    """Start CUDA in this process; whatever needs it does so by itself."""
    _C._cuda_start(current_device())


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return whether the current GPU computes in bfloat16.

    Args:
        including_emulation: Whether emulation counts. Default: True.

    Example:
        >>> torch.cuda.is_bf16_supported() in (True, False)
        True
    """
    return is_available() and (including_emulation or get_device_capability()[0] >= 8)


def is_tf32_supported() -> bool:
    """Whether the current GPU computes products in TF32."""
    return is_available() and get_device_capability()[0] >= 8


def get_arch_list() -> list[str]:
    """The architectures that kernels exist for: those of the GPUs here."""
    found = {get_device_capability(i) for i in range(device_count())}
    return [f"sm_{major}{minor}" for major, minor in sorted(found)]


def get_gencode_flags() -> str:
    """The same as options of NVCC."""
    numbers = [name.removeprefix("sm_") for name in get_arch_list()]
    return " ".join(f"-gencode compute=compute_{n},code=sm_{n}" for n in numbers)


def check_error(res: int) -> None:
    """Raise for a code that is not success."""
    if res != cudaStatus.SUCCESS:
        raise CudaError(res)


def needs_gpu(error: type[Exception] = AssertionError) -> None:
    """Say what is missing where there is no GPU."""
    if _C._cuda_device_count() > 0 and not _C._cuda_is_forked():
        return
    try:
        _C._cuda_start(0)
    except AssertionError as missing:
        raise error(str(missing)) from None


def index_of(place: Any) -> int:
    """The index that ``device`` and ``set_device`` are given: -1 and None name no GPU at all."""
    if place is None:
        return -1
    if isinstance(place, int):
        return place
    chosen = fb.device(place)
    if chosen.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {chosen}")
    return _C._cuda_current_device() if chosen.index is None else chosen.index


def chosen_index(place: Any) -> int:
    """The index of the GPU that a function is asked about: by default, the current one."""
    index = index_of(place)
    return _C._cuda_current_device() if index < 0 else index


class device:
    """Make a GPU the current one while a block runs.

    Args:
        device: A device or its index. ``-1`` and None leave the current one as it is.

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
            needs_gpu(RuntimeError)
            self.prev_idx = current_device()
            _C._cuda_set_device(self.idx)

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:
        if self.prev_idx >= 0:
            _C._cuda_set_device(self.prev_idx)


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
        _C._cuda_set_device(index_of(device))


def current_device() -> int:
    """Return the index of the current GPU.

    Example:
        >>> torch.cuda.current_device() if torch.cuda.is_available() else None
    """
    needs_gpu()
    return _C._cuda_current_device()


def synchronize(device: Any = None) -> None:
    """Wait until a GPU has done all that it was given to do, as before reading a clock.

    Args:
        device: The GPU. Default: the current one.

    Example:
        >>> if torch.cuda.is_available():
        ...     torch.cuda.synchronize()
    """
    needs_gpu()
    _C._cuda_synchronize(chosen_index(device))


def get_device_name(device: Any = None) -> str:
    """Return the name of a GPU.

    Args:
        device: The GPU. Default: the current one.

    Example:
        >>> torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
        'none'
    """
    return get_device_properties(device).name


class _CudaDeviceProperties:
    """What a GPU is: attributes by PyTorch's names."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int

    def __init__(self, facts: dict[str, Any]) -> None:
        self.__dict__.update(facts)

    def __repr__(self) -> str:
        memory = self.total_memory >> 20
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={memory}MB, multi_processor_count={self.multi_processor_count})"
        )


def get_device_properties(device: Any = None) -> _CudaDeviceProperties:
    """The name, the memory and the processors of a GPU."""
    needs_gpu()
    return _CudaDeviceProperties(_C._cuda_properties(chosen_index(device)))


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The compute capability of a GPU, as ``(9, 0)``.

    Args:
        device: The GPU. Default: the current one.

    Example:
        >>> if torch.cuda.is_available():
        ...     major, minor = torch.cuda.get_device_capability()
    """
    found = get_device_properties(device)
    return found.major, found.minor


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Whether two GPUs copy directly."""
    needs_gpu()
    return _C._cuda_can_access_peer(chosen_index(device), chosen_index(peer_device))


def ipc_collect() -> None:
    """Free memory that other processes have released: none, as memory is not shared with them."""
    needs_gpu()


def device_memory_used(device: Any = None) -> int:
    """The bytes that are in use on a GPU, by whichever process."""
    needs_gpu()
    free, total = _C._cuda_memory_info(chosen_index(device))
    return total - free


class _Runtime:
    """The functions of CUDA's runtime that programs call from Python, by their names there."""

    cudaError = cudaStatus

    @staticmethod
    def cudaProfilerStart() -> int:
        _C._cuda_profile(True)
        return 0

    @staticmethod
    def cudaProfilerStop() -> int:
        _C._cuda_profile(False)
        return 0

    @staticmethod
    def cudaMemGetInfo(device: int) -> tuple[int, int]:
        return _C._cuda_memory_info(device)

    @staticmethod
    def cudaGetErrorString(error: int) -> str:
        return "no error" if error == 0 else f"CUDA error {error}"

    def __getattr__(self, name: str) -> Any:
        raise NotImplementedError(
            f"cuda.cudart().{name}: Flambeau calls CUDA's driver and has no runtime; pinned memory "
            "comes from Tensor.pin_memory()"
        )


def cudart() -> _Runtime:
    """Return the functions of CUDA's runtime that there are here."""
    if not is_available():
        raise refusal("cuda.cudart")
    return _Runtime()


def get_sync_debug_mode() -> int:
    """How calls that wait for the GPU are reported: not at all."""
    needs_gpu()
    return 0


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """Report calls that wait for the GPU: only "default" is there, which does not."""
    needs_gpu()
    if debug_mode not in (0, "default"):
        raise refusal("cuda.set_sync_debug_mode", NotImplementedError)


current_blas_handle: Function = refused("cuda.current_blas_handle")
memory_usage: Function = refused("cuda.memory_usage")
utilization: Function = refused("cuda.utilization")
temperature: Function = refused("cuda.temperature")
power_draw: Function = refused("cuda.power_draw")
clock_rate: Function = refused("cuda.clock_rate")
