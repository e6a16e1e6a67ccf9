"""Whole batches of a `TensorDataset`: one copy per tensor instead of one per sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import flambeau
from flambeau import Tensor
from flambeau.utils.data._utils import collate
from flambeau.utils.data._utils.worker import new_output, places_outputs
from flambeau.utils.data.dataset import Subset, TensorDataset
from flambeau.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler

__all__ = ["RowSource", "index_batches", "row_source"]


_IN_ORDER = flambeau.contiguous_format


class RowSource:
    """The rows of tensors, or those that `subset` names, as `default_collate` would stack them."""

    def __init__(self, dataset: TensorDataset, subset: Tensor | None) -> None:
        self._dataset = dataset
        self._subset = subset

    def batch(self, indices: Any) -> list[Tensor] | None:
        """The batch at a range, a tensor or a list of indices; None if they need the slow path.

        Negative or wrong indices do: samples asked for one by one wrap or report them.
        """
        try:
            if self._subset is not None:
                indices = _rows(self._subset, indices)
            return [_rows(tensor, indices) for tensor in self._dataset.tensors]
        except (IndexError, RuntimeError, TypeError, ValueError):
            return None


def _rows(tensor: Tensor, indices: Any) -> Tensor:
    """A copy of some rows of a tensor, in the worker's memory if it has any."""
    if type(indices) is range:
        rows = tensor[indices.start : indices.stop]
        out = new_output(rows, rows.shape)
        return rows.clone(memory_format=_IN_ORDER) if out is None else out.copy_(rows)
    if type(indices) is not Tensor:
        indices = flambeau.tensor(indices, device="cpu")
    if not places_outputs():
        return tensor.index_select(0, indices)
    out = new_output(tensor, (len(indices), *tensor.shape[1:]))
    return flambeau.index_select(tensor, 0, indices, out=out)


def _has_stacked_rows(tensor: Any) -> bool:
    """Whether rows of a tensor are stacked in memory order: channels-last images are not."""
    if type(tensor) is not Tensor or tensor.layout is not flambeau.strided:
        return False
    return tensor.dim() < 4 or tensor.is_contiguous()


def _subset_indices(dataset: Subset[Any]) -> Tensor | None:
    """The indices of a subset as a tensor, unless some are negative or no integers."""
    try:
        indices = flambeau.as_tensor(dataset.indices)
    except (RuntimeError, TypeError, ValueError):
        return None
    plain = indices.dim() == 1 and indices.dtype is flambeau.int64
    return indices if plain and len(indices) and int(indices.min()) >= 0 else None


def row_source(dataset: Any, collate_fn: Callable[[Any], Any]) -> RowSource | None:
    """Return how batches of `dataset` are taken whole, if that equals collating its samples.

    It does if nobody has changed what a sample is or how samples are collated: the types
    are exactly those of this package, and so is the collate function.
    """
    functions = collate.default_collate_fn_map
    if collate_fn is not collate.default_collate or (
        functions.get(Tensor) is not collate.collate_tensor_fn
    ):
        return None
    subset: Tensor | None = None
    while type(dataset) is Subset:
        indices = _subset_indices(dataset)
        if indices is None or (subset is not None and int(subset.max()) >= len(indices)):
            return None
        subset = indices if subset is None else indices[subset]
        dataset = dataset.dataset
    if type(dataset) is not TensorDataset or not all(map(_has_stacked_rows, dataset.tensors)):
        return None
    return RowSource(dataset, subset)


def index_batches(sampler: Any) -> Iterator[Any] | None:
    """The batches of a `BatchSampler` as ranges or tensors, which a `RowSource` takes as they are.

    None for samplers that are not exactly of this package. The draws are those of ``iter(sampler)``
    and are made no earlier.
    """
    if type(sampler) is not BatchSampler:
        return None
    if type(sampler.sampler) is SequentialSampler:
        return _ranges(len(sampler.sampler), sampler)
    if type(sampler.sampler) is RandomSampler:
        return _slices(sampler.sampler, sampler)
    return None


def _ranges(count: int, sampler: BatchSampler) -> Iterator[range]:
    size = sampler.batch_size
    end = count - count % size if sampler.drop_last else count
    return (range(start, min(start + size, end)) for start in range(0, end, size))


def _slices(indices: RandomSampler, sampler: BatchSampler) -> Iterator[Tensor]:
    size = sampler.batch_size
    rest: Tensor | None = None
    for block in indices._fb_blocks():
        joined = block if rest is None else flambeau.cat([rest, block])
        whole = len(joined) - len(joined) % size
        if whole:
            yield from joined[:whole].split(size)
        rest = joined[whole:]
    if rest is not None and len(rest) and not sampler.drop_last:
        yield rest
