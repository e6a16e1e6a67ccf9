"""The digits of the package: counts, values, the split, and that they are the real ones."""

from __future__ import annotations

import pytest

import flambeau as fb
from flambeau.datasets import Digits
from flambeau.utils.data import DataLoader


def test_counts():
    train, test = Digits(train=True), Digits(train=False)
    assert (len(train), len(test)) == (1442, 355)
    assert train.images.shape == (1442, 1, 8, 8)
    assert train.labels.dtype == fb.int64
    assert test.images.min().item() == 0
    assert test.images.max().item() == 1


def test_split_is_stratified():
    train, test = Digits(train=True).labels.bincount(), Digits(train=False).labels.bincount()
    share = test / (train + test)
    assert len(share) == 10
    assert 0.19 < share.min().item() <= share.max().item() < 0.21


def test_first_picture():
    """The first line of the data set, a zero."""
    image, label = Digits(train=True)[0]
    assert label.item() == 0
    assert (image[0, 0] * 16).tolist() == [0, 0, 5, 13, 9, 1, 0, 0]
    assert (image[0, 7] * 16).tolist() == [0, 0, 6, 13, 10, 0, 0, 0]


def test_sum_of_everything():
    """The sum of all pixels as scikit-learn has them."""
    total = sum((Digits(train=train).images * 16).sum().item() for train in (True, False))
    assert total == 561718


@pytest.mark.parametrize("size", [16, 32])
def test_size(size: int):
    test = Digits(train=False, size=size)
    assert test.images.shape == (355, 1, size, size)
    small = Digits(train=False)
    # Scaling keeps the mean brightness but for the edges, where it repeats pixels.
    assert test.images.mean().item() == pytest.approx(small.images.mean().item(), rel=0.02)


def test_loads_in_batches():
    images, labels = next(iter(DataLoader(Digits(train=True), batch_size=16)))
    assert images.shape == (16, 1, 8, 8)
    assert labels.tolist()[:4] == [0, 1, 2, 3]
