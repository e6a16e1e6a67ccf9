"""Samplers: the orders they give, and what they refuse."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import flambeau as torch
from flambeau.utils.data import (
    BatchSampler,
    DistributedSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)


def test_sequential() -> None:
    sampler = SequentialSampler("abc")
    assert list(sampler) == [0, 1, 2]
    assert len(sampler) == 3


def test_random_is_a_permutation() -> None:
    sampler = RandomSampler(range(100))
    torch.manual_seed(0)
    first, second = list(sampler), list(sampler)
    assert sorted(first) == sorted(second) == list(range(100))
    assert first != second
    torch.manual_seed(0)
    assert list(sampler) == first


def test_random_more_often_than_there_are_samples() -> None:
    counts = Counter(RandomSampler(range(4), num_samples=10))
    assert sum(counts.values()) == 10
    assert set(counts.values()) <= {2, 3}
    drawn = list(RandomSampler(range(4), replacement=True, num_samples=100))
    assert len(drawn) == 100
    assert set(drawn) == {0, 1, 2, 3}


def test_nothing_is_drawn_before_the_first_index() -> None:
    for sampler in (
        RandomSampler(range(9)),
        SubsetRandomSampler(range(9)),
        WeightedRandomSampler([1.0, 2.0], 3),
    ):
        before = torch.get_rng_state()
        indices = iter(sampler)
        assert torch.equal(torch.get_rng_state(), before)
        next(indices)
        assert not torch.equal(torch.get_rng_state(), before)


def test_weighted() -> None:
    counts = Counter(WeightedRandomSampler([0.0, 1.0, 3.0], 4000))
    assert counts[0] == 0
    assert counts[2] / counts[1] == pytest.approx(3, rel=0.2)
    assert sorted(WeightedRandomSampler(torch.ones(3), 3, replacement=False)) == [0, 1, 2]


def test_subset_random() -> None:
    assert sorted(SubsetRandomSampler([7, 3, 5])) == [3, 5, 7]


def test_batches() -> None:
    assert list(BatchSampler(range(5), 2, False)) == [[0, 1], [2, 3], [4]]
    assert list(BatchSampler(range(5), 2, True)) == [[0, 1], [2, 3]]
    assert [len(BatchSampler(range(5), 2, drop)) for drop in (False, True)] == [3, 2]


def test_shares_of_processes() -> None:
    shares = [DistributedSampler(range(10), 4, rank) for rank in range(4)]
    assert {len(share) for share in shares} == {3}
    assert {i for share in shares for i in share} == set(range(10))
    whole = [DistributedSampler(range(10), 4, rank, drop_last=True) for rank in range(4)]
    assert {len(list(share)) for share in whole} == {2}
    assert list(DistributedSampler(range(5), 2, 1, shuffle=False)) == [1, 3, 0]
    first = list(shares[0])
    assert list(shares[0]) == first
    shares[0].set_epoch(1)
    assert list(shares[0]) != first


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: RandomSampler([1], replacement=1), TypeError, "replacement=1"),  # type: ignore[arg-type]
    (lambda: RandomSampler([]), ValueError, "num_samples=0"),
    (lambda: WeightedRandomSampler([1.0], 0), ValueError, "num_samples=0"),
    (lambda: WeightedRandomSampler([[1.0]], 1), ValueError, "have shape (1, 1)"),  # type: ignore[list-item]
    (lambda: BatchSampler([1], 0, False), ValueError, "batch_size=0"),
    (lambda: BatchSampler([1], True, False), ValueError, "batch_size=True"),
    (lambda: BatchSampler([1], 1, None), ValueError, "drop_last=None"),  # type: ignore[arg-type]
    (lambda: DistributedSampler([1], 2, 2), ValueError, "Invalid rank 2"),
    (lambda: iter(Sampler[int]()), NotImplementedError, "__iter__"),
]


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_refused(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        call()
