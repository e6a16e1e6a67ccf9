"""Intel's library of linear algebra, which Flambeau does not use: OpenBLAS is in its place."""

from __future__ import annotations

from typing import Any

__all__ = ["VERBOSE_OFF", "VERBOSE_ON", "is_available", "verbose"]

VERBOSE_OFF = 0
VERBOSE_ON = 1


def is_available() -> bool:
    """Whether the library is there."""
    return False


class verbose:
    """A block whose calls the library reports: refused, as the library is not there."""

    def __init__(self, enable: int) -> None:
        self.enable = enable

    def __enter__(self) -> verbose:
        if self.enable != VERBOSE_OFF:
            raise AssertionError(
                "mkl.verbose: this build computes with OpenBLAS and oneDNN; "
                "torch.backends.mkldnn.verbose reports calls of the latter"
            )
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        return
