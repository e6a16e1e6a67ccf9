"""Activation functions, and attention with several heads."""

from __future__ import annotations

__all__: list[str] = []
