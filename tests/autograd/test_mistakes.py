"""Planted mistakes: PyTorch's class of error, and a message that names the lines at fault."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from tests.autograd.mistakes import MISTAKES, Mistake


def run(path: Path) -> Exception:
    """Runs a user's script and returns the exception that ends it."""
    try:
        exec(compile(path.read_text(), str(path), "exec"), {"__name__": "__main__"})
    except Exception as error:
        return error
    raise AssertionError(f"{path} found nothing wrong")


def told(error: Exception) -> str:
    """What the user reads: the message, and notes that were added to an exception of theirs."""
    return "\n".join([str(error), *getattr(error, "__notes__", ())])


@pytest.mark.filterwarnings("ignore:Anomaly Detection:UserWarning")
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_the_message_names_the_lines(mistake: Mistake, tmp_path: Path) -> None:
    path = tmp_path / "user_script.py"
    path.write_text(mistake.script)
    error = run(path)
    assert type(error) is mistake.error, f"{type(error).__name__}: {told(error)}"
    places = {mark: f"{path}:{line}" for mark, line in mistake.marks().items()}
    for part in mistake.says:
        assert part.format(**places) in told(error), told(error)


@pytest.mark.filterwarnings("ignore:Anomaly Detection:UserWarning")
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_the_traceback_leaves_the_script_at(mistake: Mistake, tmp_path: Path) -> None:
    path = tmp_path / "user_script.py"
    path.write_text(mistake.script)
    frames = traceback.extract_tb(run(path).__traceback__)
    last = [frame.lineno for frame in frames if frame.filename == str(path)][-1]
    assert last == mistake.marks()[mistake.raised]


def test_other_lines_are_not_named(tmp_path: Path) -> None:
    """The line that saved is the one whose tensor was changed, not a neighbour with the same op."""
    path = tmp_path / "user_script.py"
    path.write_text(
        "import flambeau as torch\n"
        "x = torch.ones(3, requires_grad=True)\n"
        "a = x * 2\n"
        "b = x * 3\n"
        "before = a**2\n"
        "after = b**2\n"
        "a.add_(0)\n"
        "b.add_(1)\n"
        "after.sum().backward()\n"
    )
    message = told(run(path))
    assert f"saved by pow at {path}:6" in message
    assert f"changed by add_ at {path}:8" in message
    for line in (3, 4, 5, 7):
        assert f"{path}:{line}" not in message


def test_lines_inside_functions(tmp_path: Path) -> None:
    """The line is where the operator was called, in whichever function that stands."""
    path = tmp_path / "user_script.py"
    path.write_text(
        "import flambeau as torch\n"
        "def layer(x):\n"
        "    return x.exp()\n"
        "def update(x):\n"
        "    return x.mul_(2)\n"
        "y = layer(torch.ones(3, requires_grad=True))\n"
        "update(y)\n"
        "y.sum().backward()\n"
    )
    message = told(run(path))
    assert f"saved by exp at {path}:3" in message
    assert f"changed by mul_ at {path}:5" in message
