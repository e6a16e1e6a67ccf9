"""Elements or channels dropped by chance."""

from __future__ import annotations

__all__: list[str] = []
