"""The sampler of one process in distributed training."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from typing import Any

import flambeau
from flambeau.utils.data.sampler import Sampler

__all__ = ["DistributedSampler"]


def _from_group(question: str) -> int:
    """Ask the process group of this process."""
    try:
        distributed = importlib.import_module("flambeau.distributed")
    except ImportError:
        raise RuntimeError(
            "Requires distributed package to be available; without it give DistributedSampler "
            "num_replicas and rank"
        ) from None
    return int(getattr(distributed, question)())


class DistributedSampler(Sampler[int]):
    """Share of the indices for one of several processes; all shares are equally long.

    The order depends on `seed` and the epoch: call `set_epoch` before each epoch.

    Args:
        dataset: Dataset with a length.
        num_replicas: Number of processes. Default: that of the process group.
        rank: Number of this process. Default: that in the process group.
        shuffle: Whether to shuffle. Default: True.
        seed: Seed of the shuffling, the same in all processes. Default: 0.
        drop_last: Whether to drop indices to make shares equal, instead of repeating some.
            Default: False.

    Example:
        >>> from flambeau.utils.data import DistributedSampler
        >>> sampler = DistributedSampler(range(6), num_replicas=2, rank=1, shuffle=False)
        >>> list(sampler)
        [1, 3, 5]

    See also:
        `nn.parallel.DistributedDataParallel`.
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        self.num_replicas: int = (
            _from_group("get_world_size") if num_replicas is None else num_replicas
        )
        self.rank: int = _from_group("get_rank") if rank is None else rank
        if not 0 <= self.rank < self.num_replicas:
            raise ValueError(
                f"Invalid rank {self.rank}, rank should be in the interval "
                f"[0, {self.num_replicas - 1}]"
            )
        self.dataset = dataset
        self.epoch: int = 0
        self.drop_last = drop_last
        self.shuffle = shuffle
        self.seed = seed
        share = len(dataset) / self.num_replicas
        self.num_samples: int = math.floor(share) if drop_last else math.ceil(share)
        self.total_size: int = self.num_samples * self.num_replicas

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        if self.shuffle:
            generator = flambeau.Generator().manual_seed(self.seed + self.epoch)
            indices = flambeau.randperm(count, generator=generator, device="cpu").tolist()
        else:
            indices = list(range(count))
        if not self.drop_last and indices:
            # The first ones come a second time, so that every process has as many.
            indices *= math.ceil(self.total_size / count)
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch, which changes the order of the next pass.

        Args:
            epoch: Number of the epoch.

        Example:
            >>> from flambeau.utils.data import DistributedSampler
            >>> sampler = DistributedSampler(range(6), num_replicas=2, rank=0)
            >>> sampler.set_epoch(1)
            >>> len(list(sampler))
            3
        """
        self.epoch = epoch
