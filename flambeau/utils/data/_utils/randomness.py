"""Saving and restoring of random generators: Python's, NumPy's, Flambeau's, and a loader's."""

from __future__ import annotations

import ctypes
import importlib
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import flambeau
from flambeau import Generator

__all__ = ["Watch", "borrowed", "capture", "generators_of", "restore"]


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
        state["python"] = {
            "version": version,
            "words": flambeau.tensor(words, device="cpu"),
            "gauss": gauss,
        }
        if (numpy_random := _numpy_random()) is not None:
            state["numpy"] = _numpy_state(numpy_random)
    return state


def _numpy_random() -> Any:
    """NumPy's module if it is loaded; without it, or with a generator put in place, None."""
    module = sys.modules.get("numpy.random")
    if module is None or type(module.get_bit_generator()) is not module.MT19937:
        return None
    return module


def _numpy_state(numpy_random: Any) -> dict[str, Any]:
    _, key, position, has_gauss, gauss = numpy_random.get_state()
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
    """Restore every generator to the state that `capture` found."""
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
    """Draw from the captured `state` within a block, and restore every generator afterwards."""
    kept = capture(generators, foreign="python" in state)
    restore(state, generators)
    try:
        yield
    finally:
        restore(kept, generators)


# The 624 words of NumPy's Mersenne Twister and the position among them, as they lie in memory.
_NUMPY_BYTES = 4 * (624 + 1)


class Watch:
    """Captures the global generators, but only if one of them has advanced.

    Asking NumPy for its state takes longer than loading a small batch, so its memory is compared
    instead. A number that NumPy has drawn in advance is not in there: as long as there is one,
    NumPy is asked.
    """

    def __init__(self) -> None:
        self._seen: tuple[Any, ...] = ()
        self._drawn_ahead = False

    def changes(self) -> dict[str, Any] | None:
        """Return what `capture` returns, or None if it has not changed since the last call."""
        own = flambeau.default_generator.get_state()
        others = random.getstate(), _numpy_memory()
        still = bool(self._seen) and self._seen[1:] == others and own.equal(self._seen[0])
        if still and not self._drawn_ahead:
            return None
        state = capture()
        self._seen = (own, *others)
        self._drawn_ahead = state.get("numpy", {}).get("gauss") is not None
        return state


def _numpy_memory() -> bytes:
    numpy_random = _numpy_random()
    if numpy_random is None:
        return b""
    address = numpy_random.get_bit_generator().ctypes.state_address
    return ctypes.string_at(address, _NUMPY_BYTES)
