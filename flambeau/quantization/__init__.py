"""The older place of ``torch.ao.quantization``."""

from __future__ import annotations

from flambeau.ao.quantization import *  # noqa: F403  all of its names
from flambeau.ao.quantization import __all__ as __all__
