"""Fetchers of batches from a dataset, run by the loader itself or by its workers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from flambeau.utils.data._utils.batching import row_source

__all__ = ["Fetcher", "Position", "_IterableDatasetFetcher", "_MapDatasetFetcher", "is_stateful"]


def is_stateful(thing: Any) -> bool:
    """Whether a dataset, a sampler or an iterator of one can save its state and load it."""
    return callable(getattr(thing, "state_dict", None)) and callable(
        getattr(thing, "load_state_dict", None)
    )


class Position:
    """The position of a fetcher.

    It refers to the dataset and its iterator only if they save a state. So what it is kept for
    does not keep open a stream that nobody reads any more.
    """

    def __init__(self, dataset: Any, stream: Iterator[Any] | None = None) -> None:
        things = {"dataset": dataset, "iterator": stream}
        self._stateful = {name: thing for name, thing in things.items() if is_stateful(thing)}
        self._is_stream = stream is not None
        self.fetched = 0  # samples of a stream
        self.ended = False

    def state_dict(self) -> dict[str, Any]:
        """In plain containers; empty for most map-style datasets, which have no position."""
        state = {name: thing.state_dict() for name, thing in self._stateful.items()}
        if self._is_stream:
            state.update(fetched=self.fetched, ended=self.ended)
        return state


class Fetcher:
    """Turns indices from the sampler into a batch.

    A fetcher made with the state of another's `position` continues after that one's last
    batch.
    """

    position: Position

    def __init__(
        self,
        dataset: Any,
        auto_collation: bool,
        collate_fn: Callable[[Any], Any],
        drop_last: bool,
        state: dict[str, Any] | None = None,
    ) -> None:
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last
        if state is not None and "dataset" in state:
            dataset.load_state_dict(state["dataset"])

    def fetch(self, indices: Any) -> Any:
        """Return the batch of these indices; StopIteration when a stream has ended."""
        raise NotImplementedError


class _MapDatasetFetcher(Fetcher):
    """Batches of samples by index."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.position = Position(self.dataset)
        self.rows = row_source(self.dataset, self.collate_fn) if self.auto_collation else None

    def fetch(self, indices: Any) -> Any:
        dataset = self.dataset
        if not self.auto_collation:
            return self.collate_fn(dataset[indices])
        if self.rows is not None:
            batch = self.rows.batch(indices)
            if batch is not None:
                return batch
            if not isinstance(indices, list):
                indices = [int(index) for index in indices]
        if getattr(dataset, "__getitems__", None):
            return self.collate_fn(dataset.__getitems__(indices))
        return self.collate_fn([dataset[index] for index in indices])


class _IterableDatasetFetcher(Fetcher):
    """Batches of the next samples of a stream; of the indices only their number counts.

    A stream that saves no state is resumed by reading past the samples fetched before.
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.dataset_iter: Iterator[Any] = iter(self.dataset)
        self.position = Position(self.dataset, self.dataset_iter)
        state = keywords.get("state")
        if state is not None:
            self._go_on(state)

    def _go_on(self, state: dict[str, Any]) -> None:
        self.position.fetched = state["fetched"]
        self.position.ended = state["ended"]
        if "iterator" in state:
            self.dataset_iter.load_state_dict(state["iterator"])  # type: ignore[attr-defined]
        elif "dataset" not in state:
            for _ in range(state["fetched"]):
                next(self.dataset_iter, None)

    def fetch(self, indices: Any) -> Any:
        position = self.position
        if position.ended:
            raise StopIteration
        if not self.auto_collation:
            sample = next(self.dataset_iter)
            position.fetched += 1
            return self.collate_fn(sample)
        samples = list(itertools.islice(self.dataset_iter, len(indices)))
        position.fetched += len(samples)
        position.ended = len(samples) < len(indices)
        if not samples or (self.drop_last and position.ended):
            raise StopIteration
        return self.collate_fn(samples)
