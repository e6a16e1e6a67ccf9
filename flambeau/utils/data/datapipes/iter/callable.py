"""Pipes that call a function with every sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from flambeau.utils.data._utils.collate import default_collate
from flambeau.utils.data.datapipes.datapipe import IterDataPipe, functional_datapipe

__all__ = ["CollatorIterDataPipe", "MapperIterDataPipe"]


@functional_datapipe("map")
class MapperIterDataPipe(IterDataPipe):
    """``fn`` of every sample; of one column or several, if ``input_col`` says so.

    The result replaces the sample; with ``input_col`` it goes to ``output_col``: a column, -1 for a
    new last one, by default the (first) input column.
    """

    def __init__(
        self,
        datapipe: IterDataPipe,
        fn: Callable[..., Any],
        input_col: Any = None,
        output_col: Any = None,
    ) -> None:
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        if isinstance(output_col, (list, tuple)):
            if len(output_col) > 1:
                raise ValueError("`output_col` must be a single-element list or tuple")
            output_col = output_col[0]
        self.datapipe = datapipe
        self.fn = fn
        self.input_col = input_col
        self.output_col = output_col

    def _fb_changed(self, sample: Any) -> Any:
        if self.input_col is None:
            return self.fn(sample)
        several = isinstance(self.input_col, (list, tuple))
        columns = self.input_col if several else [self.input_col]
        result = self.fn(*(sample[column] for column in columns))
        changed = list(sample) if isinstance(sample, tuple) else sample
        if self.output_col == -1:
            changed.append(result)
        elif self.output_col is not None:
            changed[self.output_col] = result
        else:
            changed[columns[0]] = result
            for column in sorted(columns[1:], reverse=True):
                del changed[column]
        return tuple(changed) if isinstance(sample, tuple) else changed

    def __iter__(self) -> Iterator[Any]:
        for sample in self.datapipe:
            yield self._fb_changed(sample)

    def __len__(self) -> int:
        return len(self.datapipe)


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe):
    """Batches as tensors, or as ``collate_fn`` makes them."""

    def __init__(
        self,
        datapipe: IterDataPipe,
        conversion: Callable[..., Any] | None = default_collate,
        collate_fn: Callable[..., Any] | None = None,
    ) -> None:
        function = collate_fn or conversion
        if not callable(function):
            raise TypeError(
                f"collate: expected a function, got {type(function).__name__}; "
                "use map() to convert by column"
            )
        super().__init__(datapipe, function)
