"""Modules that hold modules or parameters."""

from __future__ import annotations

__all__: list[str] = []
