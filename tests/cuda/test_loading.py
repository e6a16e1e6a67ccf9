"""Loaders with pin_memory=True."""

import collections
import threading
from typing import Any, Literal

import pytest

import flambeau as fb
from flambeau.utils import data
from tests.cuda.moving import CUDA

Pair = collections.namedtuple("Pair", ["x", "y"])  # noqa: PYI024: as programs have it


class Numbers(data.Dataset[Any]):
    def __len__(self) -> int:
        return 23

    def __getitem__(self, index: int) -> Any:
        if index == 1000:
            raise ValueError("as it should")
        return {"x": fb.full((3,), float(index)), "name": f"n{index}", "pair": Pair(index, 2.0)}


def check(batches: list[Any]) -> None:
    assert [n for batch in batches for n in batch["name"]] == [f"n{i}" for i in range(23)]
    for batch in batches:
        assert batch["x"].is_pinned()
        assert batch["pair"].x.is_pinned()
        assert isinstance(batch["pair"], Pair)
        there = batch["x"].to(CUDA, non_blocking=True)
        assert there[:, 0].tolist() == [float(n) for n in batch["pair"].x]


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("kind", ["process", "thread"])
def test_batches_are_pinned(workers: int, kind: Literal["process", "thread"]) -> None:
    options: Any = {"worker_type": kind} if workers else {}
    loader = data.DataLoader(
        Numbers(), 4, num_workers=workers, pin_memory=True, timeout=120 if workers else 0, **options
    )
    for _ in range(2):
        check(list(loader))


def test_workers_that_stay() -> None:
    loader = data.DataLoader(
        Numbers(), 4, num_workers=2, pin_memory=True, persistent_workers=True, timeout=120
    )
    check(list(loader))
    first = next(iter(loader))  # and leave the pass
    assert first["x"].is_pinned()
    check(list(loader))


def test_the_thread_ends_with_the_loader() -> None:
    def pinning() -> list[str]:
        return [t.name for t in threading.enumerate() if t.name == "DataLoader pinning"]

    iterator = iter(data.DataLoader(Numbers(), 4, num_workers=1, pin_memory=True, timeout=120))
    next(iterator)
    assert len(pinning()) == 1
    del iterator
    for thread in threading.enumerate():
        if thread.name == "DataLoader pinning":
            thread.join(30)
    assert not pinning()


def test_errors_come_through() -> None:
    loader = data.DataLoader(
        Numbers(), None, sampler=[1, 1000], num_workers=1, pin_memory=True, timeout=120
    )
    with pytest.raises(ValueError, match="as it should"):
        list(loader)


class Own:
    """A batch of the user's own class."""

    def __init__(self, x: fb.Tensor) -> None:
        self.x = x

    def pin_memory(self) -> "Own":
        return Own(self.x.pin_memory())


def test_batches_of_an_own_class() -> None:
    loader = data.DataLoader(
        [1.0, 2.0], collate_fn=lambda items: Own(fb.tensor(items)), pin_memory=True
    )
    assert [batch.x.is_pinned() for batch in loader] == [True, True]
