"""Ways to exchange gradients."""

from __future__ import annotations

from flambeau.distributed.algorithms import ddp_comm_hooks, join

__all__ = ["ddp_comm_hooks", "join"]
