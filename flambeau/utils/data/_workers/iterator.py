"""Distribution of work to workers, and of batches to the program in the right order."""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from flambeau.utils.data._iterator import _BaseDataLoaderIter
from flambeau.utils.data._utils.pin_memory import PinningThread
from flambeau.utils.data._workers.errors import RemoteError

if TYPE_CHECKING:
    from flambeau.utils.data.dataloader import DataLoader

__all__ = ["ENDED", "Arrived", "WorkerIterator"]


# A signal that comes just before a call that waits does not end the waiting. So nobody waits for
# longer than this many seconds at a time, or Ctrl-C might have to wait for a batch.
_SLICE = 0.25


class _Ended:
    """A worker's reply when its stream has ended."""


ENDED = _Ended()

# The batch, or why there is none, and the worker's snapshot.
Arrived = tuple[Any, Any]


class WorkerIterator(_BaseDataLoaderIter):
    """The common part of worker processes and threads.

    A worker is given `prefetch_factor` batches ahead. With `in_order` batches leave in the order of
    their positions, and those that are early wait; otherwise each leaves when it arrives.
    """

    _pass = 0  # of these workers: what they report of an earlier one is not wanted any more
    _started = 0  # workers that have begun it

    def __init__(self, loader: DataLoader[Any], state: dict[str, Any] | None = None) -> None:
        super().__init__(loader, state)
        self._in_order = loader.in_order
        self._prefetch = max(1, loader.prefetch_factor or 1)
        self._start_workers(loader)
        if self._pin_memory:
            self._pinning = PinningThread()
        if not self._resumed:
            super()._reset(loader)
        self._hand_out()

    def _start_workers(self, loader: DataLoader[Any]) -> None:
        raise NotImplementedError

    def _send(self, worker: int, position: int, indices: Any) -> None:
        """Give a worker a batch to load."""
        raise NotImplementedError

    def _receive(self) -> None:
        """Wait until at least one more batch is in ``self._arrived``."""
        raise NotImplementedError

    def _look_around(self) -> None:
        """Note the batches that have arrived, without waiting."""
        raise NotImplementedError

    def _slices(self) -> Iterator[float]:
        """Yield how long to wait for a batch, until the time limit is reached."""
        if self._timeout <= 0:
            yield from itertools.repeat(_SLICE)
        end = time.monotonic() + self._timeout
        while (left := end - time.monotonic()) > 0:
            yield min(left, _SLICE)
        raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")

    def _contents(self, worker: int, contents: Any) -> Any:
        """The batch that a worker has sent, made ready for the program."""
        raise NotImplementedError

    def _restart_workers(self, loader: DataLoader[Any]) -> None:
        """Tell persistent workers about a new pass, and wait until all have begun it."""
        raise NotImplementedError

    def _begin_pass(self) -> None:
        """Send every worker the order for a new pass; each reports when it has begun."""
        self._pass += 1
        self._started = 0
        for worker in range(self._num_workers):
            self._send(worker, -1, None)
        while self._started < self._num_workers:
            self._receive()

    def _shut_down(self) -> None:
        """End the workers; may be called again."""
        raise NotImplementedError

    def _reset(self, loader: DataLoader[Any]) -> None:
        super()._reset(loader)
        self._restart_workers(loader)
        self._hand_out()

    def _hand_out(self) -> None:
        """Hand out the first batches of a pass."""
        self._given: deque[tuple[int, int]] = deque()  # positions and their workers, in order
        self._arrived: dict[int, Arrived] = {}
        self._tasks = [0] * self._num_workers
        self._next_worker = self._epoch.turn
        self._exhausted = False
        self._fill()

    def _fill(self) -> None:
        """Hand out batches until every worker has its full number in advance."""
        ended = self._epoch.ended
        room = self._prefetch * (self._num_workers - sum(ended)) - len(self._given)
        while room > 0 and not self._exhausted:
            try:
                position, indices = self._next_task()
            except StopIteration:
                self._exhausted = True
                return
            worker = self._choose_worker()
            self._given.append((position, worker))
            self._tasks[worker] += 1
            self._send(worker, position, indices)
            room -= 1

    def _choose_worker(self) -> int:
        """The next worker in turn; out of order, the next one with room."""
        while True:
            worker = self._next_worker
            self._next_worker = (worker + 1) % self._num_workers
            has_room = self._in_order or self._tasks[worker] < self._prefetch
            if has_room and not self._epoch.ended[worker]:
                return worker

    def _next_data(self) -> Any:
        while True:
            if not self._given:
                if not self._persistent_workers:
                    self._shut_down()
                raise StopIteration
            place = self._next_place()
            if place is None:
                self._receive()
                continue
            position, worker = self._given[place]
            del self._given[place]
            self._tasks[worker] -= 1
            contents, snapshot = self._arrived.pop(position)
            if contents is ENDED:
                self._epoch.ended[worker] = True
                self._fill()
                continue
            self._epoch.delivered(position, worker, snapshot)
            self._fill()
            if isinstance(contents, RemoteError):
                contents.reraise()
            if isinstance(contents, Future):
                data = contents.result()
            else:
                data = self._contents(worker, contents)
                if self._pin_memory:
                    data = self._pinning.submit(data).result()
            if self._pin_memory:
                self._pin_ahead()
            return data

    def _pin_ahead(self) -> None:
        """Let the batches that have arrived be pinned while the program uses this one."""
        self._look_around()
        for position, worker in self._given:
            contents, snapshot = self._arrived.get(position, (ENDED, None))
            if contents is not ENDED and not isinstance(contents, (Future, RemoteError)):
                pinned = self._pinning.submit(self._contents(worker, contents))
                self._arrived[position] = pinned, snapshot

    def _next_place(self) -> int | None:
        """Return which batch leaves now; None as long as it has not arrived."""
        if self._in_order:
            return 0 if self._given[0][0] in self._arrived else None
        arrived = (i for i, (position, _) in enumerate(self._given) if position in self._arrived)
        return next(arrived, None)

    def __del__(self) -> None:
        if "_pinning" in self.__dict__:
            self._pinning.end()
        self._shut_down()
