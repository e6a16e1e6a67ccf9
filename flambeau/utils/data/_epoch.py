"""The position of a pass over a loader, from which the loader's state is made."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any

import flambeau
from flambeau.utils.data._utils.snapshot import Snapshot, read_snapshot

__all__ = ["Epoch"]


@dataclass
class Epoch:
    """The record of one pass. The loader keeps it, so that an iterator and its workers need not
    outlive the loop they serve.

    A pass is resumed by restarting its sampler from `origin` and skipping `issued`
    batches. Batches given to workers and not delivered are in `pending` and come first: drawing
    them again could give others.
    """

    origin: dict[str, Any]  # the generators before the sampler started
    base_seed: int = 0
    seeded: bool = True  # whether base_seed was drawn after `origin`
    issued: int = 0  # batches that the sampler has given
    yielded: int = 0  # batches that the program has received
    finished: bool = False
    pending: dict[int, Any] = field(default_factory=dict)  # indices by position
    turn: int = 0  # the worker of the next batch
    ended: list[bool] = field(default_factory=list)  # workers whose stream has ended
    workers: list[Snapshot] = field(default_factory=list)
    stateful: dict[str, Any] = field(default_factory=dict)  # objects with further state, by name

    def delivered(self, position: int, worker: int, snapshot: Snapshot | None) -> None:
        """Record that a worker's batch goes to the program."""
        self.pending.pop(position, None)
        self.turn = (worker + 1) % len(self.workers)
        if snapshot is not None:
            self.workers[worker].update(snapshot)

    def state_dict(self) -> dict[str, Any]:
        """The record in plain containers and tensors."""
        return {
            "origin": self.origin,
            "base_seed": self.base_seed,
            "seeded": self.seeded,
            "issued": self.issued,
            "yielded": self.yielded,
            "finished": self.finished,
            "pending": [[place, _packed(each)] for place, each in sorted(self.pending.items())],
            "turn": self.turn,
            "ended": list(self.ended),
            "workers": [read_snapshot(snapshot) for snapshot in self.workers],
            "stateful": {name: thing.state_dict() for name, thing in self.stateful.items()},
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Epoch:
        """The record that `state_dict` described; objects with further state are added later."""
        return cls(
            **{
                **state,
                "pending": {place: _unpacked(each) for place, each in state["pending"]},
                "ended": list(state["ended"]),
                "workers": [
                    {name: pickle.dumps(part) for name, part in worker.items()}
                    for worker in state["workers"]
                ],
                "stateful": {},
            }
        )


def _packed(indices: Any) -> Any:
    """A batch of whole numbers as a tensor, which takes less room than a list."""
    if isinstance(indices, list) and all(type(index) is int for index in indices):
        return flambeau.tensor(indices, dtype=flambeau.int64, device="cpu")
    return indices


def _unpacked(indices: Any) -> Any:
    return indices.tolist() if isinstance(indices, flambeau.Tensor) else indices
