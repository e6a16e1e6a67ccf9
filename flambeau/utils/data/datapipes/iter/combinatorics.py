"""Pipes that reorder samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flambeau.utils.data.datapipes._shuffling import Shuffling
from flambeau.utils.data.datapipes.datapipe import IterDataPipe, functional_datapipe
from flambeau.utils.data.sampler import Sampler, SequentialSampler

__all__ = ["SamplerIterDataPipe", "ShufflerIterDataPipe"]


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(Shuffling, IterDataPipe):
    """Samples drawn at random from a buffer of ``buffer_size``, which is kept full.

    Each iteration draws its seed from the default generator, unless `set_seed` gave one.
    """

    def __init__(
        self, datapipe: IterDataPipe, *, buffer_size: int = 10000, unbatch_level: int = 0
    ) -> None:
        if buffer_size <= 0:
            raise ValueError("buffer_size should be larger than 0")
        self.datapipe: Any = datapipe.unbatch(unbatch_level) if unbatch_level else datapipe
        self.buffer_size = buffer_size

    def __iter__(self) -> Iterator[Any]:
        if not self._enabled:
            yield from self.datapipe
            return
        chance = self._fb_chance()
        buffer: list[Any] = []
        for sample in self.datapipe:
            if len(buffer) < self.buffer_size:
                buffer.append(sample)
                continue
            index = chance.randint(0, len(buffer) - 1)
            chosen, buffer[index] = buffer[index], sample
            yield chosen
        while buffer:
            yield buffer.pop(chance.randint(0, len(buffer) - 1))

    def __len__(self) -> int:
        return len(self.datapipe)


class SamplerIterDataPipe(IterDataPipe):
    """The samples in the order of a sampler's indices, which are taken as samples of the pipe."""

    def __init__(
        self,
        datapipe: IterDataPipe,
        sampler: type[Sampler[Any]] = SequentialSampler,
        sampler_args: tuple[Any, ...] | None = None,
        sampler_kwargs: dict[str, Any] | None = None,
    ) -> None:
        options = {**(sampler_kwargs or {}), "data_source": datapipe}
        self.sampler: Sampler[Any] = sampler(*(sampler_args or ()), **options)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.sampler)

    def __len__(self) -> int:
        return len(self.sampler)  # type: ignore[arg-type]
