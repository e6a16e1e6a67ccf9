"""Pipes that batch, unbatch and group samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from flambeau.utils.data.datapipes.datapipe import DataChunk, IterDataPipe, functional_datapipe

__all__ = ["BatcherIterDataPipe", "GrouperIterDataPipe", "UnBatcherIterDataPipe"]


@functional_datapipe("batch")
class BatcherIterDataPipe(IterDataPipe):
    """Batches of ``batch_size`` samples; the last may be smaller, or is dropped."""

    def __init__(
        self,
        datapipe: IterDataPipe,
        batch_size: int,
        drop_last: bool = False,
        wrapper_class: Callable[[list[Any]], Any] = DataChunk,
    ) -> None:
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe = datapipe
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.wrapper_class = wrapper_class

    def __iter__(self) -> Iterator[Any]:
        batch: list[Any] = []
        for sample in self.datapipe:
            batch.append(sample)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)

    def __len__(self) -> int:
        count = len(self.datapipe)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


@functional_datapipe("unbatch")
class UnBatcherIterDataPipe(IterDataPipe):
    """The samples of batches, of batches of batches with ``unbatch_level=2``, of all with -1."""

    def __init__(self, datapipe: IterDataPipe, unbatch_level: int = 1) -> None:
        if unbatch_level < -1:
            raise ValueError(f"unbatch_level must be -1 or >= 0, got {unbatch_level}")
        self.datapipe = datapipe
        self.unbatch_level = unbatch_level

    def __iter__(self) -> Iterator[Any]:
        for element in self.datapipe:
            yield from self._fb_below(element, self.unbatch_level)

    def _fb_below(self, element: Any, level: int) -> Iterator[Any]:
        is_batch = isinstance(element, (list, DataChunk))
        if level == 0 or (level < 0 and not is_batch):
            yield element
            return
        if not is_batch:
            raise IndexError(
                f"unbatch_level {self.unbatch_level} exceeds the depth of the DataPipe"
            )
        for item in element:
            yield from self._fb_below(item, level - 1 if level > 0 else level)


@functional_datapipe("groupby")
class GrouperIterDataPipe(IterDataPipe):
    """Groups of samples with one key, each yielded when it or the buffer is full."""

    def __init__(
        self,
        datapipe: IterDataPipe,
        group_key_fn: Callable[[Any], Any],
        *,
        keep_key: bool = False,
        buffer_size: int = 10000,
        group_size: int | None = None,
        guaranteed_group_size: int | None = None,
        drop_remaining: bool = False,
    ) -> None:
        if group_size is not None and not 0 < group_size <= buffer_size:
            raise ValueError(f"group_size must be between 1 and buffer_size, got {group_size}")
        self.datapipe = datapipe
        self.group_key_fn = group_key_fn
        self.keep_key = keep_key
        self.max_buffer_size = buffer_size
        self.group_size = group_size
        self.guaranteed_group_size: int = guaranteed_group_size or group_size or 0
        self.drop_remaining = drop_remaining

    def _fb_given(self, key: Any, group: list[Any]) -> Any:
        return (key, DataChunk(group)) if self.keep_key else DataChunk(group)

    def __iter__(self) -> Iterator[Any]:
        groups: dict[Any, list[Any]] = {}
        held = 0
        for sample in self.datapipe:
            key = self.group_key_fn(sample)
            group = groups.setdefault(key, [])
            group.append(sample)
            held += 1
            if self.group_size is not None and len(group) == self.group_size:
                held -= len(group)
                yield self._fb_given(key, groups.pop(key))
            if held == self.max_buffer_size:
                biggest = max(groups, key=lambda each: len(groups[each]))
                if len(groups[biggest]) < self.guaranteed_group_size and not self.drop_remaining:
                    raise RuntimeError(
                        f"Failed to group items: the buffer of {self.max_buffer_size} is full "
                        f"and no group has {self.guaranteed_group_size}"
                    )
                full = groups.pop(biggest)
                held -= len(full)
                if len(full) >= self.guaranteed_group_size:
                    yield self._fb_given(biggest, full)
        for key, group in groups.items():
            if not self.drop_remaining or len(group) >= self.guaranteed_group_size:
                yield self._fb_given(key, group)
