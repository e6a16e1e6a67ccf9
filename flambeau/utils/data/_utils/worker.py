"""Information for code that runs in a worker."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = [
    "WorkerInfo",
    "get_worker_info",
    "new_output",
    "places_outputs",
    "set_allocator",
    "set_worker_info",
]


@dataclass(frozen=True)
class WorkerInfo:
    """The worker that this code runs in: its number, seed and copy of the dataset.

    A worker that is a thread has its own generators in ``rng``: the global ones belong to all.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str = "multiprocessing"


class _Current:
    """A worker process is one in all its threads; a worker thread, alone."""

    process: WorkerInfo | None = None
    thread = threading.local()
    allocate: Callable[[tuple[int, ...], Any], Any] | None = None


def get_worker_info() -> WorkerInfo | None:
    """Return the worker that the caller runs in, or None outside of workers.

    Returns:
        A `WorkerInfo` with `id`, `num_workers`, `seed` and `dataset`.

    Example:
        >>> torch.utils.data.get_worker_info() is None
        True
    """
    return getattr(_Current.thread, "info", None) or _Current.process


def set_worker_info(info: WorkerInfo | None) -> None:
    """Declare this process, or by `worker_method` this thread, a worker, or no longer one."""
    if info is None:
        _Current.process = _Current.thread.info = None
    elif info.worker_method == "thread":
        _Current.thread.info = info
    else:
        _Current.process = info


def places_outputs() -> bool:
    """Whether this is a worker that says where its batches are written."""
    return _Current.allocate is not None


def new_output(model: Any, shape: tuple[int, ...]) -> Any:
    """A tensor like `model`, of this shape, in the worker's batch memory; None without any."""
    allocate = _Current.allocate
    if allocate is None or model.requires_grad:
        return None
    return allocate(shape, model.dtype)


def set_allocator(allocate: Callable[[tuple[int, ...], Any], Any] | None) -> None:
    """Have the batches of this worker process written to memory from `allocate(shape, dtype)`."""
    _Current.allocate = allocate
