"""Pipes that select samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from flambeau.utils.data._utils.worker import get_worker_info
from flambeau.utils.data.datapipes.datapipe import IterDataPipe, functional_datapipe

__all__ = ["FilterIterDataPipe", "ShardingFilterIterDataPipe"]


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe):
    """The samples that ``filter_fn`` holds for, called with them or with columns of them."""

    def __init__(
        self, datapipe: IterDataPipe, filter_fn: Callable[..., bool], input_col: Any = None
    ) -> None:
        self.datapipe = datapipe
        self.filter_fn = filter_fn
        self.input_col = input_col

    def _fb_holds(self, sample: Any) -> bool:
        if self.input_col is None:
            return self.filter_fn(sample)
        if isinstance(self.input_col, (list, tuple)):
            return self.filter_fn(*(sample[column] for column in self.input_col))
        return self.filter_fn(sample[self.input_col])

    def __iter__(self) -> Iterator[Any]:
        return (sample for sample in self.datapipe if self._fb_holds(sample))


def _check_group(group: Any) -> None:
    if group is not None:
        raise NotImplementedError(
            f"sharding_filter: there is one group of those who share a pipe, got {group!r}"
        )


@functional_datapipe("sharding_filter")
class ShardingFilterIterDataPipe(IterDataPipe):
    """Every n-th sample, where n workers of a loader share the pipe."""

    def __init__(self, source_datapipe: IterDataPipe, sharding_group_filter: Any = None) -> None:
        _check_group(sharding_group_filter)
        self.source_datapipe = source_datapipe
        self.num_of_instances: int = 1
        self.instance_id: int = 0

    def apply_sharding(
        self, num_of_instances: int, instance_id: int, sharding_group: Any = None
    ) -> None:
        """Say how many share the pipe, and which of them this one is."""
        _check_group(sharding_group)
        if instance_id >= num_of_instances:
            raise ValueError(
                f"instance_id({instance_id}) should be smaller than "
                f"num_of_instances({num_of_instances})"
            )
        self.num_of_instances = num_of_instances
        self.instance_id = instance_id

    def _fb_share(self) -> tuple[int, int]:
        worker = get_worker_info()
        if worker is None:
            return self.num_of_instances, self.instance_id
        count = self.num_of_instances * worker.num_workers
        return count, self.instance_id * worker.num_workers + worker.id

    def __iter__(self) -> Iterator[Any]:
        count, own = self._fb_share()
        for index, sample in enumerate(self.source_datapipe):
            if index % count == own:
                yield sample

    def __len__(self) -> int:
        count, own = self._fb_share()
        return (len(self.source_datapipe) - own + count - 1) // count
