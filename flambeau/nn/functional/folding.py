"""Sliding blocks taken out of images, and put back."""

from __future__ import annotations

__all__: list[str] = []
