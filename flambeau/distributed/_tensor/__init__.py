"""The older place of ``torch.distributed.tensor``."""

from __future__ import annotations

from flambeau.distributed.tensor import *  # noqa: F403  all of its names
from flambeau.distributed.tensor import __all__ as __all__
