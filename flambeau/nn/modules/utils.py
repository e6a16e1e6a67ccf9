"""Numbers given once for all spatial dimensions."""

from __future__ import annotations

__all__: list[str] = []
