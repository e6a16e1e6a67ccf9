"""The older name of the scaler for CPU devices."""

from __future__ import annotations

from flambeau.amp._older_scaler import OlderGradScaler

__all__ = ["GradScaler"]


class GradScaler(OlderGradScaler):
    """The older name of ``amp.GradScaler("cpu", ...)``."""

    _fb_path = "cpu"
