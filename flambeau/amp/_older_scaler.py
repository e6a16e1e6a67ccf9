"""The scaler by its older names, which have the device in their path."""

from __future__ import annotations

from typing import ClassVar

from flambeau.amp._deprecation import warn_of_device_path
from flambeau.amp.grad_scaler import GradScaler

__all__: list[str] = []


class OlderGradScaler(GradScaler):
    """``torch.<device>.amp.GradScaler``, of which each device has a class of its own."""

    _fb_path: ClassVar[str]

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        warn_of_device_path(self._fb_path, "GradScaler", f"'{self._fb_path}', args...")
        super().__init__(
            self._fb_path,
            init_scale=init_scale,
            growth_factor=growth_factor,
            backoff_factor=backoff_factor,
            growth_interval=growth_interval,
            enabled=enabled,
        )
