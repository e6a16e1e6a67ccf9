"""Samplers: the order in which a loader asks a dataset for its samples."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

import flambeau
from flambeau import Generator, Tensor

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

_T_co = TypeVar("_T_co", covariant=True)

# How many indices with replacement are drawn at a time, as PyTorch does: the stream of a generator
# depends on it.
_DRAWN_AT_ONCE = 32
_LISTED_AT_ONCE = 1 << 16


def fresh_seed(generator: Generator | None = None) -> int:
    """A seed drawn from `generator`, or from the default one."""
    drawn = flambeau.empty((), dtype=flambeau.int64, device="cpu").random_(generator=generator)
    return int(drawn.item())


class Sampler(Generic[_T_co]):
    """Base class of samplers: the order in which a loader asks for samples.

    A subclass defines `__iter__`, which yields indices or lists of them, and `__len__` where it
    can.

    Example:
        >>> from flambeau.utils.data import DataLoader, Sampler
        >>> class Backwards(Sampler):
        ...     def __init__(self, data):
        ...         self.data = data
        ...
        ...     def __iter__(self):
        ...         return iter(range(len(self.data) - 1, -1, -1))
        >>> list(DataLoader([1, 2, 3], sampler=Backwards([1, 2, 3])))
        [tensor([3]), tensor([2]), tensor([1])]

    See also:
        `utils.data.RandomSampler`, `utils.data.BatchSampler`.
    """

    def __iter__(self) -> Iterator[_T_co]:
        raise NotImplementedError(f"{type(self).__name__} should implement __iter__.")


class SequentialSampler(Sampler[int]):
    """Every index in order.

    Args:
        data_source: Dataset with a length.

    Example:
        >>> from flambeau.utils.data import SequentialSampler
        >>> list(SequentialSampler(["a", "b", "c"]))
        [0, 1, 2]
    """

    data_source: Sized

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Indices in random order.

    Args:
        data_source: Dataset with a length.
        replacement: Whether an index can be drawn again. Default: False.
        num_samples: Number of indices of one pass. Default: the length of the dataset.
        generator: Source of random numbers. Default: a new one for each pass, seeded by the
            default generator.

    Example:
        >>> from flambeau.utils.data import RandomSampler
        >>> sorted(RandomSampler(range(5)))
        [0, 1, 2, 3, 4]
        >>> len(list(RandomSampler(range(5), replacement=True, num_samples=8)))
        8

    See also:
        `utils.data.WeightedRandomSampler`, `utils.data.SubsetRandomSampler`.
    """

    data_source: Sized
    replacement: bool

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(
                "num_samples should be a positive integer value, "
                f"but got num_samples={self.num_samples}"
            )

    @property
    def num_samples(self) -> int:
        """How many indices one pass gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def _fb_blocks(self) -> Iterator[Tensor]:
        """The indices of one pass, in tensors of as many as are drawn at a time."""
        n, wanted = len(self.data_source), self.num_samples
        generator = self.generator
        if generator is None:
            generator = Generator().manual_seed(fresh_seed())
        if self.replacement:
            sizes = [_DRAWN_AT_ONCE] * (wanted // _DRAWN_AT_ONCE) + [wanted % _DRAWN_AT_ONCE]
            for size in sizes:
                yield flambeau.randint(
                    n, (size,), dtype=flambeau.int64, generator=generator, device="cpu"
                )
        else:
            for _ in range(wanted // n):
                yield flambeau.randperm(n, generator=generator, device="cpu")
            yield flambeau.randperm(n, generator=generator, device="cpu")[: wanted % n]

    def __iter__(self) -> Iterator[int]:
        # Nothing is drawn before the first index is asked for, no Python runs for each index, and
        # not all of them are objects at a time.
        parts = (part for block in self._fb_blocks() for part in block.split(_LISTED_AT_ONCE))
        return itertools.chain.from_iterable(map(Tensor.tolist, parts))

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Some indices in random order, each once.

    Args:
        indices: The indices.
        generator: Source of random numbers. Default: the default generator.

    Example:
        >>> from flambeau.utils.data import SubsetRandomSampler
        >>> sorted(SubsetRandomSampler([3, 1, 7]))
        [1, 3, 7]
    """

    indices: Sequence[int]

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        order = flambeau.randperm(
            len(self.indices), generator=self.generator, device="cpu"
        ).tolist()
        yield from map(self.indices.__getitem__, order)

    def __len__(self) -> int:
        return len(self.indices)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


class WeightedRandomSampler(Sampler[int]):
    """Indices drawn with given weights, as to balance classes.

    Args:
        weights: Weight of each index; they need not sum to 1.
        num_samples: Number of indices of one pass.
        replacement: Whether an index can be drawn again. Default: True.
        generator: Source of random numbers. Default: the default generator.

    Example:
        >>> from flambeau.utils.data import WeightedRandomSampler
        >>> list(WeightedRandomSampler([0.0, 1.0, 0.0], num_samples=3))
        [1, 1, 1]
    """

    weights: Tensor
    num_samples: int
    replacement: bool

    def __init__(
        self,
        weights: Sequence[float] | Tensor,
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        if not _is_count(num_samples):
            raise ValueError(
                f"num_samples should be a positive integer value, but got num_samples={num_samples}"
            )
        if not isinstance(replacement, bool):
            raise ValueError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        self.weights = flambeau.as_tensor(weights, dtype=flambeau.double)
        if self.weights.dim() != 1:
            raise ValueError(
                "weights should be a 1d sequence but given weights have shape "
                f"{tuple(self.weights.shape)}"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = flambeau.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        yield from drawn.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Batches of the indices of another sampler.

    Args:
        sampler: The other sampler.
        batch_size: Number of indices in a batch.
        drop_last: Whether to leave a last batch out that is smaller.

    Example:
        >>> from flambeau.utils.data import BatchSampler
        >>> list(BatchSampler(range(5), batch_size=2, drop_last=False))
        [[0, 1], [2, 3], [4]]
    """

    def __init__(
        self, sampler: Sampler[int] | Iterable[int], batch_size: int, drop_last: bool
    ) -> None:
        if not _is_count(batch_size):
            raise ValueError(
                f"batch_size should be a positive integer value, but got batch_size={batch_size}"
            )
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield batch

    def __len__(self) -> int:
        sampler: Any = self.sampler
        if self.drop_last:
            return len(sampler) // self.batch_size
        return -(-len(sampler) // self.batch_size)
