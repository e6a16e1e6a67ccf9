"""An epoch of a data loader: samples fetched and collated one by one, and rows of tensors."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.case import Namespace, add_case

SAMPLES = 1024


def loader(t: Any, dataset: Any, **arguments: Any) -> Namespace:
    """The loader that a statement iterates over; the import of the module is not timed."""
    return {"loader": t.utils.data.DataLoader(dataset, **arguments)}


def images(t: Any) -> Any:
    """The usual dataset: an image by index, transformed, with its label."""

    class Images(t.utils.data.Dataset):  # type: ignore[misc]
        def __init__(self) -> None:
            self.images = t.zeros(SAMPLES, 28, 28, dtype=t.uint8)
            self.labels = t.arange(SAMPLES) % 10

        def __len__(self) -> int:
            return SAMPLES

        def __getitem__(self, index: int) -> Any:
            return self.images[index].float().div(255), int(self.labels[index])

    return Images()


def records(t: Any) -> Any:
    """A dict of arrays and numbers per sample."""

    class Records(t.utils.data.Dataset):  # type: ignore[misc]
        def __init__(self) -> None:
            self.x = np.zeros((SAMPLES, 32), dtype=np.float32)

        def __len__(self) -> int:
            return SAMPLES

        def __getitem__(self, index: int) -> Any:
            return {"x": self.x[index], "y": index % 7, "weight": 1.0, "name": "sample"}

    return Records()


def stream(t: Any) -> Any:
    """Rows of a tensor as a stream."""

    class Stream(t.utils.data.IterableDataset):  # type: ignore[misc]
        def __init__(self) -> None:
            self.rows = t.zeros(SAMPLES, 64)

        def __iter__(self) -> Any:
            return iter(self.rows)

    return Stream()


def tensors(t: Any, width: int, count: int = SAMPLES) -> Any:
    return t.utils.data.TensorDataset(t.zeros(count, width), t.arange(count))


def part_of_tensors(t: Any) -> Any:
    return t.utils.data.random_split(tensors(t, 16, 2 * SAMPLES), [0.5, 0.5])[0]


def add(
    group: str, name: str, dataset: Callable[[Any], Any], batch_size: int, **arguments: Any
) -> None:
    """A row for one epoch; both frameworks must agree on the number of batches."""

    def prepare(t: Any) -> Namespace:
        return loader(t, dataset(t), batch_size=batch_size, **arguments)

    statement = "for batch in loader: pass"
    add_case(group, name, prepare, statement, check="[len(list(loader))]")


add("data-loader", "images, batches of 64, shuffled", images, 64, shuffle=True)
add("data-loader", "records, batches of 32", records, 32)
add("data-loader", "stream, batches of 64", stream, 64)
add(
    "data-loader",
    "list of numbers, batches of 16, shuffled",
    lambda t: [0.5] * SAMPLES,
    16,
    shuffle=True,
)
add("data-tensors", "16 features, batches of 8", lambda t: tensors(t, 16), 8, shuffle=True)
add("data-tensors", "784 features, batches of 64", lambda t: tensors(t, 784), 64, shuffle=True)
add("data-tensors", "784 features, batches of 256, in order", lambda t: tensors(t, 784), 256)
add("data-tensors", "a random split, batches of 32", part_of_tensors, 32, shuffle=True)
