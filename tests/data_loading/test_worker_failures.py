"""What goes wrong in workers, and how everything ends: with real processes and signals."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import flambeau as fb
from flambeau.utils.data import DataLoader, Dataset, IterableDataset
from tests.process_files import open_files
from tests.sanitized import not_sanitized

# Seconds for what happens at once, on a busy machine, and for what must not be waited for: a wait
# for the second exceeds the first, however busy the machine is.
PATIENCE = 60
LONG = 600


class Calls(Dataset[Any]):
    """Samples that a function makes."""

    def __init__(self, function: Callable[[int], Any], count: int = 8) -> None:
        self.function = function
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        return self.function(index)


class Awkward(Exception):
    def __init__(self, code: int, reason: str) -> None:
        super().__init__(code, reason)


def failing(error: Exception) -> Callable[[int], int]:
    def sample(index: int) -> int:
        if index == 3:
            raise error
        return index

    return sample


def children() -> list[Any]:
    return [child for child in multiprocessing.active_children() if "worker" in child.name]


def all_left(before: set[Any]) -> bool:
    """Whether every new worker has ended, or does soon."""
    deadline = time.monotonic() + PATIENCE
    while set(children()) - before and time.monotonic() < deadline:
        time.sleep(0.05)
    return not set(children()) - before


class TestExceptions:
    @pytest.mark.parametrize("kind", ["process", "thread"])
    def test_class_and_traceback_of_the_worker(self, kind: str) -> None:
        loader = DataLoader(Calls(failing(ValueError("odd one"))), num_workers=2, worker_type=kind)
        with pytest.raises(ValueError, match="odd one") as caught:
            list(loader)
        where = f"worker {kind} 1"
        assert str(caught.value).startswith(
            f"Caught ValueError in DataLoader {where}.\nOriginal Trace"
        )
        assert "in sample\n    raise error" in str(caught.value)

    def test_key_error_reads_well(self) -> None:
        with pytest.raises(KeyError) as caught:
            list(DataLoader(Calls(failing(KeyError("k"))), num_workers=1))
        assert "\nOriginal Traceback" in str(caught.value)  # and not "\\n"

    def test_class_with_other_arguments(self) -> None:
        with pytest.raises(RuntimeError, match="Caught Awkward in DataLoader worker process 0"):
            list(DataLoader(Calls(failing(Awkward(1, "x"))), num_workers=1))

    def test_class_that_the_loader_cannot_find(self) -> None:
        class Local(Exception):
            pass

        with pytest.raises(RuntimeError, match="Local: hidden"):
            list(DataLoader(Calls(failing(Local("hidden"))), num_workers=1))

    @pytest.mark.parametrize("kind", ["process", "thread"])
    def test_the_pass_goes_on(self, kind: str) -> None:
        loader = DataLoader(Calls(failing(ValueError("odd"))), 2, num_workers=2, worker_type=kind)
        iterator = iter(loader)
        assert next(iterator).tolist() == [0, 1]
        with pytest.raises(ValueError, match="odd"):
            next(iterator)
        assert [batch.tolist() for batch in iterator] == [[4, 5], [6, 7]]

    @pytest.mark.parametrize("kind", ["process", "thread"])
    def test_in_worker_init(self, kind: str) -> None:
        def start(worker: int) -> None:
            raise OSError(f"no disk for {worker}")

        loader = DataLoader(Calls(int), num_workers=2, worker_init_fn=start, worker_type=kind)
        with pytest.raises(OSError, match="no disk for 0"):
            list(loader)

    def test_in_a_stream(self) -> None:
        class Broken(IterableDataset[int]):
            def __iter__(self) -> Iterator[int]:
                yield 1
                raise ArithmeticError("ran dry")

        with pytest.raises(ArithmeticError, match="ran dry"):
            list(DataLoader(Broken(), num_workers=1))

    def test_batch_that_cannot_be_sent(self) -> None:
        loader = DataLoader(Calls(lambda i: lambda: i), num_workers=1, collate_fn=list)
        with pytest.raises(Exception, match=r"(?i)can't (pickle|get local)"):
            next(iter(loader))
        grown = DataLoader(
            Calls(lambda i: fb.ones(1, requires_grad=True) * 2), num_workers=1, collate_fn=list
        )
        with pytest.raises(RuntimeError, match=r"not a leaf.*detach\(\)"):
            next(iter(grown))

    def test_dataset_that_cannot_be_sent(self) -> None:
        before = open_files()
        dataset = Calls(lambda index: index)
        with pytest.raises(Exception, match=r"(?i)can't (pickle|get local)"):
            iter(DataLoader(dataset, num_workers=2, multiprocessing_context="spawn"))
        assert len(open_files() - before) <= 1  # what `multiprocessing` keeps from then on

    @pytest.mark.parametrize("kind", ["process", "thread"])
    def test_timeout(self, kind: str) -> None:
        over = multiprocessing.Event()
        loader = DataLoader(
            Calls(lambda i: over.wait(PATIENCE)), num_workers=1, timeout=0.2, worker_type=kind
        )
        with pytest.raises(RuntimeError, match=r"timed out after 0\.2 seconds"):
            next(iter(loader))
        over.set()


class TestDeaths:
    def die(self, how: Callable[[], Any]) -> str:
        def sample(index: int) -> int:
            if index == 5:
                faulthandler.disable()  # that of the test runner
                how()
            return index

        before = set(children())
        start = time.monotonic()
        with pytest.raises(RuntimeError) as caught:
            list(DataLoader(Calls(sample), 2, num_workers=2))
        assert time.monotonic() - start < PATIENCE
        assert all_left(before)
        return str(caught.value)

    @pytest.mark.parametrize(
        "name",
        [
            "SIGKILL",
            pytest.param("SIGSEGV", marks=not_sanitized("it ends the process by itself")),
            "SIGABRT",
            "SIGTERM",
        ],
    )
    def test_signal(self, name: str) -> None:
        text = self.die(lambda: os.kill(os.getpid(), getattr(signal, name)))
        assert re.match(rf"DataLoader worker \(pid \d+\) is killed by signal: {name}\.", text)
        assert text.endswith(
            "It was worker 0 and was loading sample 5 of the batch of samples [4, 5]."
        )

    def test_exit(self) -> None:
        text = self.die(lambda: os._exit(7))
        assert "exited unexpectedly with exit code 7" in text

    def test_persistent_workers_are_replaced(self, tmp_path: Path) -> None:
        flag = tmp_path / "died"

        def once(index: int) -> int:
            if index == 5 and not flag.exists():
                flag.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return index

        loader = DataLoader(Calls(once), 2, num_workers=2, persistent_workers=True)
        with pytest.raises(RuntimeError, match="SIGKILL"):
            list(loader)
        assert [batch.tolist() for batch in loader] == [[0, 1], [2, 3], [4, 5], [6, 7]]

    def test_while_the_program_is_busy(self) -> None:
        """A worker that was killed between two batches is missed when its batch is due."""
        loader = DataLoader(Calls(int, 100), num_workers=1, persistent_workers=True)
        iterator = iter(loader)
        next(iterator)
        os.kill(iterator._workers[0].pid, signal.SIGKILL)
        with pytest.raises(RuntimeError, match="is killed by signal: SIGKILL"):
            list(iterator)


class TestEnds:
    @pytest.mark.parametrize("persistent", [False, True])
    def test_nothing_is_left(self, persistent: bool) -> None:
        before, others = open_files(), set(children())
        for _ in range(3):
            loader = DataLoader(
                Calls(lambda i: fb.ones(1000)), num_workers=2, persistent_workers=persistent
            )
            assert len(list(loader)) == 8
            for _batch in loader:
                break
            iterator = iter(loader)
            next(iterator)
            del iterator, loader, _batch
            assert all_left(others)
        assert not open_files() - before

    def test_threads_end_with_the_iterator(self) -> None:
        import threading

        before = set(threading.enumerate())
        loader = DataLoader(Calls(int), num_workers=2, worker_type="thread")
        for _ in loader:
            break
        deadline = time.monotonic() + PATIENCE
        while not set(threading.enumerate()) <= before:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def test_dropping_a_busy_worker_does_not_wait_for_it(self) -> None:
        before = set(children())
        started, may_go_on = multiprocessing.Event(), multiprocessing.Event()

        def sample(index: int) -> int:
            if index == 1:
                started.set()
                may_go_on.wait(PATIENCE)
            return index

        iterator = iter(DataLoader(Calls(sample), num_workers=1, collate_fn=list))
        next(iterator)
        assert started.wait(PATIENCE)
        del iterator
        assert len(set(children()) - before) == 1  # it is at its sample still
        may_go_on.set()
        assert all_left(before)


PROGRAM = """
    import os, sys, time
    from flambeau.utils.data import DataLoader, Dataset

    class Slow(Dataset):
        def __len__(self):
            return 8
        def __getitem__(self, index):
            os.write(1, b"pid %d\\n" % os.getpid())
            time.sleep({long})

    if __name__ == "__main__":
        loader = DataLoader(Slow(), num_workers=2, multiprocessing_context={method!r})
        next(iter(loader))
"""


def started(tmp_path: Path, text: str, workers: int) -> tuple[subprocess.Popen[str], list[int]]:
    """A program in a process group of its own, and its workers once they are at work."""
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(text))
    program = subprocess.Popen(
        [sys.executable, "-W", "ignore", str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(Path(fb.__file__).parents[1])},
    )
    assert program.stdout is not None
    lines = [program.stdout.readline() for _ in range(workers)]
    if not all(lines):
        pytest.fail(f"the program ended: {program.communicate()[1]}")
    return program, [int(line.split()[1]) for line in lines]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the second where it ends while it is read
        return False


def wait_for_end(pids: list[int]) -> None:
    deadline = time.monotonic() + PATIENCE
    while any(map(is_running, pids)):
        assert time.monotonic() < deadline, "workers are still there"
        time.sleep(0.01)


class TestPrograms:
    @pytest.mark.parametrize("method", ["fork", "spawn"])
    def test_ctrl_c_ends_everything_with_one_traceback(self, tmp_path: Path, method: str) -> None:
        program, pids = started(tmp_path, PROGRAM.format(method=method, long=LONG), 2)
        os.killpg(program.pid, signal.SIGINT)  # as a terminal does: to all of them
        _, errors = program.communicate(timeout=PATIENCE)
        wait_for_end(pids)
        assert errors.count("Traceback") == 1
        assert errors.rstrip().endswith("KeyboardInterrupt")

    def test_ctrl_c_in_the_loop(self, tmp_path: Path) -> None:
        text = PROGRAM.replace("next(iter(loader))", "iterator = iter(loader); time.sleep({long})")
        program, pids = started(tmp_path, text.format(method="fork", long=LONG), 2)
        os.killpg(program.pid, signal.SIGINT)
        _, errors = program.communicate(timeout=PATIENCE)
        wait_for_end(pids)
        assert errors.count("Traceback") == 1

    def test_ctrl_c_with_threads(self, tmp_path: Path) -> None:
        text = PROGRAM.replace("multiprocessing_context={method!r}", "worker_type='thread'")
        program, _ = started(tmp_path, text.format(long=LONG), 2)
        os.killpg(program.pid, signal.SIGINT)
        _, errors = program.communicate(timeout=PATIENCE)
        assert errors.count("Traceback") == 1

    @pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
    def test_killed_program_takes_its_workers_along(self, tmp_path: Path, method: str) -> None:
        program, pids = started(tmp_path, PROGRAM.format(method=method, long=LONG), 2)
        program.kill()
        wait_for_end(pids)
        program.communicate()

    def test_workers_outlive_the_thread_that_started_them(self, tmp_path: Path) -> None:
        text = """
            import threading, time
            import flambeau as fb
            from flambeau.utils.data import DataLoader, TensorDataset
            loader = DataLoader(TensorDataset(fb.arange(40)), num_workers=1)
            found = []
            thread = threading.Thread(target=lambda: found.append(iter(loader)))
            thread.start()
            thread.join()
            time.sleep(0.2)
            print("pid", sum(batch[0].item() for batch in found[0]))
        """
        program, total = started(tmp_path, text, 1)
        program.communicate()
        assert total == [780]

    def test_end_of_the_program_in_the_middle(self, tmp_path: Path) -> None:
        text = PROGRAM.replace(
            "next(iter(loader))", "iterator = iter(loader); sys.stdin.readline()"
        )
        program, pids = started(tmp_path, text.format(method="fork", long=LONG), 2)
        _, errors = program.communicate(timeout=PATIENCE)
        assert program.returncode == 0
        assert errors == ""
        wait_for_end(pids)

    def test_handlers_of_the_program_are_not_for_its_workers(self, tmp_path: Path) -> None:
        text = "import signal; signal.signal(signal.SIGTERM, lambda *a: print('saving'))\n"
        body = PROGRAM.replace(
            "next(iter(loader))", "iterator = iter(loader); sys.stdin.readline()"
        )
        program, pids = started(
            tmp_path, text + textwrap.dedent(body.format(method="fork", long=LONG)), 2
        )
        out, _ = program.communicate(timeout=PATIENCE)
        assert "saving" not in out
        wait_for_end(pids)
