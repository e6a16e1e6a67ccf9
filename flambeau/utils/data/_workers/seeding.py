"""The random seeds of a worker: PyTorch's, so that augmentation draws the same numbers."""

from __future__ import annotations

import importlib.util
import random
import sys
from dataclasses import dataclass, replace
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import flambeau
from flambeau import Generator

__all__ = ["OwnGenerators", "seed_process"]

_WORD = 0xFFFFFFFF


def _numpy_seed(numpy_random: Any, base_seed: int, worker: int) -> Any:
    """Mix four words from both numbers, as NumPy spreads a seed over processes."""
    entropy = [worker, base_seed & _WORD, base_seed >> 32, 0]
    return numpy_random.SeedSequence(entropy).generate_state(4)


class _SeedOnImport(MetaPathFinder):
    """Seeds NumPy's global generator when NumPy is imported, which takes a while."""

    def __init__(self, base_seed: int, worker: int) -> None:
        self._numbers = base_seed, worker

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name != "numpy.random":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_seed(module: ModuleType) -> None:
                execute(module)
                module.seed(_numpy_seed(module, *self._numbers))

            spec.loader.exec_module = execute_and_seed  # type: ignore[method-assign]
        return spec


def seed_process(base_seed: int, worker: int) -> None:
    """Start the global generators of this process for worker number `worker`."""
    random.seed(base_seed + worker)
    flambeau.manual_seed(base_seed + worker)
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is None:
        sys.meta_path.insert(0, _SeedOnImport(base_seed, worker))
    else:
        numpy_random.seed(_numpy_seed(numpy_random, base_seed, worker))


@dataclass(frozen=True)
class OwnGenerators:
    """The generators of a worker that is a thread: the global ones belong to all threads."""

    random_generator: random.Random
    torch_generator: Generator
    numpy_generator: Any = None

    @classmethod
    def seeded(cls, base_seed: int, worker: int) -> OwnGenerators:
        """The generators that worker number `worker` has as ``get_worker_info().rng``."""
        seed = base_seed + worker
        made = cls(random.Random(seed), Generator().manual_seed(seed))
        if "numpy" in sys.modules:
            numpy_random = importlib.import_module("numpy.random")
            source = numpy_random.default_rng(_numpy_seed(numpy_random, base_seed, worker))
            made = replace(made, numpy_generator=source)
        return made

    def states(self) -> tuple[Any, ...]:
        """The states of the generators, in a form that is quick to get and to compare."""
        own = bytes(memoryview(self.torch_generator.get_state()))
        numpy = self.numpy_generator
        return (
            self.random_generator.getstate(),
            own,
            None if numpy is None else numpy.bit_generator.state,
        )

    @staticmethod
    def state_dict(states: tuple[Any, ...]) -> dict[str, Any]:
        """The same in plain containers and tensors."""
        (version, words, gauss), own, numpy = states
        return {
            "python": {
                "version": version,
                "words": flambeau.tensor(words, device="cpu"),
                "gauss": gauss,
            },
            "flambeau": flambeau.frombuffer(bytearray(own), dtype=flambeau.uint8),
            "numpy": numpy,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore generators to a `state_dict`."""
        python = state["python"]
        words = tuple(python["words"].tolist())
        self.random_generator.setstate((python["version"], words, python["gauss"]))
        self.torch_generator.set_state(state["flambeau"])
        if self.numpy_generator is not None and state["numpy"] is not None:
            self.numpy_generator.bit_generator.state = state["numpy"]
