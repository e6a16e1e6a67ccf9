"""Event files when things go wrong: crashes, forks, full disks, many threads."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import pytest

from flambeau._C import _crc32c
from flambeau.utils.tensorboard import FileWriter, SummaryWriter, summary
from flambeau.utils.tensorboard._event_file import EventFile

from .events import crc32c, events, files, records


def steps(folder):
    return [event.step for event in events(folder)]


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 63, 64, 65, 128, 1000])
def test_checksum(size):
    data = bytes(i * 37 % 251 for i in range(size))
    assert _crc32c(data) == crc32c(data)


def test_checksum_of_the_standard():
    assert _crc32c(b"123456789") == 0xE3069283


def test_events_wait_for_company(tmp_path):
    writer = SummaryWriter(tmp_path, max_queue=3)
    for step in range(4):
        writer.add_scalar("x", 1, step)
    assert steps(tmp_path) == [0, 1, 2]
    writer.flush()
    assert steps(tmp_path) == [0, 1, 2, 3]
    writer.close()


def test_flush_after_a_while(tmp_path):
    writer = SummaryWriter(tmp_path, flush_secs=0.05)
    writer.add_scalar("x", 1, 7)
    deadline = time.monotonic() + 120  # on a machine that does much else
    while not steps(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert steps(tmp_path) == [7]
    writer.close()


def test_logging_after_close_opens_another_file(tmp_path):
    writer = SummaryWriter(tmp_path)
    writer.add_scalar("x", 1, 0)
    writer.close()
    writer.close()
    assert writer.file_writer is None
    writer.add_scalar("x", 1, 1)
    writer.close()
    assert len(files(tmp_path)) == 2
    assert steps(tmp_path) == [0, 1]


def test_reopen(tmp_path):
    writer = FileWriter(tmp_path)
    writer.add_summary(summary.scalar("x", 1), 0)
    writer.reopen()
    writer.add_summary(summary.scalar("x", 1), 1)
    writer.close()
    assert len(files(tmp_path)) == 2
    with pytest.raises(ValueError, match="closed"):
        writer.add_summary(summary.scalar("x", 1), 2)


def test_a_writer_let_go_writes_and_goes(tmp_path):
    writer = FileWriter(tmp_path)
    writer.add_summary(summary.scalar("x", 1), 3)
    gone = weakref.ref(writer.event_writer)
    del writer
    assert gone() is None
    assert steps(tmp_path) == [3]


PROGRAM = """
    import os, signal, sys
    from flambeau.utils.tensorboard import SummaryWriter
    writer = SummaryWriter(sys.argv[1], max_queue=4)
    for step in range(6):
        writer.add_scalar("x", step, step)
"""


def run(program, folder):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), str(folder)], check=False
    ).returncode


def test_end_without_close(tmp_path):
    assert run(PROGRAM, tmp_path) == 0
    assert steps(tmp_path) == list(range(6))


def test_error_without_close(tmp_path):
    assert run(PROGRAM + "\n    sys.exit(3)", tmp_path) == 3
    assert steps(tmp_path) == list(range(6))


def test_kill(tmp_path):
    killed = run(PROGRAM + "\n    os.kill(os.getpid(), signal.SIGKILL)", tmp_path)
    assert killed == -signal.SIGKILL
    assert steps(tmp_path) == list(
        range(4)
    )  # what was in memory is lost; what was written is whole


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_fork(tmp_path):
    """A child writes its own events only, and need not care about the thread that it lacks."""
    writer = SummaryWriter(tmp_path, max_queue=100)
    writer.add_scalar("x", 1, 0)

    def child():
        for step in range(10, 15):
            writer.add_scalar("x", 1, step)
        writer.flush()

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()
    assert process.exitcode == 0
    writer.add_scalar("x", 1, 1)
    writer.close()
    assert sorted(steps(tmp_path)) == [0, 1, 10, 11, 12, 13, 14]


def test_threads(tmp_path):
    writer = SummaryWriter(tmp_path, max_queue=5)

    def work(first):
        for step in range(first, first + 200):
            writer.add_scalar("x", step, step)

    threads = [threading.Thread(target=work, args=(1000 * i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    found = steps(tmp_path)
    assert sorted(found) == [1000 * i + j for i in range(4) for j in range(200)]
    for i in range(4):  # each thread's events in their order
        own = [step for step in found if step // 1000 == i]
        assert own == sorted(own)


class FullDisk:
    """A file that takes half of what is written to it once, and then nothing."""

    def __init__(self, file):
        self._file = file
        self.closed = False

    def write(self, content):
        if len(content) > 40:
            return self._file.write(content[: len(content) // 2])
        raise OSError("no space left")

    def __getattr__(self, name):
        return getattr(self._file, name)


def test_full_disk(tmp_path):
    writer = EventFile(str(tmp_path), 1, 120, "")
    real = writer._file
    writer._file = FullDisk(real)
    with pytest.raises(OSError, match="no space"):
        writer.add(summary.Summary(value=[summary.Summary.Value(tag="x" * 60)]))
    writer._file = real
    writer.close()
    (file,) = files(tmp_path)
    assert len(list(records(file))) == 1  # no half record


def test_directories_that_are_paths(tmp_path):
    with SummaryWriter(tmp_path / "deep" / "er") as writer:
        assert writer.log_dir == str(tmp_path / "deep" / "er")
    assert len(files(tmp_path / "deep" / "er")) == 1
