"""Pipes that merge several into one, and split one into several."""

from __future__ import annotations

import copy as copying
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from flambeau.utils.data.datapipes.datapipe import IterDataPipe, functional_datapipe

__all__ = [
    "ConcaterIterDataPipe",
    "DemultiplexerIterDataPipe",
    "ForkerIterDataPipe",
    "MultiplexerIterDataPipe",
    "ZipperIterDataPipe",
]


class _Several(IterDataPipe):
    """A pipe of pipes."""

    def __init__(self, *datapipes: IterDataPipe) -> None:
        if not datapipes:
            raise ValueError(f"Expected at least one DataPipe, but got nothing: {self!r}")
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError("Expected all inputs to be `IterDataPipe`")
        self.datapipes = datapipes


@functional_datapipe("concat")
class ConcaterIterDataPipe(_Several):
    """The samples of one pipe after those of another."""

    def __iter__(self) -> Iterator[Any]:
        for pipe in self.datapipes:
            yield from pipe

    def __len__(self) -> int:
        return sum(map(len, self.datapipes))


@functional_datapipe("zip")
class ZipperIterDataPipe(_Several):
    """Tuples of one sample of each pipe, until one ends."""

    def __iter__(self) -> Iterator[Any]:
        return zip(*self.datapipes, strict=False)

    def __len__(self) -> int:
        return min(map(len, self.datapipes))


@functional_datapipe("mux")
class MultiplexerIterDataPipe(_Several):
    """One sample of each pipe in turn, until one ends."""

    def __iter__(self) -> Iterator[Any]:
        for samples in zip(*self.datapipes, strict=False):
            yield from samples

    def __len__(self) -> int:
        return min(map(len, self.datapipes)) * len(self.datapipes)


class _Shared:
    """One pass over a pipe for several readers, each with a queue of samples it has not seen.

    A reader that starts again starts a new pass for all.
    """

    def __init__(self, source: IterDataPipe, count: int, buffer_size: int) -> None:
        if count < 1:
            raise ValueError(f"Expected `num_instances` larger than 0, but {count} is found")
        if buffer_size == 0:
            raise ValueError("buffer_size must be positive, or -1 for no limit")
        self.source = source
        self.count = count
        self.buffer_size = buffer_size
        self.begin()

    def begin(self) -> None:
        self.samples: Iterator[Any] | None = None
        self.queues: list[deque[Any]] = [deque() for _ in range(self.count)]
        self.started = [False] * self.count

    def read(self, reader: int) -> Iterator[Any]:
        if self.started[reader]:
            self.begin()
        self.started[reader] = True
        if self.samples is None:
            self.samples = iter(self.source)
        samples, queues = self.samples, self.queues
        while True:
            if queues[reader]:
                yield queues[reader].popleft()
                continue
            try:
                sample = next(samples)
            except StopIteration:
                return
            self.distribute(sample, queues)
            if 0 < self.buffer_size < max(map(len, queues)):
                raise BufferError(
                    f"a reader is {self.buffer_size} samples ahead of another; raise buffer_size"
                )

    def distribute(self, sample: Any, queues: list[deque[Any]]) -> None:
        raise NotImplementedError


class _Copies(_Shared):
    def __init__(
        self, source: IterDataPipe, count: int, buffer_size: int, copy: str | None
    ) -> None:
        if copy not in (None, "shallow", "deep"):
            raise ValueError(f"Unknown copy method {copy!r}; expected None, 'shallow' or 'deep'")
        super().__init__(source, count, buffer_size)
        self.copy = {None: lambda x: x, "shallow": copying.copy, "deep": copying.deepcopy}[copy]

    def distribute(self, sample: Any, queues: list[deque[Any]]) -> None:
        for queue in queues:
            queue.append(self.copy(sample))


class _Classes(_Shared):
    def __init__(
        self,
        source: IterDataPipe,
        count: int,
        buffer_size: int,
        classify: Callable[[Any], int | None],
        drop_none: bool,
    ) -> None:
        super().__init__(source, count, buffer_size)
        self.classify = classify
        self.drop_none = drop_none

    def distribute(self, sample: Any, queues: list[deque[Any]]) -> None:
        place = self.classify(sample)
        if place is None and self.drop_none:
            return
        if place is None or not 0 <= place < len(queues):
            raise ValueError(
                f"Output of the classification fn should be between 0 and {len(queues) - 1}. "
                f"{place} is returned."
            )
        queues[place].append(sample)


class _Reader(IterDataPipe):
    """One of the pipes that `fork` and `demux` give."""

    def __init__(self, shared: _Shared, index: int) -> None:
        self.shared = shared
        self.index = index

    def __iter__(self) -> Iterator[Any]:
        return self.shared.read(self.index)

    def __len__(self) -> int:
        if not isinstance(self.shared, _Copies):
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        return len(self.shared.source)


@functional_datapipe("fork")
class ForkerIterDataPipe(IterDataPipe):
    """As many pipes as asked for, each with all samples."""

    def __new__(  # type: ignore[misc]
        cls,
        datapipe: IterDataPipe,
        num_instances: int,
        buffer_size: int = 1000,
        copy: str | None = None,
    ) -> list[IterDataPipe]:
        shared = _Copies(datapipe, num_instances, buffer_size, copy)
        return [_Reader(shared, index) for index in range(num_instances)]


@functional_datapipe("demux")
class DemultiplexerIterDataPipe(IterDataPipe):
    """As many pipes as asked for, each with the samples that a function gives its number to."""

    def __new__(  # type: ignore[misc]
        cls,
        datapipe: IterDataPipe,
        num_instances: int,
        classifier_fn: Callable[[Any], int | None],
        drop_none: bool = False,
        buffer_size: int = 1000,
    ) -> list[IterDataPipe]:
        shared = _Classes(datapipe, num_instances, buffer_size, classifier_fn, drop_none)
        return [_Reader(shared, index) for index in range(num_instances)]
