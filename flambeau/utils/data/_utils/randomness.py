"""Random generators saved and put back: Python's, NumPy's, Flambeau's, and those of a loader."""

from __future__ import annotations

import importlib
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import flambeau
from flambeau import Generator

__all__ = ["borrowed", "capture", "generators_of", "restore"]


def generators_of(*holders: Any) -> list[Generator]:
    """The generators that a loader and its samplers draw from, each once."""
    found: dict[int, Generator] = {}
    for holder in holders:
        generator = getattr(holder, "generator", None)
        if isinstance(generator, Generator) and generator is not flambeau.default_generator:
            found[id(generator)] = generator
    return list(found.values())


def capture(generators: Sequence[Generator] = (), *, foreign: bool = True) -> dict[str, Any]:
    """The states of the default generator, of `generators`, and if `foreign` of Python and NumPy.

    Made of tensors and plain containers, so that `flambeau.load` reads it without trust.
    """
    state: dict[str, Any] = {
        "flambeau": flambeau.default_generator.get_state(),
        "generators": [generator.get_state() for generator in generators],
    }
    if foreign:
        version, words, gauss = random.getstate()
        state["python"] = {"version": version, "words": flambeau.tensor(words), "gauss": gauss}
        if "numpy.random" in sys.modules:
            state["numpy"] = _numpy_state()
    return state


def _numpy_state() -> dict[str, Any]:
    _, key, position, has_gauss, gauss = sys.modules["numpy.random"].get_state()
    return {
        "words": flambeau.from_numpy(key.astype("int64")),
        "position": int(position),
        "gauss": float(gauss) if has_gauss else None,
    }


def _set_numpy_state(state: dict[str, Any]) -> None:
    numpy_random = importlib.import_module("numpy.random")
    gauss = state["gauss"]
    words = state["words"].numpy().astype("uint32")
    numpy_random.set_state(
        ("MT19937", words, state["position"], int(gauss is not None), gauss or 0.0)
    )


def restore(state: dict[str, Any], generators: Sequence[Generator] = ()) -> None:
    """Put every generator back to where `capture` found it."""
    if len(state["generators"]) != len(generators):
        raise ValueError(
            f"the state has {len(state['generators'])} generators beside the default one, but the "
            f"loader and its samplers have {len(generators)}"
        )
    flambeau.default_generator.set_state(state["flambeau"])
    for generator, saved in zip(generators, state["generators"], strict=True):
        generator.set_state(saved)
    if "python" in state:
        python = state["python"]
        random.setstate((python["version"], tuple(python["words"].tolist()), python["gauss"]))
    if "numpy" in state:
        _set_numpy_state(state["numpy"])


@contextmanager
def borrowed(state: dict[str, Any], generators: Sequence[Generator]) -> Iterator[None]:
    """A block that draws from where `state` was captured, and leaves every generator as it was."""
    kept = capture(generators, foreign="python" in state)
    restore(state, generators)
    try:
        yield
    finally:
        restore(kept, generators)
