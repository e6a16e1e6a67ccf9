"""`DataLoader`: batches of a dataset in a given order, loaded here or by workers."""

from __future__ import annotations

import importlib
import itertools
import os
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from flambeau import Generator
from flambeau.utils.data._checks import (
    STATE_VERSION,
    check_order,
    check_state,
    check_workers,
    checked_context,
)
from flambeau.utils.data._iterator import (
    _BaseDataLoaderIter,
    _DatasetKind,
    _SingleProcessDataLoaderIter,
    is_own_sampler,
)
from flambeau.utils.data._utils import randomness
from flambeau.utils.data._utils.collate import default_collate, default_convert
from flambeau.utils.data._utils.worker import get_worker_info
from flambeau.utils.data.dataset import Indexed, IterableDataset
from flambeau.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flambeau.utils.data._epoch import Epoch

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

_T_co = TypeVar("_T_co", covariant=True)

# Attributes that other attributes were computed from, so that setting one alone would do harm.
_FIXED = {
    "batch_size",
    "batch_sampler",
    "sampler",
    "drop_last",
    "dataset",
    "persistent_workers",
}


class _InfiniteConstantSampler(Sampler[None]):
    """The sampler of a stream, which decides itself what comes next, and when it ends."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class DataLoader(Generic[_T_co]):
    """Iterate over batches of a dataset.

    A seed gives the same batches as in PyTorch. `state_dict` and `load_state_dict` stop a pass
    after any batch and resume it, even in another process.

    Args:
        dataset: `Dataset`, `IterableDataset`, or anything with `__getitem__` and `__len__`.
        batch_size: Number of samples in a batch; None gives single samples. Default: 1.
        shuffle: Whether to visit samples in a new random order in every pass. Default: False.
        sampler: Order of the samples, instead of `shuffle`. Default: by index.
        batch_sampler: Lists of indices, instead of `batch_size`, `shuffle`, `sampler` and
            `drop_last`. Default: None.
        num_workers: Number of workers that load batches in the background. Default: 0, which loads
            in the calling thread.
        collate_fn: Function that makes a batch of a list of samples. Default: `default_collate`,
            which stacks tensors.
        pin_memory: Whether tensors go to page-locked memory, for a GPU. Default: False.
        drop_last: Whether to leave a last batch out that is smaller. Default: False.
        timeout: Seconds to wait for a worker; 0 waits forever. Default: 0.
        worker_init_fn: Function of the worker's number that it calls at its start. Default: None.
        multiprocessing_context: How worker processes start, a context or its name. Default: the
            platform's.
        generator: Source of random numbers. Default: the default generator.
        prefetch_factor: Batches that each worker loads ahead. Default: 2.
        persistent_workers: Whether workers stay for the next pass. Default: False.
        pin_memory_device: Deprecated.
        in_order: Whether batches come in the order of the sampler. Default: True.
        worker_type: `"process"` (the default), or `"thread"` for datasets whose code releases the
            interpreter's lock.

    Raises:
        ValueError: Arguments exclude each other.

    Example:
        >>> from flambeau.utils.data import DataLoader, TensorDataset
        >>> data = TensorDataset(torch.arange(10.0).reshape(5, 2), torch.arange(5))
        >>> for x, y in DataLoader(data, batch_size=2):
        ...     print(tuple(x.shape), y)
        (2, 2) tensor([0, 1])
        (2, 2) tensor([2, 3])
        (1, 2) tensor([4])
        >>> len(DataLoader(data, batch_size=2, shuffle=True, drop_last=True))
        2

    See also:
        `utils.data.Dataset`, `utils.data.default_collate`, `DataLoader.state_dict`.
    """

    dataset: Any
    batch_size: int | None
    num_workers: int
    pin_memory: bool
    drop_last: bool
    timeout: float
    sampler: Any
    batch_sampler: Any
    pin_memory_device: str
    prefetch_factor: int | None
    _iterator: _BaseDataLoaderIter | None
    __initialized = False  # the name that PyTorch has, which some programs change

    def __init__(
        self,
        dataset: Indexed[_T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[Any] | Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
        worker_type: str = "process",
    ) -> None:
        check_workers(num_workers, timeout, prefetch_factor, persistent_workers, worker_type)
        streams = isinstance(dataset, IterableDataset)
        check_order(streams, batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self._fb_worker_type = worker_type
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self.generator = generator
        self._dataset_kind = _DatasetKind.Iterable if streams else _DatasetKind.Map

        if batch_sampler is not None:
            batch_size, drop_last = None, False
        if sampler is None:
            sampler = self._fb_default_sampler(bool(shuffle))
        if batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers

        self._IterableDataset_len_called: int | None = None
        self._iterator = None
        self._fb_epoch: Epoch | None = None
        self._fb_resume_from: dict[str, Any] | None = None
        self.__initialized = True
        self.check_worker_number_rationality()

    def _fb_default_sampler(self, shuffle: bool) -> Sampler[Any]:
        if self._dataset_kind == _DatasetKind.Iterable:
            return _InfiniteConstantSampler()
        if shuffle:
            return RandomSampler(self.dataset, generator=self.generator)
        return SequentialSampler(self.dataset)

    @property
    def multiprocessing_context(self) -> Any:
        """How worker processes are started: a context of `multiprocessing`, or None for its own."""
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        if context is not None:
            context = checked_context(context, self.num_workers)
        self.__multiprocessing_context = context

    def __setattr__(self, attr: str, val: Any) -> None:
        if self.__initialized and attr in _FIXED:
            raise ValueError(
                f"{attr} attribute should not be set after {type(self).__name__} is initialized; "
                "make a new loader instead"
            )
        super().__setattr__(attr, val)

    def __iter__(self) -> _BaseDataLoaderIter:
        if not (self.persistent_workers and self.num_workers > 0):
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    def _get_iterator(self) -> _BaseDataLoaderIter:
        state, self._fb_resume_from = self._fb_resume_from, None
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self, state)
        self.check_worker_number_rationality()
        # Loaded when needed: most programs never start a worker.
        workers = importlib.import_module("flambeau.utils.data._workers")
        kind = (
            workers.ThreadIterator if self._fb_worker_type == "thread" else workers.ProcessIterator
        )
        iterator: _BaseDataLoaderIter = kind(self, state)
        return iterator

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        """The sampler that is iterated: the batch sampler if there are batches."""
        return self.batch_sampler if self._auto_collation else self.sampler

    def __len__(self) -> int:
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        length = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)

    def check_worker_number_rationality(self) -> None:
        """Warn about more workers than processors."""
        processors = _processors()
        if self.num_workers > processors:
            warnings.warn(
                f"This DataLoader will create {self.num_workers} worker processes in total. Our "
                f"suggested max number of worker in current system is {processors}, which is "
                "smaller than what this DataLoader is going to create. More workers than "
                "processors slow each other down; lower num_workers if loading gets slow.",
                stacklevel=3,
            )

    def __getstate__(self) -> dict[str, Any]:
        # A copy, here or in another process, starts with a pass of its own.
        return {**self.__dict__, "_fb_epoch": None, "_iterator": None}

    def _fb_generators(self) -> list[Generator]:
        """The generators, beside the default one, that the order of the samples comes from."""
        batches = getattr(self.batch_sampler, "sampler", None)
        return randomness.generators_of(self, self.sampler, self.batch_sampler, batches)

    def _fb_batches(self) -> int | None:
        """The number of batches in every pass, unless a user's sampler decides it."""
        return len(self._index_sampler) if is_own_sampler(self._index_sampler) else None

    def state_dict(self) -> dict[str, Any]:
        """Return where the loader stands after the last batch, with all random generators.

        Loaded in another process, it gives the batches and random numbers that would have followed
        here. It is made of plain containers and tensors, so `torch.save` can write it.

        Example:
            >>> from flambeau.utils.data import DataLoader
            >>> loader = DataLoader(range(6), batch_size=2)
            >>> batches = iter(loader)
            >>> _ = next(batches)
            >>> resumed = DataLoader(range(6), batch_size=2)
            >>> resumed.load_state_dict(loader.state_dict())
            >>> list(resumed)
            [tensor([2, 3]), tensor([4, 5])]
        """
        epoch: dict[str, Any] | None = self._fb_resume_from
        if epoch is None and self._fb_epoch is not None:
            epoch = self._fb_epoch.state_dict()
        return {
            "version": STATE_VERSION,
            "num_workers": self.num_workers,
            "batches": self._fb_batches(),
            "length": self._IterableDataset_len_called,
            "random": randomness.capture(self._fb_generators()),
            "epoch": epoch,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Resume from a state: the next pass is the rest of the one that it was saved in.

        The generators of Python, NumPy and Flambeau are put back too.

        Args:
            state_dict: What `state_dict` returned.

        Example:
            >>> from flambeau.utils.data import DataLoader
            >>> loader = DataLoader(range(4), batch_size=2)
            >>> loader.load_state_dict(loader.state_dict())
        """
        generators = self._fb_generators()
        check_state(state_dict, self.num_workers, self._fb_batches(), len(generators))
        epoch = state_dict["epoch"]
        self._iterator = self._fb_epoch = self._fb_resume_from = None
        self._IterableDataset_len_called = state_dict["length"]
        if epoch is not None and (not epoch["finished"] or self.persistent_workers):
            self._fb_resume_from = epoch
        elif epoch is not None and "dataset" in epoch["stateful"].get("fetcher", {}):
            self.dataset.load_state_dict(epoch["stateful"]["fetcher"]["dataset"])
        randomness.restore(state_dict["random"], generators)


if not TYPE_CHECKING:

    def __getattr__(name):
        if name == "_MultiProcessingDataLoaderIter":  # what PyTorch calls it
            return importlib.import_module("flambeau.utils.data._workers").ProcessIterator
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _processors() -> int:
    """How many processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
