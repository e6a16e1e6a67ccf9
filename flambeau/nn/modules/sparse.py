"""Embeddings: rows of a table picked by number."""

from __future__ import annotations

__all__: list[str] = []
