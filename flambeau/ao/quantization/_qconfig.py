"""How a model is to be quantised, by name."""

from __future__ import annotations

from typing import Any, NamedTuple

import flambeau as fb

__all__: list[str] = []

_BACKENDS = ("fbgemm", "qnnpack", "onednn", "x86")


class QConfig(NamedTuple):
    """What watches activations and weights, to choose their ranges."""

    activation: Any
    weight: Any


default_qconfig: QConfig = QConfig(fb.quint8, fb.qint8)
default_qat_qconfig: QConfig = QConfig(fb.quint8, fb.qint8)
default_dynamic_qconfig: QConfig = QConfig(None, fb.qint8)
float16_dynamic_qconfig: QConfig = QConfig(None, fb.float16)


def get_default_qconfig(backend: str = "x86", version: int = 0) -> QConfig:
    """What suits a library."""
    return _checked("get_default_qconfig", backend, version, default_qconfig)


def get_default_qat_qconfig(backend: str = "x86", version: int = 1) -> QConfig:
    """The same for training."""
    return _checked("get_default_qat_qconfig", backend, version, default_qat_qconfig)


def _checked(name: str, backend: str, version: int, config: QConfig) -> QConfig:
    if version not in (0, 1):
        raise AssertionError(f"{name}: expected version 0 or 1, got {version}")
    if backend not in _BACKENDS:
        raise AssertionError(
            f"{name}: expected a backend of {', '.join(_BACKENDS)}, got {backend!r}"
        )
    return config
