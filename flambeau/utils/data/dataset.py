"""Datasets: sources of samples, by index or as a stream, and combinations of datasets."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, Protocol, TypeVar, cast

from flambeau import Generator, Tensor, default_generator, randperm

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)


class Indexed(Protocol[_T_co]):
    """What gives a sample for an index: a `Dataset`, but also a list, a range or a dict."""

    def __getitem__(self, index: Any, /) -> _T_co: ...


class Dataset(Generic[_T_co]):
    """Base class of datasets that return a sample for an index.

    A subclass defines `__getitem__`, and `__len__` for samplers that need it. It may also define
    `__getitems__`, which takes the list of indices of a batch and returns the list of its samples.

    Example:
        >>> from flambeau.utils.data import DataLoader, Dataset
        >>> class Squares(Dataset):
        ...     def __len__(self):
        ...         return 4
        ...
        ...     def __getitem__(self, index):
        ...         return torch.tensor(index), torch.tensor(index**2)
        >>> Squares()[3]
        (tensor(3), tensor(9))
        >>> next(iter(DataLoader(Squares(), batch_size=4)))
        [tensor([0, 1, 2, 3]), tensor([0, 1, 4, 9])]

    See also:
        `utils.data.IterableDataset`, `utils.data.TensorDataset`, `utils.data.DataLoader`.
    """

    def __getitem__(self, index: Any) -> _T_co:
        raise NotImplementedError(f"{type(self).__name__} should implement __getitem__.")

    def __add__(self, other: Dataset[_T_co]) -> Dataset[_T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[_T_co], Iterable[_T_co]):
    """Base class of datasets that are streams.

    A subclass defines `__iter__`. With several workers each has a copy of the dataset, so
    `__iter__` asks `get_worker_info` for its part of the stream.

    Example:
        >>> from flambeau.utils.data import DataLoader, IterableDataset
        >>> class Count(IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(5))
        >>> list(DataLoader(Count(), batch_size=2))
        [tensor([0, 1]), tensor([2, 3]), tensor([4])]

    See also:
        `utils.data.Dataset`, `utils.data.get_worker_info`.
    """

    def __add__(self, other: Dataset[_T_co]) -> Dataset[_T_co]:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Dataset of the rows of tensors: sample i is the tuple of their i-th rows.

    Args:
        *tensors: Tensors with the same first size.

    Example:
        >>> from flambeau.utils.data import TensorDataset
        >>> data = TensorDataset(torch.tensor([[1.0], [2.0]]), torch.tensor([0, 1]))
        >>> len(data), data[1]
        (2, (tensor([2.]), tensor(1)))

    See also:
        `utils.data.DataLoader`, which takes whole batches of it at once.
    """

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensors[0].size(0) != tensor.size(0) for tensor in tensors):
            raise AssertionError(
                "Size mismatch between tensors: the first dimensions are "
                f"{[tensor.size(0) for tensor in tensors]}, and must be the same"
            )
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple([tensor[index] for tensor in self.tensors])

    def __len__(self) -> int:
        return self.tensors[0].size(0)


def _samples_of(dataset: Any, indices: list[Any]) -> Any:
    """Return the samples of a batch, all at once if the dataset can."""
    if callable(getattr(dataset, "__getitems__", None)):
        return dataset.__getitems__(indices)
    return [dataset[index] for index in indices]


class StackDataset(Dataset[Any]):
    """Datasets side by side: a sample is the tuple, or dict, of their samples.

    Args:
        *args: Datasets of the same length; samples are tuples.
        **kwargs: Datasets by name instead; samples are dicts.

    Example:
        >>> from flambeau.utils.data import StackDataset
        >>> StackDataset([1, 2], ["a", "b"])[1]
        (2, 'b')
        >>> StackDataset(x=[1, 2], y=["a", "b"])[1]
        {'x': 2, 'y': 'b'}
    """

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "StackDataset takes datasets either by position or by name, but got both: "
                f"{len(args)} by position and {', '.join(kwargs)} by name"
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        lengths = [len(dataset) for dataset in args or kwargs.values()]
        if any(length != lengths[0] for length in lengths):
            raise ValueError(f"Size mismatch between datasets: their lengths are {lengths}")
        self._length = lengths[0]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple([dataset[index] for dataset in self.datasets])

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        if isinstance(self.datasets, dict):
            columns = [self._fb_column(dataset, indices) for dataset in self.datasets.values()]
            return [
                dict(zip(self.datasets, row, strict=True)) for row in zip(*columns, strict=True)
            ]
        return list(zip(*(self._fb_column(each, indices) for each in self.datasets), strict=True))

    @staticmethod
    def _fb_column(dataset: Any, indices: list[Any]) -> Any:
        samples = _samples_of(dataset, indices)
        if len(samples) != len(indices):
            raise ValueError(
                "Nested dataset's output size mismatch. "
                f"Expected {len(indices)}, got {len(samples)} from {type(dataset).__name__}"
            )
        return samples

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[_T_co]):
    """Datasets one after the other.

    Args:
        datasets: The datasets, each with a length.

    Example:
        >>> from flambeau.utils.data import ConcatDataset
        >>> data = ConcatDataset([[1, 2], [3]])
        >>> len(data), data[2]
        (3, 3)

    See also:
        `utils.data.ChainDataset`, for streams.
    """

    datasets: list[Any]
    cumulative_sizes: list[int]

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Where each dataset ends."""
        return list(itertools.accumulate(len(dataset) for dataset in sequence))

    def __init__(self, datasets: Iterable[Indexed[_T_co]]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError(
                "ConcatDataset does not support IterableDataset; chain streams with ChainDataset"
            )
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> _T_co:
        if idx < 0:
            if -idx > len(self):
                raise ValueError(
                    "absolute value of index should not exceed dataset length: "
                    f"index {idx} of {len(self)} samples"
                )
            idx += len(self)
        number = bisect.bisect_right(self.cumulative_sizes, idx)
        if number:
            idx -= self.cumulative_sizes[number - 1]
        return cast(_T_co, self.datasets[number][idx])

    @property
    def cummulative_sizes(self) -> list[int]:
        """The old spelling of `cumulative_sizes`."""
        warnings.warn(
            "`cummulative_sizes` attribute is renamed to `cumulative_sizes`",
            FutureWarning,
            stacklevel=2,
        )
        return self.cumulative_sizes


class ChainDataset(IterableDataset[_T_co]):
    """Streams one after the other.

    Args:
        datasets: The `IterableDataset`s.

    Example:
        >>> from flambeau.utils.data import ChainDataset, IterableDataset
        >>> class Count(IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(2))
        >>> list(ChainDataset([Count(), Count()]))
        [0, 1, 0, 1]
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def _fb_streams(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError(
                    f"ChainDataset only supports IterableDataset, but got {type(dataset).__name__}"
                )
            yield dataset

    def __iter__(self) -> Iterator[_T_co]:
        for dataset in self._fb_streams():
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._fb_streams())


class Subset(Dataset[_T_co]):
    """Samples of a dataset at some of its indices.

    Args:
        dataset: The dataset.
        indices: Indices into it.

    Example:
        >>> from flambeau.utils.data import Subset
        >>> list(Subset(["a", "b", "c"], [2, 0]))
        ['c', 'a']

    See also:
        `utils.data.random_split`.
    """

    dataset: Any
    indices: Sequence[int]

    def __init__(self, dataset: Indexed[_T_co], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices
        kind = type(self)
        if kind.__getitem__ is not Subset.__getitem__ and kind.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(
                f"{kind.__name__} overrides __getitem__ but not __getitems__, which DataLoader "
                "calls for a batch. Define it too, for example as "
                "`return [self[index] for index in indices]`"
            )

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list[_T_co]:
        return cast(
            "list[_T_co]", _samples_of(self.dataset, [self.indices[idx] for idx in indices])
        )

    def __len__(self) -> int:
        return len(self.indices)


def _whole_numbers(fractions: Sequence[float], total: int) -> list[int]:
    """Lengths in the given proportions; the remainder of rounding goes to the first ones."""
    for i, fraction in enumerate(fractions):
        if fraction < 0 or fraction > 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1: {fraction}")
    lengths = [math.floor(total * fraction) for fraction in fractions]
    for i in range(total - sum(lengths)):
        lengths[i % len(lengths)] += 1
    for i, length in enumerate(lengths):
        if length == 0:
            warnings.warn(
                f"Length of split at index {i} is 0. This might result in an empty dataset.",
                stacklevel=3,
            )
    return lengths


def random_split(
    dataset: Indexed[_T], lengths: Sequence[float], generator: Generator | None = default_generator
) -> list[Subset[_T]]:
    """Split a dataset at random into subsets.

    Args:
        dataset: Dataset with a length.
        lengths: Lengths of the subsets, or fractions that sum to 1.
        generator: Source of random numbers. Default: the default generator.

    Returns:
        A list of `Subset`s.

    Raises:
        ValueError: The lengths do not sum to that of the dataset.

    Example:
        >>> from flambeau.utils.data import random_split
        >>> train, test = random_split(range(10), [0.8, 0.2])
        >>> len(train), len(test), sorted([*train, *test]) == list(range(10))
        (8, 2, True)
    """
    count = len(cast("Sized", dataset))
    total = sum(lengths)
    if math.isclose(total, 1) and total <= 1:
        lengths = _whole_numbers(lengths, count)
    if sum(lengths) != count:
        raise ValueError(
            "Sum of input lengths does not equal the length of the input dataset! "
            f"They are {list(lengths)}, and the dataset has {count} samples"
        )
    sizes = cast("Sequence[int]", lengths)
    indices = randperm(sum(sizes), generator=generator).tolist()
    return [
        Subset(dataset, indices[end - size : end])
        for end, size in zip(itertools.accumulate(sizes), sizes, strict=True)
    ]
