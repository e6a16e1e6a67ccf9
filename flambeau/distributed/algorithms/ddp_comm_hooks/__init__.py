"""What becomes of gradients on their way to the other processes."""

from __future__ import annotations

from flambeau.distributed.algorithms.ddp_comm_hooks import (
    default_hooks,
    post_localSGD_hook,
    powerSGD_hook,
)

__all__ = ["default_hooks", "post_localSGD_hook", "powerSGD_hook"]
