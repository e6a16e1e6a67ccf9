"""Indexing by tensors inside functions that are mapped over batches."""

from __future__ import annotations

from flambeau.overrides import TorchFunctionMode

__all__ = ["TransformGetItemToIndex"]


class TransformGetItemToIndex(TorchFunctionMode):
    """A block in which ``x[i]`` works for a batched ``i``: here it does anyway."""
