"""The older name of the scaler for CUDA devices."""

from __future__ import annotations

from flambeau.amp._older_scaler import OlderGradScaler
from flambeau.amp.grad_scaler import OptState

__all__ = ["GradScaler", "OptState"]


class GradScaler(OlderGradScaler):
    """Old name of `torch.amp.GradScaler("cuda", ...)`.

    Args:
        init_scale: First scale. Default: 65536.
        growth_factor: Factor by which the scale grows. Default: 2.
        backoff_factor: Factor by which it shrinks after an infinite gradient. Default: 0.5.
        growth_interval: Number of good steps before it grows. Default: 2000.
        enabled: Whether to scale at all. Default: True.

    Example:
        >>> import warnings
        >>> warnings.simplefilter("ignore", FutureWarning)  # deprecated, so it warns
        >>> scaler = torch.cuda.amp.GradScaler(enabled=torch.cuda.is_available())
        >>> scaler.scale(torch.tensor(2.0)) >= 2
        tensor(True)
    """

    _fb_path = "cuda"
