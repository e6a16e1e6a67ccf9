"""Softmax over very many classes."""

from __future__ import annotations

__all__: list[str] = []
