"""Mixed precision by its older names, with the CPU in their path."""

from flambeau.cpu.amp.autocast_mode import autocast
from flambeau.cpu.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast"]
