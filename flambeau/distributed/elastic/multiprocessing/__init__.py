"""Processes of such a job."""

from __future__ import annotations

from flambeau.distributed.elastic.multiprocessing import errors

__all__ = ["errors"]
