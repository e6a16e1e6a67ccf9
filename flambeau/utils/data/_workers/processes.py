"""Worker processes: starting them, receiving from them, and noticing their end."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import select
import signal
import time
import types
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import flambeau
from flambeau.utils.data._workers.arena import ArenaFile, BatchReader
from flambeau.utils.data._workers.channel import Channel, open_channel
from flambeau.utils.data._workers.errors import death_message
from flambeau.utils.data._workers.iterator import ENDED, WorkerIterator
from flambeau.utils.data._workers.packing import packed_lists, swapped
from flambeau.utils.data._workers.worker import (
    BATCH,
    STARTED,
    STARTING,
    Plan,
    run_worker,
)
from flambeau.utils.data._workers.worker import ENDED as STREAM_ENDED

if TYPE_CHECKING:
    from flambeau.utils.data.dataloader import DataLoader

__all__ = ["ProcessIterator"]

# Seconds that a worker has to finish what it is doing: while the program waits, after that, and
# when the program is being interrupted.
_PATIENCE = 0.5
_GRACE = 5.0
_INTERRUPTED = 0.1
# How many indices of a batch an error shows.
_SHOWN = 16


class _Handle:
    """A worker process from the loader's point of view."""

    def __init__(self, context: Any, plan: Plan) -> None:
        self.number = plan.worker
        file = ArenaFile()
        self.reader = BatchReader(file)
        self.channel, theirs = open_channel()
        self.channel.hold(blocking=False)
        self.process = context.Process(
            target=run_worker,
            args=(plan, theirs, file),
            name=f"DataLoader worker {plan.worker}",
            daemon=True,
        )
        try:
            with warnings.catch_warnings():
                # Locks that other threads may hold now are taken care of: see core/allocator.cpp.
                warnings.filterwarnings("ignore", "This process .* is multi-threaded")
                self.process.start()
        except BaseException:
            self.channel.close()
            raise
        finally:
            theirs.close()
        self.pid: int = self.process.pid


# Processes that were told to end and have not yet, with their deadlines.
_leaving: list[tuple[Any, float]] = []


def _end(processes: list[Any], patience: float, grace: float) -> None:
    """Wait for processes whose channel is closed; those still busy get `grace` seconds more."""
    now = time.monotonic()
    for process in processes:
        process.join(max(0.0, now + patience - time.monotonic()))
    _leaving.extend((process, now + grace) for process in processes if process.is_alive())
    _see_off()


def _see_off() -> None:
    """Collect processes that have ended in the meantime, and kill those whose time is up."""
    for process, deadline in list(_leaving):
        if process.is_alive():
            if time.monotonic() < deadline:
                continue
            process.terminate()
            process.join(_PATIENCE)
            if process.is_alive():
                process.kill()
        process.join()
        _leaving.remove((process, deadline))


@contextlib.contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Block Ctrl-C: a child inherits that until it has learned to ignore it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class ProcessIterator(WorkerIterator):
    """Batches loaded by processes."""

    _workers: list[_Handle]

    def _start_workers(self, loader: DataLoader[Any]) -> None:
        _see_off()
        self._owner = os.getpid()
        self._pass = 0
        self._workers = []
        self._progress = flambeau.full((self._num_workers,), STARTING, device="cpu").share_memory_()
        context = loader.multiprocessing_context or multiprocessing.get_context()
        method = context.get_start_method()
        self._root = types.SimpleNamespace(dataset=loader.dataset)
        replacements = packed_lists(loader, self._root)
        # A forked child puts the packed lists in place itself; to others they are sent so.
        inherits = method == "fork"
        with _interrupts_wait(), contextlib.nullcontext() if inherits else swapped(replacements):
            for worker in range(self._num_workers):
                plan = self._plan(loader, worker)
                plan.replacements = replacements if inherits else []
                self._workers.append(_Handle(context, plan))
        self._poll = select.poll()
        self._by_file = {worker.channel.fileno(): worker for worker in self._workers}
        for file in self._by_file:
            self._poll.register(file, select.POLLIN)

    def _plan(self, loader: DataLoader[Any], worker: int) -> Plan:
        return Plan(
            worker=worker,
            num_workers=self._num_workers,
            base_seed=self._base_seed,
            dataset_kind=self._dataset_kind,
            root=self._root,
            auto_collation=self._auto_collation,
            collate_fn=self._collate_fn,
            drop_last=self._drop_last,
            init_fn=loader.worker_init_fn,
            state=self._worker_states[worker],
            program=self._owner,
            spare=self._prefetch + 2,
            progress=self._progress,
        )

    def _send(self, worker: int, position: int, indices: Any) -> None:
        handle = self._workers[worker]
        handle.channel.send(pickle.dumps((self._pass, position, indices), protocol=5))
        self._await(handle.channel)

    def _await(self, channel: Channel) -> None:
        """Poll for room as well as long as something waits to be sent."""
        waits = channel.flush()
        self._poll.modify(channel, select.POLLIN | (select.POLLOUT if waits else 0))

    def _receive(self) -> None:
        try:
            waits = (self._poll.poll(1000 * seconds) for seconds in self._slices())
            for file, event in next(filter(None, waits)):
                self._hear(self._by_file[file], event)
        except KeyboardInterrupt:
            self._give_up()
            raise

    def _look_around(self) -> None:
        for file, event in self._poll.poll(0):
            self._hear(self._by_file[file], event)

    def _hear(self, worker: _Handle, event: int) -> None:
        if event & select.POLLOUT:
            self._await(worker.channel)
        if event & ~select.POLLOUT:
            try:
                messages = worker.channel.receive()
            except EOFError:
                raise self._death_of(worker) from None
            for message in messages:
                self._note(worker, *pickle.loads(message))

    def _note(
        self, worker: _Handle, kind: int, number: int, position: int, contents: Any, snapshot: Any
    ) -> None:
        """Record a report, unless it belongs to a pass that the program has left."""
        if number != self._pass:
            if kind == BATCH:
                worker.reader.drop(contents)
        elif kind == STARTED:
            self._started += 1
            self._epoch.workers[worker.number].update(snapshot or {})
        else:
            self._arrived[position] = (ENDED if kind == STREAM_ENDED else contents, snapshot)

    def _contents(self, worker: int, contents: Any) -> Any:
        return self._workers[worker].reader.read(contents)

    def _restart_workers(self, loader: DataLoader[Any]) -> None:
        if "_workers" not in self.__dict__:  # one has died, and the program goes on
            self._start_workers(loader)
            return
        for position, worker in self._given:
            contents, _ = self._arrived.pop(position, (None, None))
            if isinstance(contents, tuple):
                self._workers[worker].reader.drop(contents)
        self._begin_pass()

    def _death_of(self, worker: _Handle) -> RuntimeError:
        worker.process.join(_PATIENCE)
        place = int(self._progress[worker.number])
        text = death_message(
            worker.number,
            worker.pid,
            worker.process.exitcode,
            self._samples_at(worker.number, place),
            is_starting=place == STARTING,
        )
        self._give_up()
        return RuntimeError(text)

    def _give_up(self) -> None:
        """End at once: no batch will come any more."""
        self._given.clear()
        self._shut_down(_INTERRUPTED, grace=0.0)

    def _samples_at(self, worker: int, place: int) -> str:
        """The oldest batch that the worker was given and has not sent."""
        for position, owner in self._given:
            if owner == worker and position not in self._arrived:
                indices = self._epoch.pending.get(position)
                if indices is None:
                    return "the next samples of its stream"
                if not isinstance(indices, list):
                    return f"sample {indices}"
                shown = ", ".join(map(str, indices[:_SHOWN]))
                more = ", ..." if len(indices) > _SHOWN else ""
                batch = f"the batch of samples [{shown}{more}]"
                known = 0 <= place < len(indices)
                return f"sample {indices[place]} of {batch}" if known else batch
        return "nothing"

    def _shut_down(self, patience: float = _PATIENCE, grace: float = _GRACE) -> None:
        workers = self.__dict__.pop("_workers", [])
        if not workers or os.getpid() != self._owner:  # a forked child has only a copy of this
            return
        for worker in workers:
            worker.channel.close()
        _end([worker.process for worker in workers], patience, grace)
