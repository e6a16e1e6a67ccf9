"""Deprecation warnings of the older names, which have the device in their path."""

from __future__ import annotations

import warnings

__all__ = ["warn_of_device_path"]


def warn_of_device_path(device: str, name: str, arguments: str) -> None:
    """Warn that ``torch.<device>.amp.<name>`` is now ``torch.amp.<name>``."""
    warnings.warn(
        f"`torch.{device}.amp.{name}(args...)` is deprecated. "
        f"Please use `torch.amp.{name}({arguments})` instead.",
        FutureWarning,
        stacklevel=3,
    )
