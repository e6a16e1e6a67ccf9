"""`DataLoader` without workers: arguments, lengths, batches of tensor datasets."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import flambeau as torch
from flambeau.utils import data
from flambeau.utils.data._utils import batching


def lists(loader: Any) -> list[Any]:
    return [batch.tolist() for batch in loader]


def test_batches() -> None:
    assert lists(data.DataLoader(range(5), batch_size=2)) == [[0, 1], [2, 3], [4]]
    assert lists(data.DataLoader(range(5), batch_size=2, drop_last=True)) == [[0, 1], [2, 3]]
    assert list(data.DataLoader(range(3), batch_size=None)) == [0, 1, 2]
    assert lists(data.DataLoader(range(3), sampler=[2, 0])) == [[2], [0]]
    assert lists(data.DataLoader(range(3), batch_sampler=[[2, 0], [1]])) == [[2, 0], [1]]
    assert list(data.DataLoader("ab", collate_fn=len)) == [1, 1]


def test_lengths() -> None:
    assert len(data.DataLoader(range(5), batch_size=2)) == 3
    assert len(data.DataLoader(range(5), batch_size=2, drop_last=True)) == 2
    assert len(data.DataLoader(range(5), batch_size=None)) == 5
    assert len(iter(data.DataLoader(range(5), batch_size=2))) == 3


class Stream(data.IterableDataset[int]):
    """A stream that says it is shorter than it is."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(5))

    def __len__(self) -> int:
        return 2


def test_stream_longer_than_it_says() -> None:
    loader = data.DataLoader(Stream(), batch_size=None)
    assert list(loader) == [0, 1, 2, 3, 4]
    assert len(loader) == 2
    with pytest.warns(UserWarning, match="reported to be 2 .* [345] samples have been"):
        assert len(list(loader)) == 5


def test_two_passes_at_a_time() -> None:
    loader = data.DataLoader(range(4), batch_size=2)
    pairs = zip(loader, loader, strict=True)
    assert [(a.tolist(), b.tolist()) for a, b in pairs] == [([0, 1], [0, 1]), ([2, 3], [2, 3])]


def test_attributes_that_stay() -> None:
    loader = data.DataLoader(range(4))
    for name in ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset"):
        with pytest.raises(
            ValueError, match=f"{name} attribute should not be set after DataLoader"
        ):
            setattr(loader, name, None)
    loader.num_workers = 0
    loader.collate_fn = sum
    assert list(loader) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_workers": -1}, "num_workers=-1"),
        ({"timeout": -1}, "timeout=-1"),
        ({"prefetch_factor": 2}, "let num_workers > 0"),
        ({"persistent_workers": True}, "needs num_workers > 0"),
        ({"worker_type": "fibre"}, "one of process, thread, but got worker_type='fibre'"),
        ({"batch_size": None, "drop_last": True}, "mutually exclusive with drop_last"),
        ({"sampler": [0], "shuffle": True}, "mutually exclusive with shuffle"),
        ({"batch_sampler": [[0]], "batch_size": 2}, "mutually exclusive with batch_size"),
        ({"multiprocessing_context": "fork"}, "num_workers=0"),
    ],
)
def test_refused_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        data.DataLoader([1, 2], **arguments)


def test_refused_for_streams() -> None:
    for name, value in (("shuffle", True), ("sampler", [0]), ("batch_sampler", [[0]])):
        with pytest.raises(ValueError, match=f"expected unspecified {name} option"):
            data.DataLoader(Stream(), **{name: value})  # type: ignore[arg-type]


def test_pinning_without_a_device() -> None:
    with pytest.warns(UserWarning, match="no accelerator is found"):
        assert lists(data.DataLoader([1], pin_memory=True)) == [[1]]


def sources() -> list[Any]:
    """Datasets whose batches are taken at once, and some that only look like it."""
    x = torch.arange(24.0).reshape(12, 2)
    rows = data.TensorDataset(x, torch.arange(12))
    images = data.TensorDataset(torch.arange(96.0).reshape(4, 2, 3, 4).permute(0, 3, 1, 2))
    return [
        rows,
        data.Subset(rows, [1, 5, 3]),
        data.Subset(rows, range(2, 9)),
        data.Subset(rows, np.array([1, 5, 3])),
        data.Subset(rows, torch.tensor([1, 5, 3])),
        data.Subset(rows, [0, -1]),
        data.Subset(rows, []),
        data.Subset(data.Subset(rows, [1, 5, 3]), [2, 0]),
        data.TensorDataset(x.t()),
        data.TensorDataset(torch.zeros(3, 0), torch.zeros(3, dtype=torch.bool)),
        images,
        data.TensorDataset(torch.nn.Parameter(x)),
    ]


@pytest.mark.parametrize("number", range(len(sources())))
@pytest.mark.parametrize("shuffle", [False, True])
def test_rows_are_as_if_collated(number: int, shuffle: bool) -> None:
    dataset = sources()[number]
    shuffle = shuffle and len(dataset) > 0
    kept = []
    for collate_fn in (None, lambda samples: data.default_collate(samples)):
        torch.manual_seed(1)
        loader = data.DataLoader(dataset, 2, shuffle, collate_fn=collate_fn)
        kept.append([[(t.dtype, t.stride(), t.tolist()) for t in batch] for batch in loader])
    assert kept[0] == kept[1]


def test_rows_are_copies() -> None:
    x = torch.zeros(4, 2)
    for shuffle in (False, True):
        for (batch,) in data.DataLoader(data.TensorDataset(x), 2, shuffle):
            batch.add_(1)
    assert x.sum() == 0


def test_what_changes_a_sample_is_heard() -> None:
    class Twice(data.TensorDataset):
        def __getitem__(self, index: Any) -> Any:
            return tuple(2 * part for part in super().__getitem__(index))

    rows = torch.arange(4)
    assert lists(b for (b,) in data.DataLoader(Twice(rows), 4)) == [[0, 2, 4, 6]]
    function = batching.collate.default_collate_fn_map[torch.Tensor]
    batching.collate.default_collate_fn_map[torch.Tensor] = lambda batch, **_: sum(batch)
    try:
        [[batch]] = data.DataLoader(data.TensorDataset(rows), 4)
    finally:
        batching.collate.default_collate_fn_map[torch.Tensor] = function
    assert batch == 6


def test_errors_are_those_of_the_samples() -> None:
    rows = data.TensorDataset(torch.arange(4))
    with pytest.raises(IndexError):
        list(data.DataLoader(rows, sampler=[9]))
    assert lists(b for (b,) in data.DataLoader(rows, 2, sampler=[-1, 0])) == [[3, 0]]


def test_importing_is_lazy() -> None:
    code = (
        "import sys, flambeau; assert 'flambeau.utils.data' not in sys.modules; "
        "flambeau.utils.data.DataLoader; assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_stream_is_closed_after_a_break() -> None:
    closed = []

    class Closing(data.IterableDataset[int]):
        def __iter__(self) -> Iterator[int]:
            try:
                yield from range(9)
            finally:
                closed.append(True)

    loader = data.DataLoader(Closing(), batch_size=2)
    for batch in loader:
        assert batch.tolist() == [0, 1]
        break
    assert closed == [True]


def test_copies_start_anew() -> None:
    loader = data.DataLoader(range(4), batch_size=2)
    next(iter(loader))
    for other in (copy.copy(loader), copy.deepcopy(loader), pickle.loads(pickle.dumps(loader))):
        assert lists(other) == [[0, 1], [2, 3]]
        with pytest.raises(ValueError, match="batch_size attribute"):
            other.batch_size = 3
