"""The base classes of pipes, their registered methods, and batches."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Generic, TypeVar

from flambeau.utils.data.dataset import Dataset, IterableDataset

__all__ = ["DataChunk", "IterDataPipe", "MapDataPipe", "functional_datapipe"]

_Item = TypeVar("_Item")
_Pipe = TypeVar("_Pipe", bound=type)


class _Steps:
    """Steps that are reached as methods: ``pipe.batch(3)`` is ``Batcher(pipe, 3)``."""

    functions: ClassVar[dict[str, Callable[..., Any]]]

    def __getattr__(self, name: str) -> Any:
        step = type(self).functions.get(name)
        if step is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return functools.partial(step, self)

    @classmethod
    def register_function(cls, function_name: str, function: Callable[..., Any]) -> None:
        """Register ``function(pipe, ...)`` as a method of all pipes of this kind."""
        cls.functions[function_name] = function

    def __repr__(self) -> str:
        return type(self).__qualname__


class IterDataPipe(_Steps, IterableDataset[Any]):
    """A dataset that is iterated over. Every iteration starts anew."""

    functions: ClassVar[dict[str, Callable[..., Any]]] = {}

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} needs a method __iter__")


class MapDataPipe(_Steps, Dataset[Any]):
    """A dataset whose samples are asked for by key."""

    functions: ClassVar[dict[str, Callable[..., Any]]] = {}


class functional_datapipe:
    """Register a class of pipes as a method of others: ``@functional_datapipe("batch")``."""

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        self.name = name

    def __call__(self, cls: _Pipe) -> _Pipe:
        base = IterDataPipe if issubclass(cls, IterDataPipe) else MapDataPipe
        if not issubclass(cls, (IterDataPipe, MapDataPipe)):
            raise TypeError("`functional_datapipe` can only decorate IterDataPipe or MapDataPipe")
        if self.name in base.functions:
            raise Exception(f"Unable to add DataPipe function name {self.name}: it is taken")
        base.register_function(self.name, cls)
        return cls


class DataChunk(list[_Item], Generic[_Item]):
    """A batch of samples: a list that can be told from samples which are lists."""

    def as_str(self, indent: str = "") -> str:
        """Return the samples as text."""
        return indent + "[" + ", ".join(map(str, self)) + "]"

    def raw_iterator(self) -> Iterator[_Item]:
        """Iterate over the samples as they are."""
        yield from self
