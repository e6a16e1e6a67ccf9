"""A loader's state: the rest of a pass and all later ones are those of an uninterrupted run."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flambeau as torch
from flambeau.utils import data
from flambeau.utils.data._utils import randomness
from tests.data_loading.cases import Kit

KIT = Kit(torch, data)
CASES = dict(KIT.cases())
EPOCHS = 3


def drawn() -> Any:
    """What a training step may draw beside the loader."""
    return torch.rand(1).item(), random.random(), np.random.rand()  # noqa: NPY002


def train(loader: Any, epochs: int, save_at: int = -1) -> tuple[list[Any], bytes]:
    """The batches and draws of a run, and the state of the loader after batch `save_at`."""
    steps: list[Any] = []
    saved = b""
    for _ in range(epochs):
        for batch in loader:
            steps.append((KIT.plain(batch), drawn()))
            if len(steps) == save_at:
                saved = pickle.dumps(loader.state_dict())
    return steps, saved


def resume(loader: Any, saved: bytes, epochs: int) -> list[Any]:
    KIT.seed(99)
    loader.load_state_dict(pickle.loads(saved))
    return train(loader, epochs)[0]


def check(make: Callable[[], Any], stops: Callable[[int], set[int]]) -> None:
    """Stop a run at each of some batches, given the length of a pass, and go on."""
    KIT.seed(1)
    whole, _ = train(make(), EPOCHS)
    length = len(whole) // EPOCHS
    for stop in stops(length):
        if not 0 < stop <= len(whole):
            continue
        KIT.seed(1)
        _, saved = train(make(), EPOCHS, stop)
        left = EPOCHS - (stop - 1) // length
        assert resume(make(), saved, left) == whole[stop:], f"stopped after batch {stop}"


@pytest.mark.parametrize("name", CASES)
def test_rest_of_a_pass(name: str) -> None:
    check(CASES[name], lambda n: {1, n // 2 + 1, n, n + 1, 2 * n + 1})


@pytest.mark.parametrize("name", ["tensors, shuffled", "concat, lazy", "list, eager"])
def test_rest_of_a_pass_of_threads(name: str) -> None:
    """Without datasets that draw: the global generators belong to all threads."""
    check(lambda: CASES[name](num_workers=2, worker_type="thread"), lambda n: {1, n, n + 1})


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize(
    "name", ["drawing, generator", "drawing, lazy", "tensors, shuffled", "stream, batches"]
)
def test_rest_of_a_pass_of_workers(name: str, persistent: bool) -> None:
    def make() -> Any:
        return CASES[name](num_workers=2, persistent_workers=persistent)

    check(make, lambda n: {1, n // 2 + 1, n, n + 1})


@pytest.mark.parametrize(
    "name", ["tensors, shuffled", "drawing, lazy", "drawing, twice round", "stream, batches"]
)
def test_saved_between_passes(name: str) -> None:
    make = CASES[name]
    KIT.seed(1)
    whole, _ = train(make(), EPOCHS)
    for done in range(EPOCHS):
        KIT.seed(1)
        loader = make()
        steps, _ = train(loader, done)
        saved = pickle.dumps(loader.state_dict())
        assert resume(make(), saved, EPOCHS - done) == whole[len(steps) :]


@pytest.mark.parametrize("name", ["drawing, shuffled", "stream, batches"])
def test_saved_between_passes_of_workers_that_persist(name: str) -> None:
    make = partial(CASES[name], num_workers=2, persistent_workers=True)
    KIT.seed(1)
    whole, _ = train(make(), 2)
    KIT.seed(1)
    loader = make()
    steps, _ = train(loader, 1)
    saved = pickle.dumps(loader.state_dict())
    assert resume(make(), saved, 1) == whole[len(steps) :]


@pytest.mark.parametrize("name", ["tensors, shuffled", "drawing, generator", "stream, batches"])
def test_saved_after_a_break(name: str) -> None:
    KIT.seed(1)
    loader = CASES[name]()
    for i, _ in enumerate(loader):
        if i == 1:
            break
    saved = pickle.dumps(loader.state_dict())
    KIT.seed(1)
    whole, _ = train_after(CASES[name](), 2)
    assert resume(CASES[name](), saved, 1) == whole


def train_after(loader: Any, silent: int) -> tuple[list[Any], int]:
    """The steps of one pass after the first ones, in which nothing else is drawn."""
    steps = [(KIT.plain(batch), drawn() if i >= silent else None) for i, batch in enumerate(loader)]
    return steps[silent:], len(steps)


def test_saved_twice_over() -> None:
    """A state that is saved before the resumed loader has gone on is the state that was loaded."""
    make = CASES["drawing, shuffled"]
    KIT.seed(1)
    whole, saved = train(make(), 1, 2)
    loader = make()
    loader.load_state_dict(pickle.loads(saved))
    again = pickle.dumps(loader.state_dict())
    assert resume(make(), again, 1) == whole[2:]
    KIT.seed(1)
    assert train(make(), 1)[0] == whole, "a loaded state is left behind"


@pytest.mark.parametrize("name", ["tensors, generator", "drawing, lazy", "stream, whole batches"])
def test_state_is_plain_and_small(name: str, tmp_path: Path) -> None:
    KIT.seed(1)
    loader = CASES[name]()
    next(iter(loader))
    state = loader.state_dict()
    torch.save(state, tmp_path / "state.pt")
    assert (tmp_path / "state.pt").stat().st_size < 50_000
    rest, _ = train(loader_from(name, torch.load(tmp_path / "state.pt", weights_only=True)), 1)
    other, _ = train(loader_from(name, state), 1)
    assert rest == other


def loader_from(name: str, state: dict[str, Any]) -> Any:
    loader = CASES[name]()
    loader.load_state_dict(state)
    return loader


class Counting(data.IterableDataset[int]):
    """A stream that knows its position; it must not be read from its start."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.position = 0
        self.started_at: list[int] = []

    def __iter__(self) -> Iterator[int]:
        self.started_at.append(self.position)
        while self.position < self.count:
            self.position += 1
            yield self.position
        self.position = 0

    def state_dict(self) -> dict[str, Any]:
        return {"position": self.position}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.position = state["position"]


def test_dataset_with_a_state() -> None:
    loader = data.DataLoader(Counting(10), batch_size=2)
    batches = iter(loader)
    assert [next(batches).tolist() for _ in range(2)] == [[1, 2], [3, 4]]
    other = data.DataLoader(Counting(10), batch_size=2)
    other.load_state_dict(loader.state_dict())
    assert [batch.tolist() for batch in other] == [[5, 6], [7, 8], [9, 10]]
    assert other.dataset.started_at == [4]


class Reader:
    """An iterator that knows where it is."""

    def __init__(self, count: int) -> None:
        self.count, self.position, self.read = count, 0, 0

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        if self.position == self.count:
            raise StopIteration
        self.position += 1
        self.read += 1
        return self.position

    def state_dict(self) -> dict[str, Any]:
        return {"position": self.position}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.position = state["position"]


class Readers(data.IterableDataset[int]):
    """A stream whose iterators know where they are."""

    def __init__(self) -> None:
        self.made: list[Reader] = []

    def __iter__(self) -> Iterator[int]:
        self.made.append(Reader(10))
        return iter(self.made[-1])


def test_iterator_with_a_state() -> None:
    loader = data.DataLoader(Readers(), batch_size=3)
    next(iter(loader))
    other = data.DataLoader(Readers(), batch_size=3)
    other.load_state_dict(loader.state_dict())
    assert [batch.tolist() for batch in other] == [[4, 5, 6], [7, 8, 9], [10]]
    assert other.dataset.made[0].read == 7, "nothing is read a second time"


class Remembering(data.Sampler[int]):
    """A sampler that goes on where it was when it is iterated again."""

    def __init__(self) -> None:
        self.given = 0

    def __iter__(self) -> Iterator[int]:
        for i in range(self.given, 10):
            self.given = i + 1
            yield i
        self.given = 0

    def state_dict(self) -> dict[str, Any]:
        return {"given": self.given}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.given = state["given"]


def test_sampler_with_a_state() -> None:
    loader = data.DataLoader(range(10), batch_size=3, sampler=Remembering())
    next(iter(loader))
    other = data.DataLoader(range(10), batch_size=3, sampler=Remembering())
    other.load_state_dict(loader.state_dict())
    assert [batch.tolist() for batch in other] == [[3, 4, 5], [6, 7, 8], [9]]
    assert next(iter(other)).tolist() == [0, 1, 2]


def test_batch_that_failed_is_gone() -> None:
    """As in an uninterrupted run that caught the error."""

    class Faulty(data.Dataset[int]):
        def __len__(self) -> int:
            return 6

        def __getitem__(self, index: int) -> int:
            if index == 2:
                raise ValueError("broken sample")
            return index

    loader = data.DataLoader(Faulty(), batch_size=2)
    batches = iter(loader)
    next(batches)
    with pytest.raises(ValueError, match="broken sample"):
        next(batches)
    other = data.DataLoader(Faulty(), batch_size=2)
    other.load_state_dict(loader.state_dict())
    assert [batch.tolist() for batch in other] == [[4, 5]] == [b.tolist() for b in batches]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state: None, "expects what state_dict of a DataLoader returned, but got NoneType"),
        (lambda state: {"net": 1}, "but got \\['net'\\]"),
        (lambda state: {**state, "version": 99}, "version 99"),
        (lambda state: {**state, "num_workers": 3}, "saved with num_workers=3"),
        (lambda state: {**state, "batches": 7}, "7 batches in a pass, but this loader has 10"),
    ],
)
def test_refused_states(change: Callable[[Any], Any], message: str) -> None:
    loader = data.DataLoader(range(10))
    with pytest.raises(ValueError, match=message):
        loader.load_state_dict(change(loader.state_dict()))


def test_state_of_other_generators_is_refused() -> None:
    state = data.DataLoader(range(10), generator=torch.Generator()).state_dict()
    with pytest.raises(ValueError, match="the state holds 1 generators"):
        data.DataLoader(range(10)).load_state_dict(state)


def test_generators_that_moved_are_noticed() -> None:
    watch = randomness.Watch()
    assert watch.changes() is not None
    assert watch.changes() is None
    draws: list[Callable[[], object]] = [random.random, np.random.rand, lambda: torch.rand(1)]
    for draw in [*draws, lambda: random.gauss(0, 1)]:
        draw()
        assert watch.changes() is not None
        assert watch.changes() is None
    np.random.randn()  # noqa: NPY002  which keeps a second number for the next call
    first = watch.changes()
    np.random.randn()  # noqa: NPY002
    second = watch.changes()
    assert first is not None
    assert second is not None
    assert first["numpy"]["gauss"] is not None
    assert second["numpy"]["gauss"] is None
    assert watch.changes() is None


def test_out_of_order_nothing_is_lost() -> None:
    make = partial(data.DataLoader, range(40), 2, shuffle=True, num_workers=2, in_order=False)
    loader = make()
    seen: list[int] = []
    for batch in loader:
        seen += batch.tolist()
        if len(seen) == 14:
            break
    other = make()
    other.load_state_dict(loader.state_dict())
    assert sorted(seen + [i for batch in other for i in batch.tolist()]) == list(range(40))
