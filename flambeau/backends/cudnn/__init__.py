"""Settings of cuDNN, NVIDIA's library of neural-network kernels, which computes convolutions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from flambeau import _C
from flambeau.backends._precision import OperatorPrecision, PrecisionSetting, TensorFloatSetting
from flambeau.backends._settings import (
    Setting,
    assign,
    keep_settings,
    one_of,
    temporarily,
)

__all__ = [
    "allow_tf32",
    "benchmark",
    "benchmark_limit",
    "conv",
    "depthwise_kernel",
    "deterministic",
    "enabled",
    "flags",
    "fp32_precision",
    "is_acceptable",
    "is_available",
    "rnn",
    "set_flags",
    "version",
]

enabled: bool
benchmark: bool
benchmark_limit: int
deterministic: bool
allow_tf32: bool
fp32_precision: str
depthwise_kernel: str

conv: OperatorPrecision = OperatorPrecision("cuda", "conv")
rnn: OperatorPrecision = OperatorPrecision("cuda", "rnn")


def is_available() -> bool:
    """Whether the library is there."""
    return version() is not None


def version() -> int | None:
    """Its version as a number: None without it, or without a GPU."""
    if _C._cuda_device_count() == 0:
        return None
    found = _C._cuda_convolutions()
    return None if found["missing"] else found["version"]


def is_acceptable(tensor: Any) -> bool:
    """Whether the library can work on this tensor."""
    takes = tensor.is_cuda and str(tensor.dtype).rpartition(".")[2] in _TYPES
    return takes and bool(sys.modules[__name__].enabled) and is_available()


def set_flags(
    _enabled: bool | None = None,
    _benchmark: bool | None = None,
    _benchmark_limit: int | None = None,
    _deterministic: bool | None = None,
    _allow_tf32: bool | None = None,
    _fp32_precision: str = "none",
    _depthwise_kernel: str | None = None,
) -> tuple[Any, ...]:
    """Assign several settings and return what they were."""
    values = {
        "enabled": _enabled,
        "benchmark": _benchmark,
        "benchmark_limit": _benchmark_limit,
        "deterministic": _deterministic,
        "allow_tf32": _allow_tf32,
        "fp32_precision": None if _fp32_precision == "none" else _fp32_precision,
        "depthwise_kernel": _depthwise_kernel,
    }
    return tuple(assign(sys.modules[__name__], values).values())


def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
    depthwise_kernel: str = "auto",
) -> AbstractContextManager[None]:
    """A block with these settings; those after it are the ones before."""
    return temporarily(
        __name__,
        enabled=enabled,
        benchmark=benchmark,
        benchmark_limit=benchmark_limit,
        deterministic=deterministic,
        allow_tf32=allow_tf32,
        fp32_precision=None if fp32_precision == "none" else fp32_precision,
        depthwise_kernel=depthwise_kernel,
    )


_TYPES = ("float16", "float32", "float64")  # as PyTorch lists them
_DEPTHWISE = ("auto", "cudnn", "native")


def _tells(name: str) -> Callable[[Any], None]:
    """What tells the kernels of a setting."""

    def tell(value: Any) -> None:
        _C._cudnn_set(name, _DEPTHWISE.index(value) if name == "depthwise" else int(value))

    return tell


def _limit(name: str, value: Any) -> Any:
    """How many kernels a benchmark tries: 0 for all of them."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise RuntimeError(f"{name}: expected a number that is not negative, got {value!r}")
    return value


keep_settings(
    __name__,
    {
        "enabled": Setting(True, act=_tells("enabled")),
        "benchmark": Setting(False, act=_tells("benchmark")),
        "benchmark_limit": Setting(10, _limit, _tells("benchmark_limit")),
        "deterministic": Setting(False, act=_tells("deterministic")),
        "allow_tf32": TensorFloatSetting("conv", "rnn"),
        "fp32_precision": PrecisionSetting("cuda"),
        "depthwise_kernel": Setting("auto", one_of(*_DEPTHWISE), _tells("depthwise")),
    },
)
