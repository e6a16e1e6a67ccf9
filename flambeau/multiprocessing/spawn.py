"""The same function in several new processes, watched together."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from multiprocessing import connection
from multiprocessing.connection import Connection
from typing import Any

from flambeau import _C

__all__ = [
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "spawn",
    "start_processes",
]

# A report must fit into a pipe that nobody reads before the process has ended.
_REPORT_BYTES = 32768


class ProcessException(Exception):
    """One of several processes has failed."""

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.pid = pid

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """The function has raised; the message holds the traceback of that process."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg, error_index, error_pid)


class ProcessExitedException(ProcessException):
    """A process has exited with an error, or was ended by a signal."""

    def __init__(
        self,
        msg: str,
        error_index: int,
        error_pid: int,
        exit_code: int,
        signal_name: str | None = None,
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self) -> Any:
        parts = (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)
        return type(self), parts


def _run(
    fn: Callable[..., Any], index: int, args: tuple[Any, ...], report: Connection, parent: int
) -> None:
    """What each process does."""
    _C._end_with_parent(parent)
    try:
        fn(index, *args)
    except KeyboardInterrupt:
        pass  # the process that started this one reports it
    except Exception:
        report.send_bytes(traceback.format_exc().encode()[-_REPORT_BYTES:])
        sys.exit(1)


class ProcessContext:
    """Processes that were started together."""

    def __init__(self, processes: list[Any], reports: list[Connection]) -> None:
        self.processes = processes
        self._reports = reports
        self.sentinels: dict[Any, int] = {
            process.sentinel: i for i, process in enumerate(processes)
        }

    def pids(self) -> list[int]:
        """The process numbers, in order."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until a process ends, and say whether all have; a failure ends all and is raised.

        After a failure the others have `grace_period` seconds to end by themselves.
        """
        if not self.sentinels:
            return True
        for sentinel in connection.wait(list(self.sentinels), timeout=timeout):
            index = self.sentinels.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode != 0:
                self._end_all(grace_period)
                self._fail(index)
        return not self.sentinels

    def _end_all(self, grace_period: float | None) -> None:
        deadline = time.monotonic() + (grace_period or 0)
        for process in self.processes:
            if grace_period:
                process.join(max(0.0, deadline - time.monotonic()))
            if process.is_alive():
                process.terminate()
        for process in self.processes:
            process.join(30)
            if process.is_alive():
                process.kill()
                process.join()

    def _fail(self, index: int) -> None:
        process, report = self.processes[index], self._reports[index]
        if report.poll():
            try:
                text = report.recv_bytes().decode(errors="replace")
            except EOFError:
                pass
            else:
                heading = f"\n\n-- Process {index} terminated with the following error:\n"
                raise ProcessRaisedException(heading + text, index, process.pid)
        code = process.exitcode
        if code < 0:
            name = signal.Signals(-code).name
            text = f"process {index} terminated with signal {name}"
            raise ProcessExitedException(text, index, process.pid, code, name)
        text = f"process {index} terminated with exit code {code}"
        raise ProcessExitedException(text, index, process.pid, code)


class SpawnContext(ProcessContext):
    """The name of `ProcessContext` before there were other start methods."""


def start_processes(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run ``fn(i, *args)`` in `nprocs` new processes, and wait for them unless ``join=False``."""
    context: Any = multiprocessing.get_context(start_method)
    processes, reports = [], []
    for index in range(nprocs):
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(
            target=_run, args=(fn, index, args, theirs, os.getpid()), daemon=daemon
        )
        process.start()
        theirs.close()
        processes.append(process)
        reports.append(ours)
    started = ProcessContext(processes, reports)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run a function in several new processes.

    Args:
        fn: Function that can be imported; it is called as `fn(i, *args)` with the number i of the
            process.
        args: Further arguments. Default: none.
        nprocs: Number of processes. Default: 1.
        join: Whether to wait for all of them; False returns a `ProcessContext`. Default: True.
        daemon: Whether they end with this process. Default: False.
        start_method: How they start. Default: `"spawn"`.

    Raises:
        ProcessRaisedException: A process raised; the others are ended.
        ProcessExitedException: A process ended with an error.

    Example:
        >>> import math
        >>> torch.multiprocessing.spawn(math.sqrt, nprocs=2)
    """
    return start_processes(fn, args, nprocs, join, daemon, start_method)
