"""Rows of a table picked by number."""

from __future__ import annotations

from flambeau._C.nn.functional import embedding, embedding_bag

__all__ = ["embedding", "embedding_bag"]
