"""Settings of products and attention on GPUs."""

from __future__ import annotations

import contextlib
import enum
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from flambeau import _C
from flambeau._limits.refusing import refusal
from flambeau.backends._precision import PrecisionSetting, TensorFloatSetting
from flambeau.backends._settings import Setting, boolean
from flambeau.nn.attention import SDPBackend

__all__ = [
    "SDPAParams",
    "SDPBackend",
    "allow_fp16_bf16_reduction_math_sdp",
    "can_use_cudnn_attention",
    "can_use_efficient_attention",
    "can_use_flash_attention",
    "cuBLASModule",
    "cuFFTPlanCacheManager",
    "cudnn_sdp_enabled",
    "cufft_plan_cache",
    "enable_cudnn_sdp",
    "enable_flash_sdp",
    "enable_math_sdp",
    "enable_mem_efficient_sdp",
    "flash_sdp_enabled",
    "fp16_bf16_reduction_math_sdp_allowed",
    "is_built",
    "is_ck_sdpa_available",
    "is_flash_attention_available",
    "math_sdp_enabled",
    "matmul",
    "mem_efficient_sdp_enabled",
    "preferred_blas_library",
    "preferred_linalg_library",
    "sdp_kernel",
]

_attention = {name: Setting(True) for name in ("flash", "mem_efficient", "math", "cudnn")}
_attention["reduced_math"] = Setting(False)


def is_built() -> bool:
    """Whether this build can compute on the GPUs of this machine."""
    return _C._cuda_device_count() > 0


def _reduction(name: str, value: Any) -> Any:
    """A bool, or a pair of them whose second one allows the split of the sum."""
    parts = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(parts) <= 2 or not all(isinstance(part, bool) for part in parts):
        raise TypeError(f"{name}: expected a bool or a pair of bools, got {value!r}")
    if parts == (True, False):
        raise RuntimeError(f"{name}: (True, False) is not supported")
    return parts[0]


class cuBLASModule:
    """Settings of products of matrices: ``allow_tf32`` and the like."""

    def __init__(self) -> None:
        settings = {
            "allow_tf32": TensorFloatSetting("matmul"),
            "fp32_precision": PrecisionSetting("cuda", "matmul"),
            "allow_fp16_accumulation": Setting(False),
            "allow_fp16_reduced_precision_reduction": Setting(True, _reduction),
            "allow_bf16_reduced_precision_reduction": Setting(True, _reduction),
        }
        object.__setattr__(self, "_settings", settings)

    def __getattr__(self, name: str) -> Any:
        settings: dict[str, Setting] = object.__getattribute__(self, "_settings")
        if name not in settings:
            raise AttributeError(f"backends.cuda.matmul has no setting {name!r}")
        return settings[name].get()

    def __setattr__(self, name: str, value: Any) -> None:
        settings: dict[str, Setting] = object.__getattribute__(self, "_settings")
        if name not in settings:
            raise AttributeError(f"backends.cuda.matmul has no setting {name!r}")
        settings[name].set(f"backends.cuda.matmul.{name}", value)


class cuFFTPlanCacheManager:
    """Plans of Fourier transforms, one cache for each GPU."""

    def __getattr__(self, name: str) -> Any:
        raise refusal(f"backends.cuda.cufft_plan_cache.{name}")

    def __getitem__(self, device: Any) -> Any:
        raise RuntimeError(f"cufft_plan_cache: there is no device {device!r}")


matmul: cuBLASModule = cuBLASModule()
cufft_plan_cache: cuFFTPlanCacheManager = cuFFTPlanCacheManager()


def _reader(name: str) -> Callable[[], bool]:
    def read() -> bool:
        return bool(_attention[name].get())

    read.__doc__ = f"Whether attention may use its {name} kernel on a GPU."
    return read


def _writer(name: str) -> Callable[[bool], None]:
    def write(enabled: bool) -> None:
        _attention[name].set(f"backends.cuda: {name} attention", enabled)

    write.__doc__ = f"Say whether attention may use its {name} kernel on a GPU."
    return write


flash_sdp_enabled: Callable[[], bool] = _reader("flash")
mem_efficient_sdp_enabled: Callable[[], bool] = _reader("mem_efficient")
math_sdp_enabled: Callable[[], bool] = _reader("math")
cudnn_sdp_enabled: Callable[[], bool] = _reader("cudnn")
fp16_bf16_reduction_math_sdp_allowed: Callable[[], bool] = _reader("reduced_math")
enable_flash_sdp: Callable[[bool], None] = _writer("flash")
enable_mem_efficient_sdp: Callable[[bool], None] = _writer("mem_efficient")
enable_math_sdp: Callable[[bool], None] = _writer("math")
enable_cudnn_sdp: Callable[[bool], None] = _writer("cudnn")
allow_fp16_bf16_reduction_math_sdp: Callable[[bool], None] = _writer("reduced_math")


@contextlib.contextmanager
def _attention_kernels(**allowed: bool) -> Iterator[dict[str, bool]]:
    before = {name: _attention[name].get() for name in allowed}
    for name, value in allowed.items():
        _attention[name].set(f"sdp_kernel: enable_{name}", boolean(name, value))
    try:
        yield {}
    finally:
        for name, value in before.items():
            _attention[name].value = value


def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> contextlib.AbstractContextManager[dict[str, bool]]:
    """A block in which attention may use these kernels only; now ``nn.attention.sdpa_kernel``."""
    warnings.warn(
        "torch.backends.cuda.sdp_kernel is deprecated: use torch.nn.attention.sdpa_kernel",
        FutureWarning,
        stacklevel=2,
    )
    return _attention_kernels(
        flash=enable_flash,
        math=enable_math,
        mem_efficient=enable_mem_efficient,
        cudnn=enable_cudnn,
    )


class SDPAParams:
    """The operands of an attention, for questions about its kernels."""

    def __init__(
        self,
        query: Any,
        key: Any,
        value: Any,
        attn_mask: Any,
        dropout: float,
        is_causal: bool,
        enable_gqa: bool,
    ) -> None:
        self.query = query
        self.key = key
        self.value = value
        self.attn_mask = attn_mask
        self.dropout = dropout
        self.is_causal = is_causal
        self.enable_gqa = enable_gqa


def can_use_flash_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether the kernel on a GPU can work on these operands."""
    return False


def can_use_efficient_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether the kernel on a GPU can work on these operands."""
    return False


def can_use_cudnn_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether the kernel on a GPU can work on these operands."""
    return False


def is_flash_attention_available() -> bool:
    """Whether this build holds the kernel for GPUs."""
    return False


def is_ck_sdpa_available() -> bool:
    """Whether this build holds the kernel for AMD's GPUs."""
    return False


class _LinalgBackend(enum.IntEnum):
    Default = 0
    Cusolver = 1
    Magma = 2


class _BlasBackend(enum.IntEnum):
    Default = 0
    Cublas = 1
    Cublaslt = 2
    Ck = 3


def _preferred(name: str, backend: Any, default: enum.IntEnum) -> Any:
    """The library in use, or a refusal: none of the others is part of this build."""
    choices = [each.name.lower() for each in type(default)]
    word = backend.name.lower() if isinstance(backend, type(default)) else backend
    if word is None or word in (default.name.lower(), "default"):
        return default
    if word not in choices:
        raise RuntimeError(f"{name}: expected one of {', '.join(choices)}, got {backend!r}")
    raise RuntimeError(f"{name}: {word} is not part of this build")


def preferred_linalg_library(backend: Any = None) -> Any:
    """The library of decompositions on GPUs."""
    return _preferred("preferred_linalg_library", backend, _LinalgBackend.Default)


def preferred_blas_library(backend: Any = None) -> Any:
    """The library of products on GPUs."""
    return _preferred("preferred_blas_library", backend, _BlasBackend.Cublas)
