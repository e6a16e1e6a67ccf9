"""A loader's state: the rest of a pass and all later ones are those of an uninterrupted run."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flambeau as torch
from flambeau.utils import data
from tests.data_loading.cases import Kit

KIT = Kit(torch, data)
CASES = dict(KIT.cases())
EPOCHS = 3


def drawn() -> Any:
    """What a training step may draw beside the loader."""
    return torch.rand(1).item(), random.random(), np.random.rand()  # noqa: NPY002


def train(loader: Any, epochs: int, save_at: int = -1) -> tuple[list[Any], bytes]:
    """The batches and draws of a run, and the state of the loader after batch `save_at`."""
    steps: list[Any] = []
    saved = b""
    for _ in range(epochs):
        for batch in loader:
            steps.append((KIT.plain(batch), drawn()))
            if len(steps) == save_at:
                saved = pickle.dumps(loader.state_dict())
    return steps, saved


def resume(loader: Any, saved: bytes, epochs: int) -> list[Any]:
    KIT.seed(99)
    loader.load_state_dict(pickle.loads(saved))
    return train(loader, epochs)[0]


@pytest.mark.parametrize("name", CASES)
def test_rest_of_a_pass(name: str) -> None:
    make: Callable[..., Any] = CASES[name]
    KIT.seed(1)
    whole, _ = train(make(), EPOCHS)
    length = len(whole) // EPOCHS
    for stop in {1, length // 2 + 1, length, length + 1, 2 * length + 1} - {0}:
        if stop > len(whole):
            continue
        KIT.seed(1)
        _, saved = train(make(), EPOCHS, stop)
        left = EPOCHS - (stop - 1) // length
        assert resume(make(), saved, left) == whole[stop:], f"stopped after batch {stop}"
