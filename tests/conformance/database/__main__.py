"""The operators' database in processes of their own: ``python -m tests.conformance.database``.

A crash of the interpreter is a line of the report, and so is a comparison that does not end.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import faulthandler
import json
import os
import resource
import signal
import sys
from typing import Any

import torch

from tests.conformance.database import modules, operators
from tests.conformance.database.tally import Tally

LIMIT = 8 << 30


def names() -> list[str]:
    """All entries of the databases."""
    return [
        *operators.OPERATORS,
        *(f"module {name}" for name in modules.MODULES),
        *(f"older {name}" for name in modules.OLDER),
    ]


def _tally(name: str, most: int | None) -> Tally:
    kind, _, rest = name.partition(" ")
    if kind == "module":
        return modules.tally(modules.cases_of(modules.MODULES[rest]), name)
    if kind == "older":
        return modules.tally(modules.OLDER[rest](), name)
    return operators.tally(operators.OPERATORS[name], most)


def _plain(made: Tally) -> dict[str, Any]:
    found = [dataclasses.asdict(each) for each in made.found]
    return {
        "name": made.name,
        "samples": dict(made.samples),
        "checks": dict(made.checks),
        "found": found,
    }


def in_a_process(name: str, seconds: int, most: int | None) -> dict[str, Any]:
    """The tally of an operator as plain data, with the end of its process if that was not good."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        faulthandler.enable()
        faulthandler.dump_traceback_later(seconds, exit=True)
        data = json.dumps(_plain(_tally(name, most)))
        with os.fdopen(writer, "w") as pipe:
            pipe.write(data)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    if not data:
        end = (
            signal.Signals(os.WTERMSIG(status)).name
            if os.WIFSIGNALED(status)
            else f"exit {os.WEXITSTATUS(status)}"
        )
        return {"name": name, "samples": {}, "checks": {}, "found": [], "end": end}
    return json.loads(data)


def _seconds() -> float:
    """Processor time of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--most", type=int)
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--only", default="")
    parser.add_argument("--output")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.func.vmap(torch.sin)(torch.ones(2))  # imports much, once for all processes
    torch.backends.opt_einsum.enabled = False
    part, parts = (int(each) for each in options.part.split("/"))
    chosen = options.names or [each for each in names() if options.only in each][part::parts]
    with contextlib.ExitStack() as stack:
        output = stack.enter_context(open(options.output, "w")) if options.output else sys.stdout
        _run(chosen, options, output)


def _run(chosen: list[str], options: argparse.Namespace, output: Any) -> None:
    for name in chosen:
        start = _seconds()
        result = in_a_process(name, options.seconds, options.most)
        result["time"] = _seconds() - start
        print(json.dumps(result), file=output, flush=True)
        print(
            name,
            result.get("end", ""),
            result["samples"],
            len(result["found"]),
            f"{result['time']:.1f}",
            file=sys.stderr,
        )


if __name__ == "__main__":
    main()
