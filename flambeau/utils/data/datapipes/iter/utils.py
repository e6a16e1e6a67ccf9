"""Where pipes begin: anything that can be iterated over."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterable, Iterator
from typing import Any

from flambeau.utils.data.datapipes.datapipe import IterDataPipe

__all__ = ["IterableWrapperIterDataPipe"]


class IterableWrapperIterDataPipe(IterDataPipe):
    """The items of an iterable, of which each iteration takes a copy if it can."""

    def __init__(self, iterable: Iterable[Any], deepcopy: bool = True) -> None:
        self.iterable = iterable
        self.deepcopy = deepcopy

    def __iter__(self) -> Iterator[Any]:
        source = self.iterable
        if self.deepcopy:
            with contextlib.suppress(TypeError):  # a generator, for example, which serves only once
                source = copy.deepcopy(source)
        yield from source

    def __len__(self) -> int:
        return len(self.iterable)  # type: ignore[arg-type]
