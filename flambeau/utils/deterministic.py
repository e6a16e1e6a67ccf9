"""``torch.utils.deterministic``: what deterministic algorithms do to memory that nobody has set."""

from __future__ import annotations

__all__: list[str] = []

# Read by nothing: memory of `empty` is not filled, and no operator reads what it has not written.
fill_uninitialized_memory = True
