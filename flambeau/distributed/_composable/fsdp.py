"""The older place of ``torch.distributed.fsdp.fully_shard``."""

from __future__ import annotations

from flambeau.distributed.fsdp import fully_shard

__all__ = ["fully_shard"]
