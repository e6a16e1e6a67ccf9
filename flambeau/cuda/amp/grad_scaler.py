"""The older name of the scaler for CUDA devices."""

from __future__ import annotations

from flambeau.amp._older_scaler import OlderGradScaler
from flambeau.amp.grad_scaler import OptState

__all__ = ["GradScaler", "OptState"]


class GradScaler(OlderGradScaler):
    """The older name of ``amp.GradScaler("cuda", ...)``."""

    _fb_path = "cuda"
