"""Programs written for PyTorch run on Flambeau, unmodified.

After ``install()``, ``import torch`` and ``import torchvision`` give Flambeau, in this process and
in those that it starts with :mod:`multiprocessing`. ``flambeau run train.py`` does the same for a
script, and ``flambeau run --audit train.py`` says beforehand which names it would miss.
"""

from __future__ import annotations

from flambeau.compat._audit import Audit, Missing, audit
from flambeau.compat._hook import install, is_installed, uninstall

__all__ = ["Audit", "Missing", "audit", "install", "is_installed", "uninstall"]
