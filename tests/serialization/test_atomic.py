"""A file at a path is replaced as a whole, and only by one that is complete."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import flambeau as fb
from flambeau.utils import _atomic

# Saves one checkpoint after the other to the same path. Each is many megabytes of one number.
WRITER = """
import itertools, sys
import flambeau as fb
for number in itertools.count():
    fb.save({"number": number, "x": fb.full((2_000_000,), number)}, sys.argv[1])
"""


@pytest.mark.parametrize("seed", range(3))
def test_a_killed_writer_leaves_a_whole_file(seed, tmp_path):
    path = tmp_path / "checkpoint.pt"
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], cwd=Path(__file__).parents[2]
    )
    try:
        deadline = time.monotonic() + 60
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(random.Random(seed).uniform(0, 0.3))
    finally:
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
    state = fb.load(path)
    assert (state["x"] == state["number"]).all()
    fb.save({"number": -1}, path)  # and nothing is in the way of the next one
    assert fb.load(path) == {"number": -1}


# Saves more than files of this process may hold.
FULL = """
import resource, sys
import flambeau as fb
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
try:
    fb.save(fb.ones(2_000_000), sys.argv[1])
except OSError as error:
    print(error)
"""


def test_a_full_disk_leaves_the_old_file(tmp_path):
    fb.save([1], tmp_path / "x")
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "x")],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "File too large" in done.stdout, done.stderr
    assert fb.load(tmp_path / "x") == [1]
    assert os.listdir(tmp_path) == ["x"]


class Unwritable:
    def __reduce__(self):
        raise ValueError("no")


def test_objects_that_cannot_be_saved_leave_the_old_file(tmp_path):
    fb.save([1], tmp_path / "x")
    with pytest.raises(ValueError, match="no"):
        fb.save([fb.ones(3), Unwritable()], tmp_path / "x")
    assert fb.load(tmp_path / "x") == [1]
    assert os.listdir(tmp_path) == ["x"]


class Interrupted:
    """A call of the system that a signal interrupts: Python notices it when the call returns."""

    def __init__(self, function, moment):
        self.function = function
        self.moment = moment
        self.count = 0

    def __call__(self, *args, **kwargs):
        self.count += 1
        if self.count == 1 and self.moment == "before":
            raise KeyboardInterrupt
        result = self.function(*args, **kwargs)
        if self.count == 1:
            raise KeyboardInterrupt
        return result


@pytest.fixture(params=["nameless", "named"])
def temporary_files(request, monkeypatch):
    """Both ways of making a new file: not every file system has files without a name."""
    if request.param == "named":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)


@pytest.mark.usefixtures("temporary_files")
class TestReplacing:
    def test_errors_while_writing(self, tmp_path):
        path = tmp_path / "x"
        path.write_bytes(b"old")
        interrupted = contextlib.suppress(KeyboardInterrupt)
        with interrupted, _atomic.replacing(str(path)) as file:
            os.write(file, b"new")
            raise KeyboardInterrupt
        assert path.read_bytes() == b"old"
        assert os.listdir(tmp_path) == ["x"]

    @pytest.mark.parametrize("call", ["open", "fsync", "link", "replace", "fchmod", "close"])
    @pytest.mark.parametrize("moment", ["before", "after"])
    def test_interrupted_calls(self, call, moment, tmp_path, monkeypatch):
        path = tmp_path / "x"
        fb.save([1], path)
        calls = Interrupted(getattr(os, call), moment)
        monkeypatch.setattr(os, call, calls)
        if call == "link" and not hasattr(os, "O_TMPFILE"):
            fb.save([2], path)  # a file that has a name is not given one
        else:
            with pytest.raises(KeyboardInterrupt):
                fb.save([2], path)
        monkeypatch.undo()
        assert os.listdir(tmp_path) == ["x"]
        is_done = call == "close" or (call, moment) == ("replace", "after") or not calls.count
        assert fb.load(path) == ([2] if is_done else [1])

    def test_interrupts_while_a_failed_file_is_removed(self, tmp_path, monkeypatch):
        path = tmp_path / "x"
        path.write_bytes(b"old")
        monkeypatch.setattr(os, "unlink", Interrupted(os.unlink, "after"))
        with (
            pytest.raises((KeyboardInterrupt, ValueError)),
            _atomic.replacing(str(path)) as descriptor,
        ):
            raise ValueError
        assert os.listdir(tmp_path) == ["x"]
        assert path.read_bytes() == b"old"
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)

    def test_interrupts_at_any_moment(self, tmp_path):
        path = tmp_path / "x"
        start = time.perf_counter()
        fb.save(0, path)
        step = 1.2 * (time.perf_counter() - start) / 300
        written, fired = 0, []

        def interrupt(number, frame):
            fired.append(number)
            raise KeyboardInterrupt

        # By itself, as what interrupts a loop in a `with` goes past it in Python 3.13.0.
        def wait():
            while not fired:
                pass

        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            for number in range(1, 300):
                fired.clear()
                with contextlib.suppress(KeyboardInterrupt):
                    signal.setitimer(signal.ITIMER_REAL, number * step)
                    fb.save(number, path)
                    wait()
                found = fb.load(path)
                assert found in (written, number)
                written = found
                assert os.listdir(tmp_path) == ["x"]
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        assert written

    def test_readers_keep_the_file_they_have(self, tmp_path):
        fb.save(fb.zeros(1000), tmp_path / "x")
        mapped = fb.load(tmp_path / "x", mmap=True)
        fb.save(fb.ones(1000), tmp_path / "x")
        assert not mapped.any()
        assert fb.load(tmp_path / "x").all()

    def test_new_files_follow_the_umask(self, tmp_path):
        before = os.umask(0o027)
        try:
            fb.save([1], tmp_path / "x")
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640

    def test_permissions_stay(self, tmp_path):
        fb.save([1], tmp_path / "x")
        (tmp_path / "x").chmod(0o604)
        fb.save([2], tmp_path / "x")
        assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o604

    def test_links_are_followed(self, tmp_path):
        (tmp_path / "folder").mkdir()
        (tmp_path / "latest").symlink_to("folder/real")
        for value in ([1], [2]):
            fb.save(value, tmp_path / "latest")
            assert (tmp_path / "latest").is_symlink()
            assert fb.load(tmp_path / "folder" / "real") == value

    def test_names_as_long_as_they_may_be(self, tmp_path):
        fb.save([1], tmp_path / ("x" * 255))
        assert fb.load(tmp_path / ("x" * 255)) == [1]

    def test_relative_paths(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        fb.save([1], "x")
        assert fb.load("x") == [1]


def test_devices_and_pipes_are_written_to(tmp_path):
    fb.save([1], os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    os.mkfifo(tmp_path / "pipe")
    code = "import sys; sys.stdout.buffer.write(open(sys.argv[1], 'rb').read())"
    with subprocess.Popen(
        [sys.executable, "-c", code, tmp_path / "pipe"], stdout=subprocess.PIPE
    ) as reader:
        fb.save([1, 2], tmp_path / "pipe")
        data, _ = reader.communicate(timeout=60)
    (tmp_path / "x").write_bytes(data)
    assert fb.load(tmp_path / "x") == [1, 2]


def test_folders_that_are_not_there(tmp_path):
    with pytest.raises(RuntimeError, match=r"Parent directory .* does not exist"):
        fb.save([1], tmp_path / "no" / "x")
    with pytest.raises(RuntimeError, match="is a directory"):
        fb.save([1], tmp_path)
