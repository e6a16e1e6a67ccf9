"""Map-style pipes: samples of a sequence mapped, joined, batched and shuffled."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from flambeau.utils.data.datapipes._shuffling import Shuffling
from flambeau.utils.data.datapipes.datapipe import (
    DataChunk,
    IterDataPipe,
    MapDataPipe,
    functional_datapipe,
)

__all__ = [
    "BatcherMapDataPipe",
    "ConcaterMapDataPipe",
    "MapperMapDataPipe",
    "SequenceWrapperMapDataPipe",
    "ShufflerIterDataPipe",
    "ZipperMapDataPipe",
]


class SequenceWrapperMapDataPipe(MapDataPipe):
    """The samples of a sequence or a mapping, of which a copy is taken."""

    def __init__(self, sequence: Any, deepcopy: bool = True) -> None:
        self.sequence: Any = copy.deepcopy(sequence) if deepcopy else sequence

    def __getitem__(self, index: Any) -> Any:
        return self.sequence[index]

    def __len__(self) -> int:
        return len(self.sequence)


@functional_datapipe("map")
class MapperMapDataPipe(MapDataPipe):
    """``fn`` of every sample."""

    def __init__(self, datapipe: MapDataPipe, fn: Callable[[Any], Any] = lambda x: x) -> None:
        self.datapipe: Any = datapipe
        self.fn = fn

    def __getitem__(self, index: Any) -> Any:
        return self.fn(self.datapipe[index])

    def __len__(self) -> int:
        return len(self.datapipe)


@functional_datapipe("concat")
class ConcaterMapDataPipe(MapDataPipe):
    """The samples of one pipe after those of another."""

    def __init__(self, *datapipes: MapDataPipe) -> None:
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        self.datapipes: Sequence[Any] = datapipes

    def __getitem__(self, index: int) -> Any:
        rest = index
        for pipe in self.datapipes:
            if rest < len(pipe):
                return pipe[rest]
            rest -= len(pipe)
        raise IndexError(f"Index {index} is out of range.")

    def __len__(self) -> int:
        return sum(map(len, self.datapipes))


@functional_datapipe("zip")
class ZipperMapDataPipe(MapDataPipe):
    """Tuples of the samples of each pipe at one key."""

    def __init__(self, *datapipes: MapDataPipe) -> None:
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        self.datapipes: Sequence[Any] = datapipes

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(pipe[index] for pipe in self.datapipes)

    def __len__(self) -> int:
        return min(map(len, self.datapipes))


@functional_datapipe("batch")
class BatcherMapDataPipe(MapDataPipe):
    """Batches of ``batch_size`` samples; the last may be smaller, or is dropped."""

    def __init__(
        self,
        datapipe: MapDataPipe,
        batch_size: int,
        drop_last: bool = False,
        wrapper_class: Callable[[list[Any]], Any] = DataChunk,
    ) -> None:
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe: Any = datapipe
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.wrapper_class = wrapper_class

    def __getitem__(self, index: int) -> Any:
        first = index * self.batch_size
        last = min(first + self.batch_size, len(self.datapipe))
        if last <= first or (self.drop_last and last - first < self.batch_size):
            raise IndexError(f"Index {index} is out of bound.")
        return self.wrapper_class([self.datapipe[i] for i in range(first, last)])

    def __len__(self) -> int:
        count = len(self.datapipe)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


class ShufflerIterDataPipe(Shuffling, IterDataPipe):
    """The samples at ``indices``, by default all, in random order."""

    def __init__(self, datapipe: MapDataPipe, *, indices: list[Any] | None = None) -> None:
        self.datapipe: Any = datapipe
        self.indices: list[Any] = list(range(len(self.datapipe))) if indices is None else indices

    def __iter__(self) -> Iterator[Any]:
        order = self.indices
        if self._enabled:
            order = self._fb_chance().sample(self.indices, len(self.indices))[::-1]
        for index in order:
            yield self.datapipe[index]

    def __len__(self) -> int:
        return len(self.datapipe)


# Which is asked of a pipe by key, and iterated over itself.
MapDataPipe.register_function("shuffle", ShufflerIterDataPipe)
