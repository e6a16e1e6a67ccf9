"""Lists in shared memory, and large lists of datasets that become such lists in workers."""

from __future__ import annotations

import copy
import itertools
import json
import os
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flambeau as fb
from flambeau.utils.data import (
    ConcatDataset,
    DataLoader,
    Dataset,
    SharedList,
    Subset,
    get_worker_info,
)
from flambeau.utils.data._workers import packing
from tests.sanitized import not_sanitized

LISTS = {
    "integers": [3, -(2**63), 2**63 - 1, 0, 7],
    "large integers": [1, 2**70],
    "floats": [0.5, float("inf"), -0.0],
    "mixed numbers": [1, 2.5, True],
    "strings": ["", "plain", "é", "中文", "😀", "\ud800", "nul\0"],
    "bytes": [b"", b"\0\1", b"abc"],
    "strings and bytes": ["a", b"a"],
    "pairs": [("a.png", 1), ("b.png", 2)],
    "records": [{"a": [1, 2]}, {"a": []}, None],
    "nothing": [],
}


@pytest.mark.parametrize("items", LISTS.values(), ids=LISTS.keys())
class TestReads:
    def test_like_the_list(self, items: list[Any]) -> None:
        shared = SharedList(items)
        assert isinstance(shared, list)
        assert len(shared) == len(items)
        assert bool(shared) == bool(items)
        assert [*shared] == items == list(shared)
        assert list(map(type, shared)) == list(map(type, items))
        assert list(reversed(shared)) == items[::-1]
        assert shared == items
        assert shared != [*items, 1]
        assert repr(shared) == repr(items)
        assert shared[1:-1:2] == items[1:-1:2]
        assert [0, *items] == [0] + shared  # noqa: RUF005
        assert shared + [0] == [*items, 0]  # noqa: RUF005
        assert 2 * shared == 2 * items

    def test_elsewhere(self, items: list[Any]) -> None:
        shared = SharedList(items)
        assert pickle.loads(pickle.dumps(shared)) == items
        assert copy.deepcopy(shared) == items
        pid = os.fork()
        if pid == 0:
            os._exit(int(list(shared) != items))
        assert os.waitpid(pid, 0)[1] == 0


class TestSharedList:
    def test_items_that_are_set(self) -> None:
        shared = SharedList([1, 2, 3, 4])
        shared[1] = "two"
        shared[-2:] = [30, 40]
        assert shared == [1, "two", 30, 40]
        assert pickle.loads(pickle.dumps(shared)) == [1, "two", 30, 40]
        random.Random(1).shuffle(shared)
        shared.sort(key=str)
        assert shared == [1, 30, 40, "two"]
        shared.reverse()
        assert shared == ["two", 40, 30, 1]

    def test_items_that_are_changed(self) -> None:
        """More of them than are kept at a time."""
        shared = SharedList([[i] for i in range(1000)])
        for item in shared:
            item.append("seen")
        held = shared[3]
        assert all(item == [i, "seen"] for i, item in enumerate(shared))
        held.append("late")
        assert shared[3] == [3, "seen", "late"]

    def test_searching(self) -> None:
        shared = SharedList(["a", "b", "a"])
        assert "b" in shared
        assert "c" not in shared
        assert shared.index("a", 1) == 2
        assert shared.count("a") == 2
        with pytest.raises(ValueError, match="'c' is not in list"):
            shared.index("c")

    def test_functions_that_know_lists(self) -> None:
        shared = SharedList([3, 1, 2])
        assert sorted(shared) == [1, 2, 3]
        assert sum(shared) == 6
        assert json.dumps(shared) == "[3, 1, 2]"
        assert np.array(shared).tolist() == [3, 1, 2]
        assert fb.tensor(shared).tolist() == [3, 1, 2]
        assert fb.as_tensor(shared).tolist() == [3, 1, 2]
        target = [0]
        target.extend(shared)
        target[:1] = shared
        assert target == [3, 1, 2, 3, 1, 2]

    def test_errors(self) -> None:
        shared = SharedList([1, 2])
        for index in (2, -3):
            with pytest.raises(IndexError, match="out of range"):
                shared[index]
        with pytest.raises(TypeError, match="fixed length"):
            shared.append(3)
        with pytest.raises(ValueError, match="cannot set 2 items to 1"):
            shared[:] = [1]


class Held(Dataset[Any]):
    def __init__(self, items: Any) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> Any:
        return type(self.items).__name__, self.items[index]


class TestDatasets:
    """With the limit lowered: what is replaced, where, and what the program sees of it."""

    @pytest.fixture(autouse=True)
    def _small_is_large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(packing, "_LARGE", 1000)

    def read(self, dataset: Any, **options: Any) -> list[Any]:
        return list(DataLoader(dataset, None, num_workers=2, collate_fn=lambda x: x, **options))

    def test_in_workers_only(self) -> None:
        items = [f"name {i}" for i in range(400)]
        dataset = Held(items)
        loader = DataLoader(dataset, None, num_workers=2, collate_fn=lambda x: x)
        for _ in range(2):
            assert list(loader) == [("SharedList", item) for item in items]
            assert dataset.items is items
        items[7] = "other"
        assert list(loader)[7] == ("SharedList", "other")

    def test_other_start_methods(self) -> None:
        dataset = Held(["x" * 100] * 300)
        loader = DataLoader(dataset, None, num_workers=1, multiprocessing_context="spawn")
        assert next(iter(loader))[0] == "SharedList"
        assert type(dataset.items) is list

    def test_the_dataset_itself(self) -> None:
        items = [(f"{i}.png", i) for i in range(300)]
        assert self.read(items) == items

    def test_through_other_datasets(self) -> None:
        whole = ConcatDataset([Held([float(i) for i in range(300)]), Held([b"y" * 50] * 300)])
        subset = Subset(whole, [*range(600)])
        kinds = {kind for kind, _ in self.read(subset)}
        assert kinds == {"SharedList"}

    def test_in_containers(self) -> None:
        class Split(Held):
            def __init__(self) -> None:
                self.parts = {"train": [[str(i) for i in range(400)]]}

            def __len__(self) -> int:
                return 4

            def __getitem__(self, index: int) -> str:
                return type(self.parts["train"][0]).__name__

        assert set(self.read(Split())) == {"SharedList"}

    def test_what_stays_a_list(self) -> None:
        class Thing:
            pass

        assert self.read(Held([1] * 5))[0][0] == "list"
        assert self.read(Held([fb.ones(1)] * 500))[0][0] == "list"
        loader = DataLoader(Held([Thing()] * 500), None, num_workers=1, collate_fn=lambda x: x[0])
        assert next(iter(loader)) == "list"


def memory_of(pid: int) -> tuple[int, int]:
    """The bytes of Python objects that only this process has, and its share of all its memory."""
    private = share = 0
    anonymous = False
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        name, *rest = line.split()
        if not name.endswith(":"):
            anonymous = rest[3] == "0"  # of no file
        elif name == "Pss:":
            share += 1024 * int(rest[0])
        elif name == "Private_Dirty:" and anonymous:
            private += 1024 * int(rest[0])
    return private, share


@not_sanitized("its own tables are private memory")
def test_a_large_list_is_not_copied_into_every_worker() -> None:
    """1 GB of Python objects, 4 workers that read them all, 3 passes."""
    count, size = 1 << 20, 1000
    before = memory_of(os.getpid())[1]  # what earlier tests have left in this process

    class Numbers(Dataset[int]):
        def __init__(self) -> None:
            self.names = [b"%07d" % i + bytes(size - 33 - 7) for i in range(count)]

        def __len__(self) -> int:
            return count

        def __getitem__(self, index: int) -> int:
            return int(self.names[index][:7])

    calls = itertools.count(1)

    def with_memory(batch: list[int]) -> tuple[int, int, tuple[int, int] | None]:
        worker = get_worker_info()
        assert worker is not None
        is_due = next(calls) % 16 == 0  # of the 32 batches that a worker has in a pass
        return sum(batch), worker.id, memory_of(os.getpid()) if is_due else None

    loader = DataLoader(
        Numbers(),
        8192,
        shuffle=True,
        num_workers=4,
        collate_fn=with_memory,
        persistent_workers=True,
    )
    for _ in range(3):
        sums, workers, memory = zip(*loader, strict=True)
        assert sum(sums) == count * (count - 1) // 2
        last = {worker: found for worker, found in zip(workers, memory, strict=True) if found}
        assert len(last) == 4
        assert max(private for private, _ in last.values()) < 64 << 20
        # The list, its packed form, and something for each process.
        total = sum(share for _, share in last.values()) + memory_of(os.getpid())[1] - before
        assert total < 2.5 * count * size
