"""Dimensions made one, and one made several."""

from __future__ import annotations

__all__: list[str] = []
