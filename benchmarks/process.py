"""A separate process for measurements: requests and answers are lines of JSON."""

import json
import os
import subprocess
import sys
from types import TracebackType
from typing import Any, TypeVar

_P = TypeVar("_P", bound="Process")


class Process:
    """A module of this package that runs with given arguments and threads.

    `python` is the interpreter that runs it: this one, or that of another tree's environment.
    """

    def __init__(
        self, name: str, module: str, *arguments: str, threads: int, python: str = sys.executable
    ) -> None:
        self.name = name
        self._process = subprocess.Popen(
            [python, "-m", f"benchmarks.{module}", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": str(threads)},
        )

    def __enter__(self: _P) -> _P:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()

    def ask(self, **request: Any) -> dict[str, Any]:
        """The answer to a request; RuntimeError if the process could not give one."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self.answer()

    def answer(self) -> dict[str, Any]:
        """The next line of its output."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name}: the process died")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"{self.name}: {answer['error']}")
        return answer
