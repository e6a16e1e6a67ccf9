"""Mixed precision by its older names, with CUDA in their path."""

from flambeau.cuda.amp.autocast_mode import autocast, custom_bwd, custom_fwd
from flambeau.cuda.amp.common import amp_definitely_not_available
from flambeau.cuda.amp.grad_scaler import GradScaler

__all__ = [
    "GradScaler",
    "amp_definitely_not_available",
    "autocast",
    "custom_bwd",
    "custom_fwd",
]
