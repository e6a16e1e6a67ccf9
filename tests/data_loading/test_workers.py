"""Worker processes: what arrives, in which order, and who has loaded it."""

from __future__ import annotations

import multiprocessing
import os
import random
import subprocess
import sys
import textwrap
import time
from collections import namedtuple
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flambeau as fb
from flambeau.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, get_worker_info
from tests.process_files import file_behind

Point = namedtuple("Point", "x y")


class Samples(Dataset[Any]):
    """Samples with items of every kind."""

    def __init__(self, count: int = 20) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        x = fb.full((2, 3), float(index))
        return x, index, {"name": f"é{index}", "array": np.full(4, index)}, Point(index, -index)


class Draws(Samples):
    def __getitem__(self, index: int) -> Any:
        return index, random.random(), fb.rand(2), np.random.rand()  # noqa: NPY002


class Process(Samples):
    def __getitem__(self, index: int) -> int:
        return os.getpid()


class Stream(IterableDataset[Any]):
    """Each worker has a part; the first parts are the longest."""

    def __init__(self, ends: list[int]) -> None:
        self.ends = ends

    def __iter__(self) -> Iterator[int]:
        worker = get_worker_info()
        assert worker is not None
        return iter(range(100 * worker.id, 100 * worker.id + self.ends[worker.id]))


def check_epoch(loader: DataLoader[Any]) -> None:
    seen = []
    for x, index, rest, point in loader:
        assert x.shape == (len(index), 2, 3)
        assert (x[:, 1, 2] == index).all()
        assert rest["name"] == [f"é{i}" for i in index.tolist()]
        assert (rest["array"][:, 3] == index).all()
        assert type(point) is Point
        assert (point.y == -index).all()
        seen += index.tolist()
    assert seen == list(range(20))


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("kind", ["process", "thread"])
def test_batches_arrive_in_order(kind: str, workers: int) -> None:
    loader = DataLoader(Samples(), 3, num_workers=workers, worker_type=kind)
    check_epoch(loader)
    check_epoch(loader)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_other_start_methods(method: str) -> None:
    check_epoch(DataLoader(Samples(), 6, num_workers=1, multiprocessing_context=method))


@pytest.mark.parametrize("kind", ["process", "thread"])
def test_persistent_workers_stay(kind: str) -> None:
    loader = DataLoader(
        Samples(), 3, num_workers=2, prefetch_factor=3, persistent_workers=True, worker_type=kind
    )
    check_epoch(loader)
    for _ in loader:
        break  # what was under way belongs to no later pass
    check_epoch(loader)


def test_persistent_workers_are_the_same_processes() -> None:
    loader = DataLoader(Process(), num_workers=2, persistent_workers=True)
    first = {pid.item() for pid in loader}
    assert len(first) == 2
    assert {pid.item() for pid in loader} == first


def test_out_of_order() -> None:
    another_has_come = multiprocessing.Event()

    class Uneven(Samples):
        def __getitem__(self, index: int) -> int:
            if index == 0:
                another_has_come.wait(60)
            return index

    batches = []
    for batch in DataLoader(Uneven(12), 2, num_workers=2, in_order=False):
        batches.append(batch.tolist())
        another_has_come.set()
    assert batches[0] != [0, 1]
    assert sorted(batches) == [[i, i + 1] for i in range(0, 12, 2)]


def test_without_batches_and_with_own_collate() -> None:
    assert [x.item() for x in DataLoader(fb.arange(5), batch_size=None, num_workers=2)] == [
        *range(5)
    ]
    objects = DataLoader([{1}, None, "a", 2.5], 2, collate_fn=tuple, num_workers=2)
    assert list(objects) == [({1}, None), ("a", 2.5)]


class TestStreams:
    @pytest.mark.parametrize("kind", ["process", "thread"])
    def test_workers_end_at_different_times(self, kind: str) -> None:
        loader = DataLoader(Stream([5, 0, 2]), 2, num_workers=3, worker_type=kind)
        expected = [[0, 1], [200, 201], [2, 3], [4]]
        assert [batch.tolist() for batch in loader] == expected
        assert [batch.tolist() for batch in loader] == expected

    def test_last_batches_dropped(self) -> None:
        loader = DataLoader(Stream([5, 3]), 2, num_workers=2, drop_last=True)
        assert [batch.tolist() for batch in loader] == [[0, 1], [100, 101], [2, 3]]

    def test_persistent(self) -> None:
        loader = DataLoader(Stream([3, 1]), 1, num_workers=2, persistent_workers=True)
        expected = [0, 100, 1, 2]
        assert [batch.item() for batch in loader] == expected
        assert [batch.item() for batch in loader] == expected


class TestRandomness:
    def draws(self, **options: Any) -> list[Any]:
        fb.manual_seed(3)
        loader = DataLoader(Draws(), 4, num_workers=2, **options)
        return [[item.tolist() for item in batch] for _ in range(2) for batch in loader]

    def test_same_seed_same_batches(self) -> None:
        first = self.draws()
        assert first == self.draws()
        assert first[:5] != first[5:]
        assert first[0][1:] != first[1][1:]

    def test_numpy_that_comes_later(self) -> None:
        """A worker that imports NumPy's generator draws what one does that had it all along."""
        program = """
            import sys
            import flambeau as fb
            from flambeau.utils.data import DataLoader

            class Late:
                def __len__(self):
                    return 2
                def __getitem__(self, index):
                    import numpy.random
                    return float(numpy.random.rand())

            if sys.argv[1:]:
                import numpy.random
            fb.manual_seed(3)
            print([float(x) for x in DataLoader(Late(), num_workers=1)])
            assert bool(sys.argv[1:]) == ("numpy.random" in sys.modules)
        """
        command = [sys.executable, "-c", textwrap.dedent(program)]
        environment = {**os.environ, "PYTHONPATH": str(Path(fb.__file__).parents[1])}
        outputs = {
            subprocess.check_output(command + more, text=True, env=environment)
            for more in ([], ["early"])
        }
        assert len(outputs) == 1

    def test_worker_init_and_info(self) -> None:
        def check(worker: int) -> None:
            info = get_worker_info()
            assert info is not None
            assert (info.id, info.num_workers) == (worker, 2)
            assert info.seed == fb.initial_seed()
            assert fb.get_num_threads() == 1
            info.dataset.count = worker

        class Counts(Samples):
            def __getitem__(self, index: int) -> int:
                return self.count

        loader = DataLoader(Counts(), num_workers=2, worker_init_fn=check)
        assert [count.item() for count in loader][:4] == [0, 1, 0, 1]
        assert get_worker_info() is None

    def test_threads_have_their_own_generators(self) -> None:
        class Own(Samples):
            def __getitem__(self, index: int) -> Any:
                info = get_worker_info()
                assert info is not None
                assert info.worker_method == "thread"
                rng: Any = info.rng
                return (
                    fb.rand(1, generator=rng.torch_generator),
                    rng.random_generator.random(),
                    rng.numpy_generator.random(),
                )

        def draws() -> Any:
            fb.manual_seed(5)
            loader = DataLoader(Own(), 4, num_workers=2, worker_type="thread")
            return [[item.tolist() for item in batch] for batch in loader]

        assert draws() == draws()


class TestSharedMemory:
    def test_batches_outlive_workers_and_are_not_overwritten(self) -> None:
        loader = DataLoader(Samples(200), 4, num_workers=2, prefetch_factor=2)
        kept = list(loader)
        del loader
        for place, (x, index, rest, _) in enumerate(kept):
            assert index.tolist() == list(range(4 * place, 4 * place + 4))
            assert (x[:, 0, 0] == index).all()
            assert (rest["array"][:, 0] == index).all()

    def test_batches_belong_to_the_program(self) -> None:
        batch = next(iter(DataLoader(TensorDataset(fb.ones(4, 2)), 2, num_workers=1)))[0]
        assert not batch.is_shared()
        batch.mul_(3).requires_grad_()
        (batch * batch).sum().backward()
        assert batch.grad.eq(6).all()

    def test_memory_is_used_again(self) -> None:
        """One batch alive at a time: the worker needs no more memory than that and the next few."""
        rows = TensorDataset(fb.zeros(64, 1 << 18))  # 1 MB each
        loader = DataLoader(rows, 4, num_workers=1, prefetch_factor=2)
        addresses = set()
        for (batch,) in loader:
            addresses.add(batch.data_ptr())
            del batch
        assert len(addresses) <= 5

    def test_large_batches_do_not_touch_the_file_system(self) -> None:
        rows = TensorDataset(fb.ones(32, 1 << 20))  # 4 MB each
        kept = list(DataLoader(rows, 8, num_workers=2))
        assert all(batch.eq(1).all() for (batch,) in kept)
        files = {file_behind(batch.data_ptr()) for (batch,) in kept}
        assert files == {"/memfd:flambeau (deleted)"}

    def test_long_pickles_and_index_lists(self) -> None:
        """Neither side may wait for the other to read what does not fit into a socket."""

        class Long(Samples):
            def __getitem__(self, index: int) -> str:
                return str(index % 10) * 1000

        loader = DataLoader(
            Long(100_000), 50_000, num_workers=2, collate_fn=lambda x: x[:2000], prefetch_factor=4
        )
        assert [len(batch) for batch in loader] == [2000, 2000]

    def test_what_tensors_keep(self) -> None:
        values = {
            "transposed": fb.arange(6).view(2, 3).t(),
            "window": fb.arange(100)[10:90:7],
            "expanded": fb.ones(1).expand(3),
            "scalar": fb.tensor(2.5),
            "empty": fb.ones(0, 3),
            "wants grad": fb.ones(2, requires_grad=True),
            "bfloat16": fb.ones(2, dtype=fb.bfloat16),
            "parameter": fb.nn.Parameter(fb.ones(3)),
            "array": np.arange(6).reshape(2, 3).T,
            "bytes": b"\0" * 100_000,
        }
        loader = DataLoader([values], batch_size=None, num_workers=1, collate_fn=lambda x: x)
        back = next(iter(loader))
        for name, value in values.items():
            assert type(back[name]) is type(value)
            if isinstance(value, fb.Tensor):
                assert back[name].tolist() == value.tolist()
                assert back[name].dtype == value.dtype
                assert back[name].requires_grad == value.requires_grad
            else:
                assert np.array_equal(back[name], value)
        back["array"][0, 0] = 5  # the program may write to all of it


def test_first_batch_comes_soon() -> None:
    """Beside bare processes, which wait for their turn as long on a machine that does much else."""
    loader = DataLoader(Samples(), 4, num_workers=4)

    def load() -> None:
        next(iter(loader))

    def fork() -> None:
        came = multiprocessing.SimpleQueue()
        processes = [multiprocessing.Process(target=came.put, args=(i,)) for i in range(4)]
        for process in processes:
            process.start()
        for process in processes:
            came.get()
            process.join()

    def seconds(action: Callable[[], None]) -> float:
        start = time.perf_counter()
        action()
        return time.perf_counter() - start

    times = [(seconds(load), seconds(fork)) for _ in range(5)]
    ours, bare = map(min, zip(*times, strict=True))
    assert ours < 20 * bare, times


def test_forking_while_other_threads_work() -> None:
    """A lock that another thread holds at the moment of the fork must not stop the child."""
    import threading

    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            fb.rand(300_000).add_(1)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            assert len(list(DataLoader(Draws(), 4, num_workers=2, timeout=60))) == 5
    finally:
        stop.set()
        for thread in threads:
            thread.join()
