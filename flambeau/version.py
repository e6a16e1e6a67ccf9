"""The version of the package, and of the PyTorch whose behaviour it follows."""

from __future__ import annotations

__version__ = "0.1.0"
torch = "2.13.0"
cuda: str | None = None
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
debug = False
