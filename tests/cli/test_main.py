"""The command line itself: help, versions, mistakes, and how it ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from flambeau import __version__, cli
from flambeau.cli import info

ROOT = Path(__file__).parents[2]


def flambeau(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "flambeau", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


def test_help_lists_the_commands():
    result = flambeau("--help")
    assert result.returncode == 0
    for name, summary in cli.COMMANDS.items():
        assert f"  {name}" in result.stdout
        assert summary in result.stdout
    assert len(result.stdout.splitlines()) < 20


def test_help_loads_no_command():
    program = (
        "import sys; from flambeau.cli import main\ntry: main(['-h'])\nexcept SystemExit: pass\n"
    )
    program += "print([name for name in sys.modules if name.startswith('flambeau.cli.')])"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert result.stdout.endswith("\n[]\n")


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        cli.main([command, "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: flambeau {command}")
    assert f"examples:\n  flambeau {command}" in shown


def test_version(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"flambeau {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (
            ["doctro"],
            "only classify, demo, doctor, info, models, run; did you mean 'doctor'?",
        ),
        (["info", "--yaml"], "unrecognized arguments: --yaml"),
    ],
)
def test_mistakes(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_interruption_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def interrupted(arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(info, "run", interrupted)
    assert cli.main(["info"]) == 130
    assert capsys.readouterr().err == "\ninterrupted\n"


def test_interruption_while_a_command_is_imported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def interrupted(name: str) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.importlib, "import_module", interrupted)
    assert cli.main(["info"]) == 130
    assert capsys.readouterr().err == "\ninterrupted\n"


def test_reader_that_goes_away():
    command = f"{sys.executable} -m flambeau info --json | head -1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=ROOT)
    assert result.stdout == "{\n"
    assert result.stderr == ""


def test_console_script_is_declared():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'flambeau = "flambeau.cli:main"' in project.splitlines()
