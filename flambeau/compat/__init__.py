"""Programs written for PyTorch run on Flambeau, unmodified.

After ``install()``, ``import torch`` and ``import torchvision`` give Flambeau, in this process and
in those that it starts with :mod:`multiprocessing`. ``flambeau run train.py`` does the same for a
script, and ``flambeau run --audit train.py`` says beforehand which names it would miss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flambeau.compat._hook import install, is_installed, uninstall

if TYPE_CHECKING:
    from flambeau.compat._audit import Audit, Missing, audit

__all__ = ["Audit", "Missing", "audit", "install", "is_installed", "uninstall"]


def __getattr__(name: str) -> Any:
    if name not in ("Audit", "Missing", "audit"):
        raise AttributeError(f"module 'flambeau.compat' has no attribute {name!r}")
    from flambeau.compat import _audit  # a program that only runs needs no audit

    return getattr(_audit, name)
