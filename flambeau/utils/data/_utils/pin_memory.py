"""Tensors of a batch copied into page-locked memory, from which a device reads faster."""

from __future__ import annotations

import queue
import threading
from concurrent.futures import Future
from typing import Any

import flambeau
from flambeau import _C
from flambeau.utils.data._utils.containers import map_items

__all__ = ["PinningThread", "pin_memory"]


def pin_memory(data: Any, device: Any = None) -> Any:
    """``data`` with every tensor in it pinned; ``device`` is PyTorch's and no longer asked for."""
    if isinstance(data, flambeau.Tensor) or hasattr(data, "pin_memory"):
        return data.pin_memory()
    return map_items(data, pin_memory, tuples=True)


class PinningThread:
    """Pins batches beside the program, in the order in which it is given them."""

    def __init__(self) -> None:
        self._tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        index = _C._cuda_current_device()
        threading.Thread(
            target=_pin_all, args=(self._tasks, index), name="DataLoader pinning", daemon=True
        ).start()

    def submit(self, data: Any) -> Future[Any]:
        """Give it a batch; the result is the pinned one."""
        future: Future[Any] = Future()
        self._tasks.put((data, future))
        return future

    def end(self) -> None:
        """Let the thread end when it has done what it was given."""
        self._tasks.put(None)


def _pin_all(tasks: queue.SimpleQueue[Any], index: int) -> None:
    _C._cuda_set_device(index)
    for data, future in iter(tasks.get, None):
        try:
            future.set_result(pin_memory(data))
        except BaseException as error:
            future.set_exception(error)
        del data, future  # or the last batch would live until the next one comes
