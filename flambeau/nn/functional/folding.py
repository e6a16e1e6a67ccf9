"""Sliding windows of images, and their sum back into an image."""

from __future__ import annotations

from flambeau._C.nn.functional import fold, unfold

__all__ = ["fold", "unfold"]
