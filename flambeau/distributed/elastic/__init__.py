"""Jobs whose processes come and go; what programs import of it works in one process."""

from __future__ import annotations

from flambeau.distributed.elastic import multiprocessing

__all__ = ["multiprocessing"]
