"""``flambeau run``: a PyTorch program on Flambeau, or what it would miss there."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

__all__ = ["add_arguments", "run"]

_FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = f"{parser.prog} [--audit] (SCRIPT | -m MODULE) [ARGUMENTS ...]"
    parser.epilog = """\
examples:
  flambeau run train.py --epochs 10      runs train.py with its own arguments
  flambeau run -m package.train          runs a module, as python -m does
  flambeau run --audit train.py          lists the torch names that Flambeau does not have
  flambeau run --audit --json project/   the same for a folder, for programs

Options of flambeau come before SCRIPT; everything after it belongs to the program."""
    parser.add_argument(
        "--audit",
        action="store_true",
        help="run nothing; list the missing torch names of a script, notebook or folder",
    )
    parser.add_argument(
        "--json", action="store_true", help="with --audit: print everything as JSON"
    )
    parser.add_argument(
        "-m", action="store_true", dest="module", help="SCRIPT is the name of a module"
    )
    parser.add_argument("script", metavar="SCRIPT", help="the program to run")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    if arguments.audit:
        return _audit([arguments.script, *arguments.arguments], arguments.json)
    from flambeau.compat._run import run_module, run_script

    if arguments.module:
        return run_module(arguments.script, arguments.arguments)
    if Path(arguments.script).is_dir():
        print(
            f"flambeau run: {arguments.script} is a folder: name a script in it, "
            "or use --audit to look through them all",
            file=sys.stderr,
        )
        return _FAILED
    return run_script(arguments.script, arguments.arguments)


def _audit(paths: list[str], as_json: bool) -> int:
    from flambeau.cli._audit_output import as_text, to_json
    from flambeau.compat import audit

    absent = [path for path in paths if not Path(path).exists()]
    if absent:
        print(f"flambeau run --audit: there is no {absent[0]}", file=sys.stderr)
        return _FAILED
    found = audit(*paths, show_progress=sys.stderr.isatty())
    print(to_json(found) if as_json else as_text(found))
    return _FAILED if found.missing or found.unreadable else 0
