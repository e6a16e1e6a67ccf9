"""Settings of oneDNN, by its old name."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import Any

from flambeau._C import _build, _set_onednn_verbose
from flambeau._limits.accepted import accepted
from flambeau.backends._precision import OperatorPrecision, PrecisionSetting
from flambeau.backends._settings import Setting, assign, boolean, keep_settings, temporarily

__all__ = [
    "VERBOSE_OFF",
    "VERBOSE_ON",
    "VERBOSE_ON_CREATION",
    "allow_tf32",
    "conv",
    "deterministic",
    "enabled",
    "flags",
    "fp32_precision",
    "is_acl_available",
    "is_available",
    "matmul",
    "rnn",
    "set_flags",
    "verbose",
]

VERBOSE_OFF = 0
VERBOSE_ON = 1
VERBOSE_ON_CREATION = 2

enabled: bool
deterministic: bool
allow_tf32: bool | None
fp32_precision: str

matmul: OperatorPrecision = OperatorPrecision("mkldnn", "matmul")
conv: OperatorPrecision = OperatorPrecision("mkldnn", "conv")
rnn: OperatorPrecision = OperatorPrecision("mkldnn", "rnn")


class verbose:
    """A block whose calls oneDNN reports, and the making of its primitives at a higher level."""

    def __init__(self, level: int) -> None:
        self.level = level

    def __enter__(self) -> verbose:
        if self.level != VERBOSE_OFF and not _set_onednn_verbose(self.level):
            raise AssertionError("mkldnn.verbose: this build computes without oneDNN")
        return self

    def __exit__(self, *exc_info: object) -> None:
        _set_onednn_verbose(VERBOSE_OFF)


def _choose(enabled: Any) -> None:
    if not enabled:
        accepted("torch.backends.mkldnn.enabled", stacklevel=4)


def is_available() -> bool:
    """Whether this build computes with oneDNN."""
    return bool(_build()["onednn"])


def is_acl_available() -> bool:
    """Whether the library of kernels for Arm is there."""
    return False


def set_flags(
    _enabled: bool | None = None,
    _deterministic: bool | None = None,
    _allow_tf32: bool | None = None,
    _fp32_precision: str = "none",
) -> tuple[Any, ...]:
    """Assign several settings and return what they were."""
    values = {
        "enabled": _enabled,
        "deterministic": _deterministic,
        "allow_tf32": _allow_tf32,
        "fp32_precision": None if _fp32_precision == "none" else _fp32_precision,
    }
    return tuple(assign(sys.modules[__name__], values).values())


def flags(
    enabled: bool = False,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
) -> AbstractContextManager[None]:
    """A block with these settings; those after it are the ones before."""
    return temporarily(
        __name__,
        enabled=enabled,
        deterministic=deterministic,
        allow_tf32=allow_tf32,
        fp32_precision=None if fp32_precision == "none" else fp32_precision,
    )


keep_settings(
    __name__,
    {
        "enabled": Setting(True, act=_choose),
        "deterministic": Setting(False),
        "allow_tf32": Setting(None, boolean),
        "fp32_precision": PrecisionSetting("mkldnn"),
    },
)
