"""The older names of autocast for CPU devices."""

from __future__ import annotations

import flambeau as fb
from flambeau.amp import autocast_mode
from flambeau.amp._deprecation import warn_of_device_path

__all__ = ["autocast"]


class autocast(autocast_mode.autocast):
    """The older name of ``amp.autocast("cpu", ...)``."""

    def __init__(
        self,
        enabled: bool = True,
        dtype: fb.dtype = fb.bfloat16,
        cache_enabled: bool = True,
    ) -> None:
        warn_of_device_path("cpu", "autocast", "'cpu', args...")
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)
