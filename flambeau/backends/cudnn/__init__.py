"""Settings of NVIDIA's library of neural-network kernels, which this build does not use."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import Any

from flambeau.backends._precision import OperatorPrecision, PrecisionSetting, TensorFloatSetting
from flambeau.backends._settings import (
    Setting,
    anything,
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
benchmark_limit: Any
deterministic: bool
allow_tf32: bool
fp32_precision: str
depthwise_kernel: str

conv: OperatorPrecision = OperatorPrecision("cuda", "conv")
rnn: OperatorPrecision = OperatorPrecision("cuda", "rnn")


def is_available() -> bool:
    """Whether the library is there."""
    return False


def version() -> int | None:
    """Its version as a number: None without it."""
    return None


def is_acceptable(tensor: Any) -> bool:
    """Whether the library can work on this tensor."""
    return False


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


keep_settings(
    __name__,
    {
        "enabled": Setting(True),
        "benchmark": Setting(False),
        "benchmark_limit": Setting(None, anything),
        "deterministic": Setting(False),
        "allow_tf32": TensorFloatSetting("conv", "rnn"),
        "fp32_precision": PrecisionSetting("cuda"),
        "depthwise_kernel": Setting("auto", one_of("auto", "cudnn", "native")),
    },
)
