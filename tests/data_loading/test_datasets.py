"""Datasets and how they are put together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import flambeau as torch
from flambeau.utils import data


class Squares(data.Dataset[int]):
    """Samples by index."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> int:
        return index * index


class Letters(data.IterableDataset[str]):
    """A stream."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __iter__(self) -> Iterator[str]:
        return iter(self.text)

    def __len__(self) -> int:
        return len(self.text)


def test_tensor_dataset() -> None:
    x, y = torch.arange(6.0).reshape(3, 2), torch.tensor([7, 8, 9])
    dataset = data.TensorDataset(x, y)
    assert len(dataset) == 3
    row, label = dataset[1]
    assert row.tolist() == [2.0, 3.0]
    assert label.item() == 8
    assert [part.shape for part in dataset[1:]] == [(2, 2), (2,)]
    with pytest.raises(AssertionError, match=r"Size mismatch.*\[3, 2\]"):
        data.TensorDataset(x, y[:2])


def test_concat_dataset() -> None:
    both = Squares(3) + Squares(2)
    assert isinstance(both, data.ConcatDataset)
    assert [both[i] for i in range(len(both))] == [0, 1, 4, 0, 1]
    assert both[-1] == 1
    assert both.cumulative_sizes == [3, 5]
    with pytest.raises(ValueError, match="index -6 of 5 samples"):
        both[-6]
    with pytest.raises(AssertionError, match="ChainDataset"):
        data.ConcatDataset([Letters("a")])


def test_chain_dataset() -> None:
    chain = Letters("ab") + Letters("c")
    assert isinstance(chain, data.ChainDataset)
    assert list(chain) == ["a", "b", "c"]
    assert len(chain) == 3
    with pytest.raises(AssertionError, match="got Squares"):
        list(data.ChainDataset([Squares(1)]))


def test_stack_dataset() -> None:
    pair = data.StackDataset(Squares(3), range(3))
    assert pair[2] == (4, 2)
    named = data.StackDataset(square=Squares(3), index=range(3))
    assert named[2] == {"square": 4, "index": 2}
    assert named.__getitems__([2, 0]) == [{"square": 4, "index": 2}, {"square": 0, "index": 0}]
    with pytest.raises(ValueError, match=r"lengths are \[3, 2\]"):
        data.StackDataset(Squares(3), Squares(2))
    with pytest.raises(ValueError, match="1 by position and more by name"):
        data.StackDataset(Squares(3), more=Squares(3))


class Batched(Squares):
    """Knows how to fetch many samples at once."""

    def __getitems__(self, indices: list[int]) -> list[int]:
        return [1000 + index for index in indices]


def test_samples_of_a_batch_at_once() -> None:
    [batch] = data.DataLoader(Batched(3), batch_size=3)
    assert batch.tolist() == [1000, 1001, 1002]
    [batch] = data.DataLoader(data.Subset(Batched(9), [5, 3]), batch_size=3)
    assert batch.tolist() == [1005, 1003]
    stacked = data.StackDataset(Batched(2), Squares(2))
    assert stacked.__getitems__([0, 1]) == [(1000, 0), (1001, 1)]

    class Short(Squares):
        def __getitems__(self, indices: list[int]) -> list[int]:
            return []

    with pytest.raises(ValueError, match="Expected 2, got 0 from Short"):
        data.StackDataset(Short(2)).__getitems__([0, 1])


def test_subset_that_overrides_one_of_two() -> None:
    class Half(data.Subset[Any]):
        def __getitem__(self, idx: Any) -> Any:
            return 0

    with pytest.raises(NotImplementedError, match="Half overrides __getitem__"):
        Half(Squares(2), [0])


def test_random_split() -> None:
    generator = torch.Generator().manual_seed(42)
    parts = data.random_split(Squares(10), [3, 7], generator=generator)
    assert [len(part) for part in parts] == [3, 7]
    assert sorted(i for part in parts for i in part.indices) == list(range(10))
    lengths = [len(part) for part in data.random_split(Squares(11), [0.5, 0.25, 0.25])]
    assert lengths == [6, 3, 2]
    with pytest.warns(UserWarning, match="split at index 1 is 0"):
        data.random_split(Squares(2), [1.0, 0.0])
    with pytest.raises(ValueError, match=r"\[1, 2\].*4 samples"):
        data.random_split(Squares(4), [1, 2])


def test_dataset_without_samples() -> None:
    with pytest.raises(NotImplementedError, match="Dataset should implement __getitem__"):
        data.Dataset[Any]()[0]
