"""Files of a profile: whole or not there, and packed if their names say so."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import IO, cast

__all__: list[str] = []


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[IO[str]]:
    """A text file that appears at ``path`` at the end, packed if that ends in ``.gz``."""
    from flambeau.utils._atomic import replacing  # profiles are seldom written

    path = os.fspath(path)
    with replacing(path) as descriptor:
        if path.endswith(".gz"):
            import gzip

            with (
                os.fdopen(descriptor, "wb", closefd=False) as raw,
                gzip.open(raw, "wt", encoding="utf-8", compresslevel=4) as packed,
            ):
                yield cast("IO[str]", packed)
        else:
            with os.fdopen(descriptor, "w", encoding="utf-8", closefd=False) as file:
                yield file
