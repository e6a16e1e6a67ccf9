"""A separate process for measurements: requests and answers are lines of JSON."""

import contextlib
import json
import math
import os
import select
import subprocess
import sys
import time
from types import TracebackType
from typing import Any, TypeVar

_P = TypeVar("_P", bound="Process")


class Process:
    """A module of this package that runs with given arguments and threads.

    `python` is the interpreter that runs it: this one, or that of another tree's environment.
    Answers may take `allowance` seconds together; then the process is killed.
    """

    def __init__(
        self,
        name: str,
        module: str,
        *arguments: str,
        threads: int,
        python: str = sys.executable,
        allowance: float = math.inf,
    ) -> None:
        self.name = name
        self.allowance = allowance
        self._command = [python, "-m", f"benchmarks.{module}", *arguments]
        self._environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self._environment,
        )

    def stop(self) -> None:
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):  # a driver may hold it for long
            self._process.wait(10)

    def __enter__(self: _P) -> _P:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def ask(self, **request: Any) -> dict[str, Any]:
        """The answer to a request; RuntimeError if the process could not give one."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise RuntimeError(f"{self.name}: the process died") from None
        return self.answer()

    def answer(self) -> dict[str, Any]:
        """The next line of its output."""
        assert self._process.stdout is not None
        self._wait()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name}: the process died")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"{self.name}: {answer['error']}")
        return answer

    def _wait(self) -> None:
        if self.allowance == math.inf:
            return
        start = time.monotonic()
        ready, _, _ = select.select([self._process.stdout], [], [], max(self.allowance, 0))
        self.allowance -= time.monotonic() - start
        if not ready:
            self.stop()
            raise RuntimeError(f"{self.name}: no answer in time, killed")
