"""Loaders of every kind on the classes of Flambeau or PyTorch, for resuming and conformance."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

# A case has a name and a function that makes the loader, given further keyword arguments.
Case = tuple[str, Callable[..., Any]]


class Kit:
    """Datasets and samplers on the classes of one framework."""

    def __init__(self, torch: Any, data: Any) -> None:
        self.torch = torch
        self.data = data

        class Drawing(data.Dataset):  # type: ignore[misc]
            """Samples of every kind of item, augmented from all three generators."""

            def __init__(self, count: int) -> None:
                self.count = count

            def __len__(self) -> int:
                return self.count

            def __getitem__(self, index: int) -> Any:
                noise = np.random.rand(2).astype("float32")  # noqa: NPY002
                return index, random.random(), noise, {"name": str(index), "x": torch.rand(3)}

        class Stream(data.IterableDataset):  # type: ignore[misc]
            """A stream that draws as it goes; each worker has every n-th sample."""

            def __init__(self, count: int) -> None:
                self.count = count

            def __iter__(self) -> Iterator[Any]:
                worker = data.get_worker_info()
                first, step = (worker.id, worker.num_workers) if worker else (0, 1)
                for i in range(first, self.count, step):
                    yield i + torch.rand(())

        class Eager(data.Sampler):  # type: ignore[misc]
            """Draws its order when its iterator is made, and not when it is first asked."""

            def __init__(self, count: int) -> None:
                self.count = count

            def __iter__(self) -> Iterator[int]:
                return iter(torch.randperm(self.count).tolist())

            def __len__(self) -> int:
                return self.count

        class Lazy(Eager):
            """Draws each index when it is asked for, from Python's generator."""

            def __iter__(self) -> Iterator[int]:
                for _ in range(self.count):
                    yield random.randrange(self.count)

        self.Drawing, self.Stream, self.Eager, self.Lazy = Drawing, Stream, Eager, Lazy

    def generator(self, seed: int) -> Any:
        return self.torch.Generator().manual_seed(seed)

    def datasets(self) -> dict[str, Any]:
        """Datasets by index."""
        data, torch = self.data, self.torch
        rows = data.TensorDataset(torch.arange(37 * 3).reshape(37, 3).float(), torch.arange(37))
        return {
            "tensors": rows,
            "subset": data.Subset(rows, [3, 1, 5, 7, 9, 11, 30, 36]),
            "nested subset": data.Subset(data.Subset(rows, range(5, 30)), [0, 2, 4, 24, 1]),
            "subset from the end": data.Subset(rows, [0, -1, 3]),
            "drawing": self.Drawing(23),
            "list": list(range(20)),
            "concat": data.ConcatDataset([rows, rows]),
            "stack": data.StackDataset(rows, self.Drawing(37)),
            "named stack": data.StackDataset(a=rows, b=self.Drawing(37)),
        }

    def orders(self, count: int) -> dict[str, Callable[[], dict[str, Any]]]:
        """Arguments of a loader over `count` samples that say in which order they come."""
        data, generator = self.data, self.generator
        indices = range(count)
        weights = [1.0] * (count - 1) + [5.0]
        return {
            "in order": lambda: {"batch_size": 4},
            "generator for nothing": lambda: {"batch_size": 4, "generator": generator(4)},
            "unbatched": lambda: {"batch_size": None},
            "shuffled": lambda: {"batch_size": 4, "shuffle": True},
            "shuffled, drop_last": lambda: {
                "batch_size": 2,
                "shuffle": True,
                "drop_last": True,
            },
            "shuffled, unbatched": lambda: {"batch_size": None, "shuffle": True},
            "one batch": lambda: {"batch_size": 64, "shuffle": True},
            "generator": lambda: {"batch_size": 4, "shuffle": True, "generator": generator(5)},
            "replacement": lambda: {
                "batch_size": 3,
                "sampler": data.RandomSampler(indices, True, 70),
            },
            "twice round": lambda: {
                "batch_size": 7,
                "sampler": data.RandomSampler(indices, False, 2 * count + 3, generator(9)),
                "generator": generator(1),
            },
            "weighted": lambda: {
                "batch_size": 3,
                "sampler": data.WeightedRandomSampler(weights, 20),
            },
            "weighted, each once": lambda: {
                "batch_size": 3,
                "sampler": data.WeightedRandomSampler(weights, count, False, generator(3)),
            },
            "some": lambda: {"batch_size": 3, "sampler": data.SubsetRandomSampler(indices[::2])},
            "batch sampler": lambda: {
                "batch_sampler": data.BatchSampler(data.RandomSampler(indices), 3, True)
            },
            "eager": lambda: {"batch_size": 4, "sampler": self.Eager(count)},
            "lazy": lambda: {"batch_size": 4, "sampler": self.Lazy(count)},
            "share": lambda: {"sampler": data.DistributedSampler(indices, 3, 1)},
            "padded share": lambda: {"sampler": data.DistributedSampler(indices, 50, 49, seed=3)},
            "even share": lambda: {
                "sampler": data.DistributedSampler(indices, 3, 2, shuffle=False, drop_last=True)
            },
            "from the end": lambda: {"batch_size": 2, "sampler": [2, 1, 0, -1]},
        }

    def streams(self) -> dict[str, Any]:
        """Datasets that are streams."""
        return {
            "stream": self.Stream(11),
            "chain": self.data.ChainDataset([self.Stream(3), self.Stream(4)]),
        }

    def cases(self) -> Iterator[Case]:
        """Every dataset in every order, each made anew when called."""
        for name, dataset in self.datasets().items():
            for order, arguments in self.orders(len(dataset)).items():
                yield f"{name}, {order}", self._maker(dataset, arguments)
        batches: dict[str, Callable[[], dict[str, Any]]] = {
            "batches": lambda: {"batch_size": 4},
            "whole batches": lambda: {"batch_size": 4, "drop_last": True},
            "unbatched": lambda: {"batch_size": None},
            "generator": lambda: {"batch_size": 1, "generator": self.generator(2)},
        }
        for name, dataset in self.streams().items():
            for order, arguments in batches.items():
                yield f"{name}, {order}", self._maker(dataset, arguments)

    def _maker(self, dataset: Any, arguments: Callable[[], dict[str, Any]]) -> Callable[..., Any]:
        return lambda **more: self.data.DataLoader(dataset, **arguments(), **more)

    def seed(self, seed: int) -> None:
        """Start all three generators."""
        self.torch.manual_seed(seed)
        random.seed(seed + 1)
        np.random.seed(seed + 2)  # noqa: NPY002

    def plain(self, batch: Any) -> Any:
        """A batch as Python values, with types, dtypes and strides."""
        if isinstance(batch, self.torch.Tensor):
            return str(batch.dtype), batch.tolist(), batch.stride()
        if isinstance(batch, dict):
            return {key: self.plain(value) for key, value in batch.items()}
        if isinstance(batch, (list, tuple)):
            return type(batch).__name__, [self.plain(value) for value in batch]
        return batch
