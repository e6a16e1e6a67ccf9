"""``flambeau info``: versions and settings in a few lines or as JSON."""

from __future__ import annotations

import argparse
import json

from flambeau.cli._machine import Facts, facts

__all__ = ["add_arguments", "run", "text"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = """\
examples:
  flambeau info                          a few lines to paste into a bug report
  flambeau info --json                   every setting, for programs"""
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def run(arguments: argparse.Namespace) -> int:
    print(json.dumps(facts(), indent=2) if arguments.json else text())
    return 0


def text() -> str:
    """The few lines."""
    return _text(facts())


def _text(found: Facts) -> str:
    flambeau, python, cpu = found["flambeau"], found["python"], found["cpu"]
    libraries = {
        name: value["version"] if isinstance(value, dict) else value or "none"
        for name, value in found["libraries"].items()
    }
    lines = {
        "flambeau": f"{flambeau['version']} ({flambeau['compiler']})",
        "python": f"{python['version']} ({python['implementation']})",
        "platform": found["platform"],
        "cpu": f"{cpu['model']}, {cpu['count']} processors, kernels {cpu['level']}",
        "threads": found["threads"]["used"],
        **libraries,
        "cuda driver": found["cuda"]["driver"] or "none",
        "environment": " ".join(f"{k}={v}" for k, v in found["environment"].items()) or "none",
    }
    width = max(map(len, lines)) + 2
    return "\n".join(f"{name:{width}}{value}" for name, value in lines.items())
