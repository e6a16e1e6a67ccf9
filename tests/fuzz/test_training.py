"""Optimisers, sparse tensors, checkpoints and loaders refuse nonsense: none may crash or hang."""

import contextlib
import io
import pickle
import random
from collections.abc import Callable
from typing import Any

import pytest

import flambeau
from flambeau import optim
from flambeau.serialization import safetensors
from flambeau.utils.data import DataLoader, Dataset

OPTIMIZERS = [optim.SGD, optim.Adam, optim.RMSprop, optim.Rprop, optim.ASGD, optim.Adafactor]

GRADIENTS: dict[str, Callable[[], Any]] = {
    "none": lambda: flambeau.ones(0),
    "fewer": lambda: flambeau.ones(1),
    "more": lambda: flambeau.ones(40, 50),
    "another type": lambda: flambeau.ones(4, 5, dtype=flambeau.float64),
    "one element": lambda: flambeau.ones(1).expand(4, 5),
    "overlapping": lambda: flambeau.ones(8).as_strided((4, 5), (1, 1)),
}


@pytest.mark.parametrize("kind", OPTIMIZERS)
@pytest.mark.parametrize("gradient", GRADIENTS.values(), ids=GRADIENTS)
def test_gradients_that_are_replaced(kind: Any, gradient: Callable[[], Any]) -> None:
    """The gradient is given other memory; the step takes it or refuses it."""
    param = flambeau.nn.Parameter(flambeau.ones(4, 5))
    optimizer = kind([param], lr=0.1)
    param.grad = flambeau.ones(4, 5)
    optimizer.step()
    param.grad.data = gradient()
    with contextlib.suppress(RuntimeError, ValueError, TypeError, IndexError):
        optimizer.step()
    assert param.shape == (4, 5)


@pytest.mark.parametrize("kind", OPTIMIZERS)
@pytest.mark.parametrize("value", [None, "x", 7, [1], {}, flambeau.ones(0), flambeau.ones(50)])
def test_states_of_nonsense(kind: Any, value: Any) -> None:
    param = flambeau.nn.Parameter(flambeau.ones(4, 5))
    optimizer = kind([param], lr=0.1)
    param.grad = flambeau.ones(4, 5)
    optimizer.step()
    optimizer.state[param] = dict.fromkeys(optimizer.state[param], value)
    with contextlib.suppress(RuntimeError, ValueError, TypeError, AttributeError, KeyError):
        optimizer.step()
    assert param.shape == (4, 5)


@pytest.mark.parametrize("place", [-100000, 3, 10**9, 2**62])
def test_places_changed_behind_a_sparse_tensor(place: int) -> None:
    for use in (
        lambda s: s.to_dense(),
        lambda s: flambeau.ones(3, 3).add_(s),
        lambda s: flambeau.sparse.mm(s, flambeau.ones(3, 2)),
    ):
        sparse = flambeau.eye(3).to_sparse()
        sparse._indices().fill_(place)
        with pytest.raises((RuntimeError, IndexError), match="index"):
            use(sparse)


def mutated(data: bytes, rng: random.Random) -> bytes:
    result = bytearray(data)
    kind, at = rng.randrange(4), rng.randrange(len(data))
    if kind == 0:
        return bytes(result[:at])
    if kind == 1:
        del result[at : at + rng.randrange(1, 30)]
    elif kind == 2:
        result[at : at + 8] = rng.choice([b"\xff" * 8, b"\0" * 8, b"\xff" * 7 + b"\x7f"])
    else:
        result[at] = rng.randrange(256)
    return bytes(result)


# A damaged file may also hold another object than a dictionary of tensors.
REFUSALS: tuple[type[Exception], ...] = (
    RuntimeError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    EOFError,
    OSError,
    pickle.UnpicklingError,
)


@pytest.mark.parametrize("form", ["zip", "legacy", "safetensors"])
def test_damaged_checkpoints(form: str) -> None:
    """Loading returns tensors within their memory, or raises."""
    tensors = {"a": flambeau.randn(5, 3), "b": flambeau.ones(3, dtype=flambeau.int64)}
    buffer = io.BytesIO()
    flambeau.save(tensors, buffer, _use_new_zipfile_serialization=form == "zip")
    is_safe = form == "safetensors"
    data = safetensors.save(tensors) if is_safe else buffer.getvalue()
    rng = random.Random(0)
    for _ in range(100):
        damaged = mutated(data, rng)
        with contextlib.suppress(*REFUSALS):
            loaded = safetensors.load(damaged) if is_safe else flambeau.load(io.BytesIO(damaged))
            for value in loaded.values():
                assert isinstance(value.sum(), flambeau.Tensor)


class Leaving(Dataset[int]):
    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> int:
        raise self.error


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_threads_that_leave(error: type[BaseException]) -> None:
    """The loader hears of a worker thread that something ends, rather than waiting for it."""
    loader = DataLoader(Leaving(error), num_workers=1, worker_type="thread")
    with pytest.raises(error, match="worker thread 0"):
        next(iter(loader))
