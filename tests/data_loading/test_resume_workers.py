"""The state of a loader with workers: each of them goes on where it was."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pytest

import flambeau as torch
from flambeau.utils import data
from tests.data_loading.test_resume import CASES, KIT, resume, train

EPOCHS = 2
DRAWING = [
    "drawing, shuffled",
    "drawing, lazy",
    "drawing, unbatched",
    "drawing, generator",
    "stack, shuffled, drop_last",
    "stream, batches",
    "stream, whole batches",
    "stream, unbatched",
    "chain, generator",
]
QUIET = ["tensors, shuffled", "subset, eager", "list, twice round", "concat, replacement"]
PERSISTENT = {"persistent_workers": True}
KINDS: dict[str, dict[str, Any]] = {
    "processes": {},
    "persistent processes": PERSISTENT,
    "threads": {"worker_type": "thread"},
    "persistent threads": {"worker_type": "thread", **PERSISTENT},
}


def check_resumed(name: str, stops: int, **options: Any) -> None:
    def make() -> Any:
        return CASES[name](num_workers=2, **options)

    KIT.seed(1)
    whole, _ = train(make(), EPOCHS)
    length = len(whole) // EPOCHS
    for stop in range(1, len(whole), max(1, len(whole) // stops)):
        KIT.seed(1)
        _, saved = train(make(), EPOCHS, stop)
        left = EPOCHS - (stop - 1) // length
        assert resume(make(), saved, left) == whole[stop:], f"stopped after batch {stop}"


@pytest.mark.parametrize("name", DRAWING)
@pytest.mark.parametrize("kind", ["processes", "persistent processes"])
def test_processes(kind: str, name: str) -> None:
    check_resumed(name, 3, **KINDS[kind])


@pytest.mark.parametrize("name", QUIET)
@pytest.mark.parametrize("kind", KINDS)
def test_datasets_that_draw_nothing(kind: str, name: str) -> None:
    check_resumed(name, 2, **KINDS[kind])


class OwnDraws(data.Dataset[Any]):
    """Augments from the generators that a thread has of its own."""

    def __len__(self) -> int:
        return 20

    def __getitem__(self, index: int) -> Any:
        worker = data.get_worker_info()
        assert worker is not None
        rng: Any = worker.rng
        return (
            index,
            torch.rand(2, generator=rng.torch_generator),
            rng.random_generator.gauss(0, 1),
            rng.numpy_generator.random(),
        )


@pytest.mark.parametrize("kind", ["threads", "persistent threads"])
def test_generators_of_threads(kind: str) -> None:
    def make() -> Any:
        return data.DataLoader(OwnDraws(), 3, shuffle=True, num_workers=2, **KINDS[kind])

    for stop in (1, 4, 7, 9):
        KIT.seed(1)
        whole, saved = train(make(), EPOCHS, stop)
        left = EPOCHS - (stop - 1) // 7
        assert resume(make(), saved, left) == whole[stop:]


class Counting(data.IterableDataset[int]):
    """A stream that knows where it is."""

    def __init__(self) -> None:
        self.next = 0

    def __iter__(self) -> Iterator[int]:
        worker = data.get_worker_info()
        assert worker is not None
        while self.next < 9:
            self.next += 1
            yield 100 * worker.id + self.next
        self.next = 0

    def state_dict(self) -> dict[str, int]:
        return {"next": self.next}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.next = state["next"]


@pytest.mark.parametrize("options", [{}, PERSISTENT], ids=["fresh", "persistent"])
def test_streams_that_save_their_own_state(options: dict[str, Any]) -> None:
    def make() -> Any:
        return data.DataLoader(Counting(), 2, num_workers=2, **options)

    for stop in (1, 4, 9):
        KIT.seed(1)
        whole, saved = train(make(), 1, stop)
        assert resume(make(), saved, 1) == whole[stop:]


def test_killed_in_between() -> None:
    """The state is of the batches that were delivered, not of those under way."""
    make = CASES["drawing, shuffled"]
    KIT.seed(1)
    whole, _ = train(make(num_workers=2), 1)
    KIT.seed(1)
    loader = make(num_workers=2, prefetch_factor=6)
    iterator = iter(loader)
    steps = [KIT.plain(next(iterator)) for _ in range(2)]
    assert steps == [batch for batch, _ in whole[:2]]
    saved = pickle.loads(pickle.dumps(loader.state_dict()))
    del iterator
    again = make(num_workers=2)
    again.load_state_dict(saved)
    assert [KIT.plain(batch) for batch in again] == [batch for batch, _ in whole[2:]]
