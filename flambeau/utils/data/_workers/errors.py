"""Exceptions of workers, raised again where the batch was asked for."""

from __future__ import annotations

import signal
import traceback
from typing import Any, NoReturn

__all__ = ["RemoteError", "death_message"]


class _Verbatim(str):
    """Text that `KeyError`, which shows the representation of its argument, shows as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class RemoteError:
    """An exception with the traceback of the worker that raised it, as text."""

    def __init__(self, error: BaseException, where: str) -> None:
        self.kind: Any = type(error)
        self.where = where
        self.text = "".join(traceback.format_exception(error))

    def reraise(self) -> NoReturn:
        """Raise an exception of the same class, or a RuntimeError if it takes other arguments."""
        message = f"Caught {self.kind.__name__} {self.where}.\nOriginal {self.text}"
        if self.kind is KeyError:
            raise KeyError(_Verbatim(message))
        try:
            named = getattr(self.kind, "message", None)
            error = self.kind(message=message) if named else self.kind(message)
        except Exception:
            error = RuntimeError(message)
        raise error from None


_CAUSES = {
    "SIGKILL": " The system does that to the process that takes most when memory runs out.",
    "SIGBUS": " Memory or a file that it had mapped was no longer there.",
    "SIGSEGV": " Native code that the dataset uses has reached outside of its memory.",
}


def death_message(
    worker: int, pid: int, exit_code: int | None, samples: str, *, is_starting: bool
) -> str:
    """Describe a worker process that has ended unexpectedly."""
    if exit_code is not None and exit_code < 0:
        try:
            name = signal.Signals(-exit_code).name
        except ValueError:  # a real-time signal
            name = str(-exit_code)
        end = f"is killed by signal: {name}.{_CAUSES.get(name, '')}"
    else:
        end = f"exited unexpectedly with exit code {exit_code}."
    doing = "was starting" if is_starting else f"was loading {samples}"
    return f"DataLoader worker (pid {pid}) {end} It was worker {worker} and {doing}."
