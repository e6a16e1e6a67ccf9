"""Whether there is anything that mixed precision on CUDA could run on."""

from __future__ import annotations

import flambeau as fb

__all__ = ["amp_definitely_not_available"]


def amp_definitely_not_available() -> bool:
    """Whether there is no CUDA device."""
    return not fb.cuda.is_available()
