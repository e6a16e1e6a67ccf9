"""The ``flambeau`` command: one module for each of its commands, here unless `_ELSEWHERE` says it.

A command's module has ``add_arguments(parser)``, which also sets examples as the parser's epilog,
and ``run(arguments)``, which returns the exit code. It is loaded only when the command is run, so
that the others cost nothing.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import sys
from collections.abc import Sequence

from flambeau._display.terminal import printable
from flambeau.version import __version__

__all__ = ["main"]

COMMANDS = {
    "classify": "classify images with a pretrained network or your checkpoint",
    "demo": "train a network on handwritten digits and write a report",
    "doctor": "check this machine and the installation, with a fix for every problem",
    "info": "print versions and settings for a bug report",
    "models": "list the networks with published weights",
    "run": "run a PyTorch script unmodified, or list what it would miss",
}

# Commands for images are a part of the package for images.
_ELSEWHERE = {
    "classify": "flambeau.vision._commands.classify",
    "models": "flambeau.vision._commands.models",
}

_INTERRUPTED = 130  # what a shell reports of a program that Ctrl-C ended


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name, and return its exit code."""
    arguments = _parser().parse_args(argv)
    try:
        code = _run(arguments.command, arguments.rest)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:  # who was reading has gone, as in `flambeau doctor | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:  # a folder that cannot be written to, a full disk
        print(f"flambeau {arguments.command}: {printable(str(error))}", file=sys.stderr)
        return 1
    return code


def _run(name: str, rest: Sequence[str]) -> int:
    command = importlib.import_module(_ELSEWHERE.get(name, f"flambeau.cli.{name}"))
    summary = COMMANDS[name]
    parser = argparse.ArgumentParser(
        f"flambeau {name}",
        description=f"{summary[0].upper()}{summary[1:]}.",
        formatter_class=argparse.RawDescriptionHelpFormatter,  # examples keep their lines
    )
    command.add_arguments(parser)
    code: int = command.run(parser.parse_args(rest))
    return code


def _parser() -> argparse.ArgumentParser:
    width = max(map(len, COMMANDS)) + 2
    parser = argparse.ArgumentParser(
        "flambeau",
        usage="flambeau [-h] [--version] COMMAND ...",
        description="A lighter torch: PyTorch's programming model in a small, fast package.\n\n"
        "commands:\n"
        + "".join(f"  {name:{width}}{summary}\n" for name, summary in COMMANDS.items()),
        epilog="`flambeau COMMAND --help` explains a command, with examples.\n"
        "First time here? `flambeau demo` takes a few seconds and works offline.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"flambeau {__version__}")
    parser.add_argument("command", type=_command, metavar="COMMAND", help=argparse.SUPPRESS)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _command(name: str) -> str:
    if name in COMMANDS:
        return name
    close = difflib.get_close_matches(name, COMMANDS, 1)
    meant = f"; did you mean {close[0]!r}?" if close else ""
    raise argparse.ArgumentTypeError(
        f"there is no command {name!r}, only {', '.join(COMMANDS)}{meant}"
    )
