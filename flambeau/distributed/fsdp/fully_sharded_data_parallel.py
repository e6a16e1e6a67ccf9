"""The names of the package by the path that some programs import them from."""

from __future__ import annotations

from flambeau.distributed.fsdp import *  # noqa: F403  all of its names
from flambeau.distributed.fsdp import __all__ as __all__
