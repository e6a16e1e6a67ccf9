"""Gradients of random programs by finite differences, where torch has none to compare with."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from tests.conformance.grammar import first_name

STEP = 1e-6
TOLERANCE = 1e-5
# What keeps a change of the inputs from reaching a result, though the values depend on it.
_CUTS = ("no_grad", "detach", ".data")


class Unclear(Exception):
    """A tensor without a history shares its memory with one that has one."""


class Shifted:
    """A program run three times: as it is, and with its leaves moved forwards and backwards."""

    def __init__(self, runs: tuple[Any, Any, Any]) -> None:
        self.middle, *self.sides = runs

    def step(self, statement: str) -> None:
        """Runs a statement in all three; hooks are left out, as they change gradients alone."""
        if "register_hook" in statement:
            return
        if any(cut in statement for cut in _CUTS):
            self._step_without_history(statement)
            return
        for run in (self.middle, *self.sides):
            run.step(statement)

    def _step_without_history(self, statement: str) -> None:
        """A statement through which no derivative goes: distances stay, what is new has none."""
        distances = [self._distances(side) for side in self.sides]
        for run in (self.middle, *self.sides):
            run.step(statement)
        self._check_shared(statement, set(distances[0]))
        for side, known in zip(self.sides, distances, strict=True):
            # What is old comes last: views of it that are new then have its distance.
            for name in sorted(side.tensors(), key=lambda name: name in known):
                value = _values(self.middle.names[name])
                distance = known.get(name, np.zeros(()))
                if "detach_()" in statement and first_name(statement) == name:
                    distance = np.zeros(())
                if distance.shape not in ((), value.shape):
                    raise Unclear(statement)
                tensor = side.names[name].detach()
                if any(n > 1 and stride == 0 for n, stride in zip(*_layout(tensor), strict=True)):
                    raise Unclear(statement)  # a view of one element as many cannot be written to
                tensor.copy_(side.module.from_numpy(np.asarray(value + distance)))

    def _distances(self, side: Any) -> dict[str, np.ndarray]:
        middle = self.middle.names
        return {
            name: _values(each) - _values(middle[name]) for name, each in side.tensors().items()
        }

    def _check_shared(self, statement: str, known: set[str]) -> None:
        """Refuses where one memory would need two distances."""
        tensors = self.middle.tensors()
        places = {name: each.untyped_storage().data_ptr() for name, each in tensors.items()}
        cut = set(places) - known
        if "detach_()" in statement:
            cut.add(first_name(statement))
        for name in cut:
            if any(places[name] == place for other, place in places.items() if other != name):
                raise Unclear(statement)

    def slope(self, name: str) -> float:
        """How the sum of a tensor changes with the leaves."""
        after, before = (_values(side.names[name]).sum() for side in self.sides)
        return float(after - before) / (2 * STEP)


def _layout(tensor: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(tensor.shape), tuple(tensor.stride())


def _values(tensor: Any) -> np.ndarray:
    return np.array(tensor.detach().numpy())


def directions(leaves: dict[str, np.ndarray], seed: int) -> dict[str, np.ndarray]:
    """Which way every leaf is moved."""
    values = np.random.default_rng(random.Random(seed).getrandbits(32))
    return {name: values.uniform(-1, 1, array.shape) for name, array in leaves.items()}
