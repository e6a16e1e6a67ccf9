"""Linear maps of the last dimension."""

from __future__ import annotations

from flambeau._C.nn.functional import bilinear, linear

__all__ = ["bilinear", "linear"]
