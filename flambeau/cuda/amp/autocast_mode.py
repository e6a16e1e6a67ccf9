"""The older names of autocast for CUDA devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau.amp import autocast_mode
from flambeau.amp._deprecation import warn_of_device_path

__all__ = ["autocast", "custom_bwd", "custom_fwd"]


class autocast(autocast_mode.autocast):
    """Old name of `torch.autocast("cuda", ...)`.

    Args:
        enabled: Whether it is on. Default: True.
        dtype: Lower precision. Default: float16.
        cache_enabled: Whether converted weights are kept within the block. Default: True.

    Example:
        >>> import warnings
        >>> warnings.simplefilter("ignore", FutureWarning)  # deprecated, so it warns
        >>> with torch.cuda.amp.autocast(enabled=torch.cuda.is_available()):
        ...     y = nn.Linear(4, 2)(torch.ones(1, 4))
        >>> y.shape
        torch.Size([1, 2])
    """

    def __init__(
        self,
        enabled: bool = True,
        dtype: fb.dtype = fb.float16,
        cache_enabled: bool = True,
    ) -> None:
        warn_of_device_path("cuda", "autocast", "'cuda', args...")
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, cast_inputs: fb.dtype | None = None
) -> Any:
    """The older name of ``amp.custom_fwd(..., device_type="cuda")``."""
    warn_of_device_path("cuda", "custom_fwd", "args..., device_type='cuda'")
    return autocast_mode.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Callable[..., Any]) -> Any:
    """The older name of ``amp.custom_bwd(..., device_type="cuda")``."""
    warn_of_device_path("cuda", "custom_bwd", "args..., device_type='cuda'")
    return autocast_mode.custom_bwd(bwd, device_type="cuda")
