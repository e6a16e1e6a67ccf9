"""Reports of what went wrong in a process of a job."""

from __future__ import annotations

import functools
import json
import os
import time
import traceback
from collections.abc import Callable
from typing import Any

__all__ = ["ChildFailedError", "record"]


class ChildFailedError(Exception):
    """A process of the job that failed."""

    def __init__(self, name: str, failures: dict[int, Any]) -> None:
        self.name = name
        self.failures = failures
        super().__init__(f"{name} failed in the processes {sorted(failures)}")


def record(fn: Callable[..., Any], error_handler: Any = None) -> Callable[..., Any]:
    """Write an exception of the main function into the file of TORCHELASTIC_ERROR_FILE, if any.

    An ``error_handler`` is told instead, by its ``record_exception``.
    """
    note = _write if error_handler is None else error_handler.record_exception

    @functools.wraps(fn)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        try:
            return fn(*args, **kwargs)
        except Exception as error:
            note(error)
            raise

    return recorded


def _write(error: Exception) -> None:
    path = os.environ.get("TORCHELASTIC_ERROR_FILE")
    if path is None:
        return
    details = {"py_callstack": traceback.format_exc(), "timestamp": str(int(time.time()))}
    message = {"message": f"{type(error).__name__}: {error}", "extraInfo": details}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"message": message}, file)
