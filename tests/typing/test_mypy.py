"""mypy on small programs against the installed stubs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy", reason="mypy, of the extra `test`, is not installed")

HERE = Path(__file__).parent


def mypy(file: str) -> tuple[int, str]:
    """The exit status and the output of a strict run, from outside the tree."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--config-file="]
    done = subprocess.run(
        [*command, str(HERE / file)], capture_output=True, text=True, cwd=HERE, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_users_programs_are_accepted() -> None:
    status, output = mypy("right.py")
    assert status == 0, output


def test_mistakes_are_found() -> None:
    status, output = mypy("wrong.py")
    assert status == 1, output
    lines = (HERE / "wrong.py").read_text(encoding="utf-8").splitlines()
    marked = {number for number, line in enumerate(lines, 1) if line.endswith("# error")}
    found = {int(line) for line in re.findall(r"wrong\.py:(\d+): error", output)}
    assert found == marked, output
