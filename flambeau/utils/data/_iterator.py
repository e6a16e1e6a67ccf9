"""Iterators over a loader: the common part, and the one that loads in the calling thread.

An iterator with workers is a subclass of `_BaseDataLoaderIter`, made with a loader and a state. In
its ``__init__`` it calls that of the base class, starts its workers, and then begins a pass with
``self._reset(loader)`` unless ``self._resumed``: then it goes on with the pass of `state`. It takes
work from ``self._next_task()``, a pair of position and indices, and calls
``self._epoch.delivered(position, worker, snapshot)`` when it returns the batch from
``self._next_data()``, which ends with StopIteration. The first batch is for the worker
``self._epoch.turn``, each further one for the next whose stream has not ended
(``self._epoch.ended``). The end of a worker's stream counts when its turn comes and no earlier: so
the order of the batches does not depend on time.

Worker w has the seed ``self._base_seed + w``. After `worker_init_fn` it makes its fetcher with
`_DatasetKind.create_fetcher`, whose `state` is ``self._worker_states[w].get("fetcher")``; where
there is ``self._worker_states[w]["random"]`` it then calls `randomness.restore` with that. After
each batch it sends what ``Snapshots(fetcher).take()`` returns. A worker that persists makes a new
fetcher and new `Snapshots` for each further pass and sends a snapshot before the first batch,
which goes to ``self._epoch.workers[w].update``.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from flambeau import _C
from flambeau.utils.data._epoch import Epoch
from flambeau.utils.data._utils import randomness
from flambeau.utils.data._utils.batching import index_batches
from flambeau.utils.data._utils.fetch import (
    Fetcher,
    _IterableDatasetFetcher,
    _MapDatasetFetcher,
    is_stateful,
)
from flambeau.utils.data._utils.pin_memory import pin_memory
from flambeau.utils.data.distributed import DistributedSampler
from flambeau.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
    fresh_seed,
)

if TYPE_CHECKING:
    from flambeau.utils.data.dataloader import DataLoader

# Samplers that draw neither from Python's nor from NumPy's generators.
_OWN_SAMPLERS = {
    DistributedSampler,
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
}


def is_own_sampler(sampler: Any) -> bool:
    """Whether a sampler, or that of its batches, is known to do what this package's do."""
    if type(sampler) is BatchSampler:
        sampler = sampler.sampler
    return type(sampler) in _OWN_SAMPLERS


class _DatasetKind:
    """Datasets by index or as a stream."""

    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(
        kind: int,
        dataset: Any,
        auto_collation: bool,
        collate_fn: Any,
        drop_last: bool,
        state: dict[str, Any] | None = None,
    ) -> Fetcher:
        """The fetcher for datasets of this kind."""
        fetcher = _MapDatasetFetcher if kind == _DatasetKind.Map else _IterableDatasetFetcher
        return fetcher(dataset, auto_collation, collate_fn, drop_last, state=state)


class _BaseDataLoaderIter:
    """One pass over a loader; one after the other where workers persist."""

    def __init__(self, loader: DataLoader[Any], state: dict[str, Any] | None = None) -> None:
        self._dataset = loader.dataset
        self._dataset_kind = loader._dataset_kind
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        self._auto_collation = loader._auto_collation
        self._drop_last = loader.drop_last
        self._index_sampler: Any = loader._index_sampler
        self._num_workers = loader.num_workers
        self._timeout = loader.timeout
        self._collate_fn = loader.collate_fn
        self._persistent_workers = loader.persistent_workers
        self._generators = loader._fb_generators()
        self._pin_memory = _wants_pinning(loader)
        self._worker_states: list[dict[str, Any]] = [{} for _ in range(self._num_workers)]
        self._resumed = state is not None and not state["finished"]
        self._replay: list[tuple[int, Any]] = []
        self._sampler_iter: Iterator[Any] = iter(())
        if state is None:
            self._begin(loader, Epoch(self._origin()))
        else:
            self._worker_states = state["workers"]
            if state["finished"]:
                self._worker_states = [_between_passes(worker) for worker in state["workers"]]
            self._resume(loader, state)

    @property
    def _base_seed(self) -> int:
        return self._epoch.base_seed

    @property
    def _num_yielded(self) -> int:
        return self._epoch.yielded

    def _origin(self) -> dict[str, Any]:
        """The states of all generators that the order of the samples can depend on."""
        return randomness.capture(self._generators, foreign=not is_own_sampler(self._index_sampler))

    def _begin(self, loader: DataLoader[Any], epoch: Epoch) -> None:
        """Start a pass. The draws and their order are PyTorch's, so the batches are the same."""
        epoch.ended = [False] * self._num_workers
        epoch.workers = epoch.workers or [{} for _ in range(self._num_workers)]
        self._epoch = loader._fb_epoch = epoch
        self._sampler_iter = iter(self._index_sampler)
        if epoch.seeded:
            epoch.base_seed = fresh_seed(loader.generator)
        self._note_stateful()
        self._open(None)

    def _reset(self, loader: DataLoader[Any]) -> None:
        """Start a pass whose workers have their seed already."""
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        last = self._epoch
        epoch = Epoch(self._origin(), last.base_seed, seeded=False, workers=last.workers)
        self._begin(loader, epoch)

    def _resume(self, loader: DataLoader[Any], state: dict[str, Any]) -> None:
        """Go on with the pass that `state` describes; generators stay where they are now."""
        self._epoch = loader._fb_epoch = epoch = Epoch.from_state(state)
        if epoch.finished:
            return
        self._replay = sorted(epoch.pending.items())
        saved = state["stateful"]
        if "sampler" in saved:
            self._stateful_sampler().load_state_dict(saved["sampler"])
        with randomness.borrowed(epoch.origin, self._generators):
            self._sampler_iter = iter(self._index_sampler)
            if epoch.seeded:
                fresh_seed(loader.generator)
            self._note_stateful()
            self._open(saved.get("fetcher"))
            if "sampler_iterator" in saved:
                epoch.stateful["sampler_iterator"].load_state_dict(saved["sampler_iterator"])
            elif "sampler" not in saved and self._dataset_kind == _DatasetKind.Map:
                next(itertools.islice(self._sampler_iter, epoch.issued, epoch.issued), None)

    def _stateful_sampler(self) -> Any:
        """The sampler that saves its own state, if there is one."""
        sampler = self._index_sampler
        if type(sampler) is BatchSampler:
            sampler = sampler.sampler
        return sampler if is_stateful(sampler) else None

    def _note_stateful(self) -> None:
        if is_stateful(self._sampler_iter):
            self._epoch.stateful["sampler_iterator"] = self._sampler_iter
        elif self._stateful_sampler() is not None:
            self._epoch.stateful["sampler"] = self._stateful_sampler()

    def _open(self, state: dict[str, Any] | None) -> None:
        """Prepare for the first batch, or for the one after `state`."""

    def _next_index(self) -> Any:
        indices = next(self._sampler_iter)
        self._epoch.issued += 1
        return indices

    def _next_task(self) -> tuple[int, Any]:
        """The position and the indices of the next batch for a worker."""
        if self._replay:
            return self._replay.pop(0)
        position = self._epoch.issued
        indices = self._next_index()
        if self._dataset_kind == _DatasetKind.Map:
            self._epoch.pending[position] = indices
        return position, indices

    def _next_data(self) -> Any:
        raise NotImplementedError

    def __iter__(self) -> _BaseDataLoaderIter:
        return self

    def __next__(self) -> Any:
        try:
            data = self._measured_next() if _C._is_profiling() else self._next_data()
        except StopIteration:
            self._epoch.finished = True
            raise
        self._epoch.yielded += 1
        if self._IterableDataset_len_called is not None:
            self._check_length()
        return data

    def _measured_next(self) -> Any:
        from flambeau.autograd.profiler import record_function

        with record_function(f"enumerate(DataLoader)#{type(self).__name__}.__next__"):
            return self._next_data()

    def _check_length(self) -> None:
        """Warn about a stream longer than its ``__len__``, once a program has asked for it."""
        told, given = self._IterableDataset_len_called, self._epoch.yielded
        if told is None or given <= told:
            return
        text = (
            f"Length of IterableDataset {self._dataset} was reported to be {told} "
            f"(when accessing len(dataloader)), but {given} samples have been fetched."
        )
        if self._num_workers > 0:
            text += (
                " With several workers each has a copy of the dataset: its __iter__ should ask "
                "get_worker_info() and give only the worker's part."
            )
        warnings.warn(text, stacklevel=3)

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__} cannot be pickled")


def _between_passes(worker: dict[str, Any]) -> dict[str, Any]:
    """The state of a worker at the end of its pass, for the start of the next."""
    fetcher = worker.get("fetcher", {})
    kept = {name: part for name, part in worker.items() if name != "fetcher"}
    if "dataset" in fetcher:
        kept["fetcher"] = {"dataset": fetcher["dataset"], "fetched": 0, "ended": False}
    return kept


def _wants_pinning(loader: DataLoader[Any]) -> bool:
    """Whether batches are pinned: only if there is a device that benefits."""
    if not loader.pin_memory:
        return False
    if loader.pin_memory_device:
        warnings.warn(
            "pin_memory_device is deprecated, the current accelerator will be used as the device, "
            f"ignore pin_memory_device='{loader.pin_memory_device}'.",
            stacklevel=5,
        )
    if _C._cuda_device_count() > 0:
        return True
    warnings.warn(
        "'pin_memory' argument is set as true but no accelerator is found, "
        "then device pinned memory won't be used.",
        stacklevel=5,
    )
    return False


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Loads each batch when it is asked for."""

    _dataset_fetcher: Fetcher

    def _open(self, state: dict[str, Any] | None) -> None:
        self._dataset_fetcher = _DatasetKind.create_fetcher(
            self._dataset_kind,
            self._dataset,
            self._auto_collation,
            self._collate_fn,
            self._drop_last,
            state,
        )
        self._epoch.stateful["fetcher"] = self._dataset_fetcher.position
        if getattr(self._dataset_fetcher, "rows", None) is not None:
            # Batches taken whole spare the conversion of indices to lists. Nothing is drawn yet.
            self._sampler_iter = index_batches(self._index_sampler) or self._sampler_iter

    def _next_data(self) -> Any:
        data = self._dataset_fetcher.fetch(self._next_index())
        return pin_memory(data) if self._pin_memory else data
