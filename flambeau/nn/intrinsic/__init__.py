"""The older place of ``torch.ao.nn.intrinsic``."""

from __future__ import annotations

from flambeau.ao.nn.intrinsic import *  # noqa: F403  all of its names
from flambeau.ao.nn.intrinsic import __all__ as __all__
