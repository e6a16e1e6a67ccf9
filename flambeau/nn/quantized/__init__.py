"""The older place of ``torch.ao.nn.quantized``."""

from __future__ import annotations

from flambeau.ao.nn.quantized import *  # noqa: F403  all of its names
from flambeau.ao.nn.quantized import __all__ as __all__
