"""Module: what every network is made of."""

from __future__ import annotations

__all__: list[str] = []
