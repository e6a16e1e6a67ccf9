"""Workers and shared memory against torch: names, errors and what is shared."""

import inspect
import time
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.multiprocessing
import torch.utils.data

import flambeau
import flambeau.multiprocessing
import flambeau.utils.data


def test_names_and_signatures() -> None:
    ours, theirs = flambeau.multiprocessing, torch.multiprocessing
    assert set(theirs.__all__) - {"reducer"} <= set(ours.__all__)
    for name in ("spawn", "start_processes"):
        parameters = [inspect.signature(getattr(t, name)).parameters for t in (ours, theirs)]
        assert list(parameters[0]) == list(parameters[1])
        assert [p.default for p in parameters[0].values()] == [
            p.default for p in parameters[1].values()
        ]
    assert ours.get_all_sharing_strategies() == theirs.get_all_sharing_strategies()
    assert ours.get_sharing_strategy() == theirs.get_sharing_strategy()


def shared(t: Any) -> list[Any]:
    whole = t.arange(6.0)
    window = whole[2:]
    log = [whole.is_shared(), window.is_shared()]
    window.share_memory_()
    log += [whole.is_shared(), window.is_shared(), whole.tolist()]
    log += [whole.clone().is_shared(), whole.untyped_storage().is_shared()]
    parameter = t.nn.Parameter(t.ones(3))
    log += [parameter.share_memory_() is parameter, parameter.data.is_shared()]
    model = t.nn.Linear(2, 2).share_memory()
    return [*log, model.weight.is_shared(), model.bias.is_shared()]


def test_what_is_shared() -> None:
    assert shared(flambeau) == shared(torch)


def sent(t: Any) -> list[Any]:
    queue = t.multiprocessing.get_context("fork").SimpleQueue()
    tensor, parameter = t.arange(4.0), t.nn.Parameter(t.ones(2))
    queue.put([tensor, tensor[1:], parameter])
    first, second, third = queue.get()
    second.fill_(9)
    third.data.fill_(5)
    return [
        tensor.tolist(),
        first.tolist(),
        tensor.is_shared(),
        type(third).__name__,
        parameter.tolist(),
        third.requires_grad,
    ]


def test_what_is_sent() -> None:
    assert sent(flambeau) == sent(torch)


class Awkward(Exception):
    def __init__(self, code: int, reason: str) -> None:
        super().__init__(code, reason)


ERRORS: dict[str, Callable[[], Exception]] = {
    "usual": lambda: ValueError("bad sample"),
    "key": lambda: KeyError("name"),
    "other arguments": lambda: Awkward(1, "why"),
    "system": lambda: FileNotFoundError(2, "no such file"),
}


def failure(t: Any, make: Callable[[], Exception], **options: Any) -> tuple[Any, list[str]]:
    """The class of the error, and its message but for the lines of the traceback."""

    class Broken(t.utils.data.Dataset):  # type: ignore[misc]
        def __len__(self) -> int:
            return 4

        def __getitem__(self, index: int) -> int:
            if index == 2:
                raise make()
            return index

    with pytest.raises(Exception) as caught:  # noqa: PT011
        list(t.utils.data.DataLoader(Broken(), num_workers=2, **options))
    lines = str(caught.value).splitlines()
    return caught.type, [line for line in lines if not line.startswith(" ")]


@pytest.mark.parametrize("name", ERRORS)
def test_errors_of_a_dataset(name: str) -> None:
    assert failure(flambeau, ERRORS[name]) == failure(torch, ERRORS[name])


def test_error_of_a_start() -> None:
    def start(worker: int) -> None:
        raise OSError("no room")

    def of(t: Any) -> tuple[Any, list[str]]:
        return failure(t, ERRORS["usual"], worker_init_fn=start)

    assert of(flambeau) == of(torch)


def test_timeout() -> None:
    class Slow:
        def __len__(self) -> int:
            return 2

        def __getitem__(self, index: int) -> None:
            time.sleep(5)

    texts = []
    for t in (flambeau, torch):
        loader = t.utils.data.DataLoader(Slow(), num_workers=1, timeout=1)
        with pytest.raises(RuntimeError, match="timed out") as caught:
            next(iter(loader))
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_killed_worker() -> None:
    class Dying:
        def __len__(self) -> int:
            return 2

        def __getitem__(self, index: int) -> None:
            import os

            os.kill(os.getpid(), 9)

    starts = []
    for t in (flambeau, torch):
        loader = t.utils.data.DataLoader(Dying(), num_workers=1)
        with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid") as caught:
            next(iter(loader))
        starts.append(str(caught.value).split("(")[0])
    assert starts[0] == starts[1]
