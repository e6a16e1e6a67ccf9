"""The random numbers of a worker: PyTorch's seeds, so that augmentation draws the same."""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from typing import Any

import flambeau
from flambeau import Generator

__all__ = ["OwnGenerators", "seed_process"]

_WORD = 0xFFFFFFFF


def _numpy_seed(base_seed: int, worker: int) -> Any:
    """Four words mixed of both numbers, as NumPy spreads a seed over processes."""
    sequence = sys.modules["numpy"].random.SeedSequence
    return sequence([worker, base_seed & _WORD, base_seed >> 32, 0]).generate_state(4)


def seed_process(base_seed: int, worker: int) -> None:
    """Start the global generators of this process for worker number `worker`."""
    random.seed(base_seed + worker)
    flambeau.manual_seed(base_seed + worker)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(_numpy_seed(base_seed, worker))


@dataclass(frozen=True)
class OwnGenerators:
    """The generators of a worker that is a thread: the global ones belong to all threads."""

    random_generator: random.Random
    torch_generator: Generator
    numpy_generator: Any = None

    @classmethod
    def seeded(cls, base_seed: int, worker: int) -> OwnGenerators:
        """The generators that worker number `worker` has as ``get_worker_info().rng``."""
        numpy = None
        if "numpy" in sys.modules:
            numpy = sys.modules["numpy"].random.default_rng(_numpy_seed(base_seed, worker))
        seed = base_seed + worker
        return cls(random.Random(seed), Generator().manual_seed(seed), numpy)

    def state_dict(self) -> dict[str, Any]:
        """Where the generators stand, in plain containers and tensors."""
        version, words, gauss = self.random_generator.getstate()
        numpy = self.numpy_generator
        return {
            "python": {"version": version, "words": flambeau.tensor(words), "gauss": gauss},
            "flambeau": self.torch_generator.get_state(),
            "numpy": None if numpy is None else numpy.bit_generator.state,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from where `state_dict` found generators."""
        python = state["python"]
        words = tuple(python["words"].tolist())
        self.random_generator.setstate((python["version"], words, python["gauss"]))
        self.torch_generator.set_state(state["flambeau"])
        if self.numpy_generator is not None and state["numpy"] is not None:
            self.numpy_generator.bit_generator.state = state["numpy"]
