"""An epoch of a data loader with two worker processes, and the time to its first batch."""

from typing import Any

from benchmarks.case import Namespace, add_case
from benchmarks.cases.data import add, images, loader, records, stream

WORKERS = {"num_workers": 2, "persistent_workers": True}


def photographs(t: Any) -> Any:
    """Samples of the size that large networks are trained on: what counts is moving them."""

    class Photographs(t.utils.data.Dataset):  # type: ignore[misc]
        def __init__(self) -> None:
            self.images = t.zeros(32, 3, 224, 224)

        def __len__(self) -> int:
            return 256

        def __getitem__(self, index: int) -> Any:
            return self.images[index % 32], index % 10

    return Photographs()


def starting(t: Any) -> Namespace:
    return loader(t, images(t), batch_size=64, num_workers=2)


add("data-workers", "images, batches of 64, shuffled", images, 64, shuffle=True, **WORKERS)
add("data-workers", "images, batches of 8", images, 8, **WORKERS)
add("data-workers", "records, batches of 32", records, 32, **WORKERS)
add("data-workers", "stream, batches of 64", stream, 64, **WORKERS)
add("data-workers", "photographs, batches of 16", photographs, 16, **WORKERS)
add_case("data-workers", "start of two workers, first batch, end", starting, "next(iter(loader))")
