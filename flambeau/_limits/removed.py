"""Functions that PyTorch took away: calling one says what to use instead."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["eig", "lstsq", "matrix_rank", "solve", "symeig"]


def _refuse(name: str, advice: str) -> NoReturn:
    raise RuntimeError(
        f"{name}: this function was deprecated since version 1.9 and is now removed. {advice}"
    )


def symeig(*args: Any, **kwargs: Any) -> NoReturn:
    """Removed: use ``linalg.eigh``."""
    _refuse("symeig", "Use linalg.eigh; it reads the lower triangle unless UPLO='U' is given.")


def eig(*args: Any, **kwargs: Any) -> NoReturn:
    """Removed: use ``linalg.eig``."""
    _refuse("eig", "Use linalg.eig, which returns complex tensors, or linalg.eigvals.")


def lstsq(*args: Any, **kwargs: Any) -> NoReturn:
    """Removed: use ``linalg.lstsq``."""
    _refuse("lstsq", "Use linalg.lstsq(A, B), which takes its arguments in the other order.")


def solve(*args: Any, **kwargs: Any) -> NoReturn:
    """Removed: use ``linalg.solve``."""
    _refuse("solve", "Use linalg.solve(A, B), which takes its arguments in the other order.")


def matrix_rank(*args: Any, **kwargs: Any) -> NoReturn:
    """Removed: use ``linalg.matrix_rank``."""
    _refuse("matrix_rank", "Use linalg.matrix_rank; its argument hermitian was called symmetric.")
