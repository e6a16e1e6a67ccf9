"""The parts of a loader that also run in its workers."""

from flambeau.utils.data._utils import collate, fetch, pin_memory, worker

__all__ = ["collate", "fetch", "pin_memory", "worker"]
