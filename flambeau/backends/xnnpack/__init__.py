"""Settings of XNNPACK, a library that Flambeau does not use."""

from __future__ import annotations

from typing import Any

from flambeau.backends._settings import Setting, keep_settings

__all__ = ["enabled"]

enabled: bool


def _fixed(name: str, value: Any) -> Any:
    raise RuntimeError(f"{name}: cannot be assigned")


keep_settings(__name__, {"enabled": Setting(False, _fixed)})
