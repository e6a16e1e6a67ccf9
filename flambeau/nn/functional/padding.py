"""Padding."""

from __future__ import annotations

from flambeau._C.nn.functional import pad

__all__ = ["pad"]
