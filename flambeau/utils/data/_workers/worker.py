"""The main loop of a worker process, until the loader closes the channel."""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import select
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import flambeau
from flambeau import _C, Tensor
from flambeau.utils.data._iterator import _DatasetKind
from flambeau.utils.data._utils import randomness
from flambeau.utils.data._utils.fetch import Fetcher
from flambeau.utils.data._utils.snapshot import Snapshots
from flambeau.utils.data._utils.worker import WorkerInfo, set_allocator, set_worker_info
from flambeau.utils.data._workers.arena import ArenaFile, BatchWriter
from flambeau.utils.data._workers.channel import Channel
from flambeau.utils.data._workers.errors import RemoteError
from flambeau.utils.data._workers.packing import Replacement
from flambeau.utils.data._workers.seeding import seed_process

__all__ = ["BATCH", "ENDED", "FAILED", "STARTED", "STARTING", "Plan", "run_worker"]

# What a worker reports: kind, number of the pass, position of the batch, contents, snapshot.
BATCH, FAILED, ENDED, STARTED = range(4)
# The progress of a worker: the position within a batch, or one of these.
_IDLE, STARTING = -1, -2


@dataclass
class Plan:
    """All that a worker has to know, in a form that can be sent to a new process."""

    worker: int
    num_workers: int
    base_seed: int
    dataset_kind: int
    root: Any  # has the dataset as `root.dataset`
    auto_collation: bool
    collate_fn: Callable[[Any], Any]
    drop_last: bool
    init_fn: Callable[[int], None] | None
    state: dict[str, Any]
    program: int  # the number of the process that the loader is in
    spare: int  # arenas to keep
    progress: Tensor  # where each worker writes which sample of a batch it is at
    replacements: list[Replacement] = field(default_factory=list)


class _Watched(list[Any]):
    """The indices of a batch, which record how far an iteration over them has come."""

    def __init__(self, indices: list[Any], progress: memoryview, worker: int) -> None:
        super().__init__(indices)
        self._progress = progress
        self._worker = worker

    def __iter__(self) -> Iterator[Any]:
        progress, worker = self._progress, self._worker
        for place, index in enumerate(super().__iter__()):
            progress[worker] = place
            yield index
        progress[worker] = _IDLE


class _Worker:
    def __init__(self, plan: Plan, channel: Channel, file: ArenaFile) -> None:
        self._plan = plan
        self._channel = channel
        self._writer = BatchWriter(file, plan.spare)
        self._progress = memoryview(plan.progress)
        self._broken: RemoteError | None = None  # what has failed before the first batch

    def run(self) -> None:
        set_allocator(self._writer.empty)
        self._prepare()
        self._progress[self._plan.worker] = _IDLE
        orders: deque[bytes] = deque()
        while True:
            while not orders:
                orders.extend(self._channel.receive())
            self._obey(pickle.loads(orders.popleft()))

    def _prepare(self) -> None:
        """Prepare for the first batch. Failures are reported in its place."""
        plan = self._plan
        try:
            if plan.init_fn is not None:
                plan.init_fn(plan.worker)
            self._open(plan.state.get("fetcher"))
            if "random" in plan.state:
                randomness.restore(plan.state["random"])
        except Exception as error:
            self._broken = self._remote(error)

    def _open(self, state: dict[str, Any] | None) -> None:
        plan = self._plan
        self._fetcher: Fetcher = _DatasetKind.create_fetcher(
            plan.dataset_kind,
            plan.root.dataset,
            plan.auto_collation,
            plan.collate_fn,
            plan.drop_last,
            state,
        )
        self._snapshots = Snapshots(self._fetcher)
        whole = getattr(self._fetcher, "rows", None) is not None
        self._watches = plan.auto_collation and plan.dataset_kind == _DatasetKind.Map
        self._watches &= not whole and not hasattr(plan.root.dataset, "__getitems__")

    def _obey(self, order: tuple[int, int, Any]) -> None:
        number, position, indices = order
        kind, contents, snapshot = self._start_pass() if position < 0 else self._load(indices)
        report = (kind, number, position, contents, snapshot)
        self._channel.send(pickle.dumps(report, protocol=5))

    def _start_pass(self) -> tuple[int, None, Any]:
        """Start again: persistent workers are told so between passes."""
        try:
            if self._broken is None:
                self._open(None)
                return STARTED, None, self._snapshots.take()
        except Exception as error:
            self._broken = self._remote(error)
        return STARTED, None, None

    def _load(self, indices: Any) -> tuple[int, Any, Any]:
        if self._broken is not None:
            return FAILED, self._broken, None
        try:
            contents = self._writer.write(self._fetch(indices))
            return BATCH, contents, self._snapshots.take()
        except Exception as error:
            self._writer.discard()
            is_stream = self._plan.dataset_kind == _DatasetKind.Iterable
            if is_stream and isinstance(error, StopIteration):
                return ENDED, None, None
            return FAILED, self._remote(error), None

    def _fetch(self, indices: Any) -> Any:
        if self._watches and type(indices) is list:
            indices = _Watched(indices, self._progress, self._plan.worker)
        return self._fetcher.fetch(indices)

    def _remote(self, error: Exception) -> RemoteError:
        """The error in a form that can be sent: of a class that the loader can find."""
        remote = RemoteError(error, f"in DataLoader worker process {self._plan.worker}")
        try:
            pickle.loads(pickle.dumps(remote.kind))
        except Exception:
            remote.kind = RuntimeError
        return remote


def _end_with(program: int) -> None:
    """End this process when the program is gone, whatever it is doing."""
    if os.getppid() == program:
        _C._end_with_parent(program)
        return
    # The parent is a fork server, or nobody.
    try:
        file = os.pidfd_open(program)
    except ProcessLookupError:
        os._exit(1)

    def watch() -> None:
        select.select([file], [], [])
        os._exit(1)

    threading.Thread(target=watch, name="watch over the program", daemon=True).start()


def run_worker(plan: Plan, channel: Channel, file: ArenaFile) -> None:
    """The main function of the process."""
    _C._outlive_interrupts()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a handler of the program is not for its workers
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    _end_with(plan.program)
    channel.hold(blocking=True)
    gc.freeze()  # a collection would write to, and so copy, the pages of every object there is
    for replacement in plan.replacements:
        replacement.apply()
    flambeau.set_num_threads(1)
    seed_process(plan.base_seed, plan.worker)
    set_worker_info(
        WorkerInfo(plan.worker, plan.num_workers, plan.base_seed + plan.worker, plan.root.dataset)
    )
    with contextlib.suppress(EOFError, ConnectionError):  # the loader has closed its end
        _Worker(plan, channel, file).run()
