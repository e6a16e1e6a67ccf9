"""The module that belongs to a kind of device: ``torch.cuda`` for ``"cuda"``."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import flambeau as fb

__all__ = ["get_device_module"]


def get_device_module(device: Any = None) -> ModuleType:
    """``torch.cuda``, ``torch.cpu`` ... for a device; by default, for the best one available."""
    place = device.type if isinstance(device, fb.device) else device
    if place is None:
        place = "cuda" if fb.cuda.is_available() else "cpu"
    kind = str(place).partition(":")[0]
    if kind not in ("cpu", "cuda", "mps", "mtia", "xpu"):
        raise RuntimeError(f"get_device_module: there is no module for device {device!r}")
    return importlib.import_module(f"flambeau.{kind}")
