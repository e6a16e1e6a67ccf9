"""Results that are not there yet."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import flambeau as fb

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")


class Future(Generic[T]):
    """A value that somebody sets once and others wait for."""

    def __init__(self, *, devices: Any = None) -> None:
        for device in devices or ():
            if fb.device(device).type == "cpu":
                raise ValueError("Future: devices are those that results wait for, not the CPU")
            fb.empty(0, device=device)  # refuses one that there is not
        self._lock = threading.Condition()
        self._is_done = False
        self._value: Any = None
        self._error: Exception | None = None
        self._callbacks: list[Callable[[Future[T]], Any]] = []

    def done(self) -> bool:
        """Whether there is a value or an exception."""
        return self._is_done

    def wait(self) -> T:
        """Wait for the value and return it; an exception that was set is raised."""
        with self._lock:
            self._lock.wait_for(self.done)
        return self.value()

    def value(self) -> T:
        """The value, which must be there."""
        if not self._is_done:
            raise RuntimeError("Future.value: there is no value yet; call wait()")
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[no-any-return]

    def set_result(self, result: T) -> None:
        """Set the value."""
        self._finish(result, None)

    def set_exception(self, result: Exception) -> None:
        """Set an exception in place of a value."""
        if not isinstance(result, Exception):
            name = type(result).__name__
            raise AssertionError(f"Future.set_exception: expected an exception, got {name}")
        self._finish(None, result)

    def then(self, callback: Callable[[Future[T]], Any]) -> Future[Any]:
        """The result of ``callback``, which is called with this future once it is done."""
        after: Future[Any] = Future()

        def run(done: Future[T]) -> None:
            try:
                after.set_result(callback(done))
            except Exception as error:
                after.set_exception(error)

        self.add_done_callback(run)
        return after

    def add_done_callback(self, callback: Callable[[Future[T]], Any]) -> None:
        """Call ``callback`` with this future once it is done."""
        with self._lock:
            if not self._is_done:
                self._callbacks.append(callback)
                return
        callback(self)

    def _finish(self, value: Any, error: Exception | None) -> None:
        with self._lock:
            if self._is_done:
                raise RuntimeError("Future: the result has been set already, and is set only once")
            self._value, self._error, self._is_done = value, error, True
            self._lock.notify_all()
        for callback in self._callbacks:
            callback(self)


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """A future of all these futures, done when each of them is."""
    together: Future[list[Future[Any]]] = Future()
    missing = [len(futures)]
    lock = threading.Lock()

    def count(_: Future[Any]) -> None:
        with lock:
            missing[0] -= 1
            is_last = missing[0] == 0
        if is_last:
            together.set_result(futures)

    for future in futures:
        future.add_done_callback(count)
    if not futures:
        together.set_result(futures)
    return together


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """The values of all these futures."""
    return [future.wait() for future in collect_all(futures).wait()]
