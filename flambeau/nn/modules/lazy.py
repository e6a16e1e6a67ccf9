"""Modules whose sizes the first input tells."""

from __future__ import annotations

__all__: list[str] = []
