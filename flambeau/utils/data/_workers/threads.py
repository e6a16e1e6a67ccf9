"""Worker threads, for datasets whose code releases the interpreter's lock.

They share the dataset and the program's memory, so nothing is copied or pickled. The global random
generators belong to all threads; each worker has its own as ``get_worker_info().rng``.
"""

from __future__ import annotations

import contextlib
import pickle
import queue
import threading
import weakref
from typing import TYPE_CHECKING, Any

from flambeau.utils.data._iterator import _DatasetKind
from flambeau.utils.data._utils.fetch import Fetcher
from flambeau.utils.data._utils.snapshot import Snapshots
from flambeau.utils.data._utils.worker import WorkerInfo, set_worker_info
from flambeau.utils.data._workers.errors import RemoteError
from flambeau.utils.data._workers.iterator import ENDED, WorkerIterator
from flambeau.utils.data._workers.seeding import OwnGenerators

if TYPE_CHECKING:
    from flambeau.utils.data.dataloader import DataLoader

__all__ = ["ThreadIterator"]

_Orders = queue.SimpleQueue[Any]


class ThreadIterator(WorkerIterator):
    """Batches loaded by threads."""

    _orders: list[_Orders]

    def _start_workers(self, loader: DataLoader[Any]) -> None:
        self._pass = 0
        self._reports: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._orders = [queue.SimpleQueue() for _ in range(self._num_workers)]
        for worker, orders in enumerate(self._orders):
            plan = _ThreadPlan(self, loader, worker)
            thread = threading.Thread(
                target=plan.run,
                args=(orders, self._reports),
                name=f"DataLoader worker {worker}",
                daemon=True,
            )
            thread.start()

    def _send(self, worker: int, position: int, indices: Any) -> None:
        self._orders[worker].put((self._pass, position, indices))

    def _receive(self) -> None:
        try:
            report = self._next_report()
        except KeyboardInterrupt as interrupt:
            raise interrupt from None  # whatever it came upon, an empty queue perhaps, is no news
        self._note(report)

    def _look_around(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self._note(self._reports.get_nowait())

    def _note(self, report: Any) -> None:
        number, worker, position, contents, snapshot = report
        if number != self._pass:
            return
        if position < 0:
            self._started += 1
            self._epoch.workers[worker].update(snapshot or {})
        else:
            self._arrived[position] = (contents, snapshot)

    def _next_report(self) -> Any:
        report = None
        for seconds in self._slices():
            with contextlib.suppress(queue.Empty):
                report = self._reports.get(timeout=seconds)
                break
        return report

    def _contents(self, worker: int, contents: Any) -> Any:
        return contents

    def _restart_workers(self, loader: DataLoader[Any]) -> None:
        self._begin_pass()

    def _shut_down(self) -> None:
        for each in self.__dict__.pop("_orders", []):
            each.put(None)


class _ThreadPlan:
    """What one thread does. It holds no reference to the iterator, whose end ends it.

    Whatever is raised is reported, SystemExit too: a loader waits for ever for a thread that ended.
    """

    def __init__(self, iterator: ThreadIterator, loader: DataLoader[Any], worker: int) -> None:
        seed = iterator._base_seed
        generators = OwnGenerators.seeded(seed, worker)
        self._info = WorkerInfo(
            worker, iterator._num_workers, seed + worker, iterator._dataset, generators, "thread"
        )
        self._init_fn = loader.worker_init_fn
        self._parts = (
            iterator._dataset_kind,
            iterator._dataset,
            iterator._auto_collation,
            iterator._collate_fn,
            iterator._drop_last,
        )
        self._state = iterator._worker_states[worker]
        if "generators" in self._state:
            generators.load_state_dict(self._state["generators"])
        self._generators = generators
        self._last: Any = None
        self._iterator = weakref.ref(iterator)
        self._where = f"in DataLoader worker thread {worker}"
        self._broken: RemoteError | None = None

    def run(self, orders: _Orders, reports: queue.SimpleQueue[Any]) -> None:
        """Run tasks until told to end."""
        set_worker_info(self._info)
        try:
            if self._init_fn is not None:
                self._init_fn(self._info.id)
            self._open(self._state.get("fetcher"))
        except BaseException as error:
            self._broken = RemoteError(error, self._where)
        for number, position, indices in iter(orders.get, None):
            if self._iterator() is None:
                return
            contents, snapshot = self._start_pass() if position < 0 else self._load(indices)
            reports.put((number, self._info.id, position, contents, snapshot))

    def _open(self, state: dict[str, Any] | None) -> None:
        self._fetcher: Fetcher = _DatasetKind.create_fetcher(*self._parts, state)
        self._snapshots = Snapshots(self._fetcher, draws=False)

    def _start_pass(self) -> tuple[None, Any]:
        try:
            if self._broken is None:
                self._open(None)
                return None, self._snapshot()
        except BaseException as error:
            self._broken = RemoteError(error, self._where)
        return None, None

    def _snapshot(self) -> Any:
        """What has changed since the last batch, with the worker's own generators."""
        snapshot = self._snapshots.take() or {}
        states = self._generators.states()
        if states != self._last:
            self._last = states
            snapshot["generators"] = pickle.dumps(self._generators.state_dict(states))
        return snapshot

    def _load(self, indices: Any) -> tuple[Any, Any]:
        if self._broken is not None:
            return self._broken, None
        try:
            return self._fetcher.fetch(indices), self._snapshot()
        except StopIteration as error:
            is_stream = self._parts[0] == _DatasetKind.Iterable
            return ENDED if is_stream else RemoteError(error, self._where), None
        except BaseException as error:
            return RemoteError(error, self._where), None
