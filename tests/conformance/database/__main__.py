"""All samples of torch's databases: ``python -m tests.conformance.database``.

Every entry runs in a process of its own: a crash of the interpreter is a line of the report, and so
is a comparison that does not end. The run fails if something differs without a reason, or if a
reason of `differences.py` stands for nothing. The latter is not asked of a part of the databases,
nor of other kernels than the machine's best (``FLAMBEAU_ISA``), whose roundings may agree.
"""

from __future__ import annotations

import argparse
import dataclasses
import faulthandler
import json
import os
import resource
import signal
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from tests.conformance.coverage import Coverage
from tests.conformance.database import modules, operators, optimizers
from tests.conformance.database.tally import Found, Tally
from tests.conformance.differences import unused

LIMIT = 8 << 30


def names() -> list[str]:
    """All entries of the databases."""
    return [
        *operators.OPERATORS,
        *(f"module {name}" for name in modules.MODULES),
        *(f"older {name}" for name in modules.OLDER),
        *(f"optimizer {name}" for name in optimizers.OPTIMIZERS),
    ]


def _tally(name: str, most: int | None) -> Tally:
    kind, _, rest = name.partition(" ")
    if kind == "module":
        return modules.tally(modules.cases_of(modules.MODULES[rest]), name)
    if kind == "older":
        return modules.tally(modules.OLDER[rest](), name)
    if kind == "optimizer":
        return optimizers.tally(optimizers.OPTIMIZERS[rest])
    return operators.tally(operators.OPERATORS[name], most)


def _plain(made: Tally) -> dict[str, Any]:
    return {
        "name": made.name,
        "counts": made.counts(),
        "found": [dataclasses.asdict(each) for each in made.found],
    }


def in_a_process(name: str, seconds: int, most: int | None) -> dict[str, Any]:
    """The tally of an entry as plain data, with the end of its process if that was not good."""
    before = _seconds()
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
        result: dict[str, Any] = {"name": name, "counts": [{}, 0, {}], "found": [], "end": end}
    else:
        result = json.loads(data)
    result["time"] = _seconds() - before
    return result


def _seconds() -> float:
    """Processor time of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="entries; all of them where none is named")
    parser.add_argument("--only", default="", help="entries whose names contain this")
    parser.add_argument("--most", type=int, help="samples of an operator in a dtype")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--seconds", type=int, default=900, help="after which an entry is ended")
    parser.add_argument("--output", help="a file for one line of JSON an entry")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.func.vmap(torch.sin)(torch.ones(2))  # imports much, once for all processes
    torch.backends.opt_einsum.enabled = False
    known = names()
    if unknown := set(options.names) - set(known):
        parser.error(f"no entries of the databases: {', '.join(sorted(unknown))}")
    chosen = options.names or [each for each in known if options.only in each]
    with TemporaryDirectory() as folder:
        results = _run(chosen, options, Path(folder))
    if options.output:
        Path(options.output).write_text("".join(json.dumps(each) + "\n" for each in results))
    is_whole = not (options.names or options.only or options.most or os.environ.get("FLAMBEAU_ISA"))
    return _report(results, is_whole)


def _run(chosen: list[str], options: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    """The entries, every n-th in the same process."""
    children = []
    for job in range(options.jobs):
        child = os.fork()
        if child == 0:
            with open(folder / str(job), "w") as output:
                for name in chosen[job :: options.jobs]:
                    result = in_a_process(name, options.seconds, options.most)
                    print(json.dumps(result), file=output, flush=True)
                    _say(result)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    text = "".join((folder / str(job)).read_text() for job in range(options.jobs))
    return [json.loads(line) for line in text.splitlines()]


def _say(result: dict[str, Any]) -> None:
    samples, _, _ = result["counts"]
    words = ", ".join(f"{count} {what}" for what, count in samples.items())
    print(
        f"{result['name']}: {result.get('end', words)} in {result['time']:.1f} s", file=sys.stderr
    )


def _report(results: list[dict[str, Any]], is_whole: bool) -> int:
    coverage = Coverage()
    found: dict[str, list[Found]] = {}
    wrong = []
    for result in results:
        name = result["name"]
        coverage.read([("database", result["counts"])])
        found[name] = [Found(**each) for each in result["found"]]
        wrong += [f"{name}: {each}" for each in found[name] if not each.reason]
        if "end" in result:
            wrong.append(f"{name}: {result['end']}")
    if is_whole:
        wrong += [f"nothing differs so: {each}" for each in unused(found)]
    print(*coverage.lines(), sep="\n")
    print(*wrong, sep="\n")
    print(f"{len(wrong)} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
