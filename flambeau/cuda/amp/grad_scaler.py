"""The older name of the scaler for CUDA devices."""

from __future__ import annotations

from flambeau.amp import grad_scaler
from flambeau.amp._deprecation import warn_of_device_path
from flambeau.amp.grad_scaler import OptState

__all__ = ["GradScaler", "OptState"]


class GradScaler(grad_scaler.GradScaler):
    """The older name of ``amp.GradScaler("cuda", ...)``."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        warn_of_device_path("cuda", "GradScaler", "'cuda', args...")
        super().__init__(
            "cuda",
            init_scale=init_scale,
            growth_factor=growth_factor,
            backoff_factor=backoff_factor,
            growth_interval=growth_interval,
            enabled=enabled,
        )
