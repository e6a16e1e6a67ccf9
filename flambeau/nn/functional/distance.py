"""Distances and similarities."""

from __future__ import annotations

from flambeau._C.nn.functional import cosine_similarity, pairwise_distance, pdist

__all__ = ["cosine_similarity", "pairwise_distance", "pdist"]
