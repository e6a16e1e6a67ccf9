"""``torch.utils.deterministic``: how deterministic algorithms treat uninitialised memory."""

from __future__ import annotations

__all__: list[str] = []

# Memory of `empty` is not filled; no operator reads what it has not written.
fill_uninitialized_memory = True
