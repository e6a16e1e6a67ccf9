"""A training process is killed at any moment; another resumes, with bitwise equal losses."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATIENCE = 120  # seconds for a step to appear, on a machine that does much else


def start(folder: Path, workers: int) -> subprocess.Popen[bytes]:
    # A session of its own: its workers end with it and the test hears nothing of them.
    return subprocess.Popen(
        [sys.executable, "-m", "tests.data_loading.training", str(folder), str(workers)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )


def losses(folder: Path) -> dict[int, str]:
    """The loss of each step; a step that ran twice, before a kill and after, stands once."""
    file = folder / "losses"
    lines = file.read_text().splitlines() if file.exists() else []
    curve: dict[int, str] = {}
    for line in lines:
        step, bits = line.split()
        assert curve.setdefault(int(step), bits) == bits, f"step {step} has two losses"
    return curve


def kill_after(process: subprocess.Popen[bytes], folder: Path, steps: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while len(losses(folder)) < steps:
        assert process.poll() is None, "the program ended before it was killed"
        assert time.monotonic() < deadline, f"no {steps} steps in {PATIENCE} s"
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


@pytest.mark.parametrize("workers", [0, 2])
def test_killed_and_resumed(tmp_path: Path, workers: int) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir()
    parts.mkdir()
    assert start(whole, workers).wait(PATIENCE) == 0
    for steps in (3, 9, 14, 26):  # in the first pass, at its end, in the second and the third
        kill_after(start(parts, workers), parts, steps)
    assert start(parts, workers).wait(PATIENCE) == 0
    assert losses(parts) == losses(whole)
    assert len(losses(whole)) == 4 * 9
