"""The library that computes with 8-bit integers, by name."""

from __future__ import annotations

from typing import Any

from flambeau.backends._settings import Setting, keep_settings

__all__ = ["engine", "supported_engines"]

engine: str
supported_engines: list[str]

_ENGINES = ["qnnpack", "onednn", "x86", "fbgemm"]


def _engine(name: str, value: Any) -> str:
    if value not in _ENGINES:
        raise RuntimeError(f"{name}: expected one of {', '.join(_ENGINES)}, got {value!r}")
    return str(value)


def _fixed(name: str, value: Any) -> Any:
    raise RuntimeError(f"{name}: cannot be assigned")


keep_settings(
    __name__,
    {"engine": Setting("x86", _engine), "supported_engines": Setting(_ENGINES, _fixed)},
)
