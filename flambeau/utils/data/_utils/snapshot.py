"""The position of a worker after a batch, cheap to send with each batch."""

from __future__ import annotations

import pickle
from typing import Any

from flambeau.utils.data._utils import randomness
from flambeau.utils.data._utils.fetch import Fetcher, _MapDatasetFetcher

__all__ = ["Snapshots", "read_snapshot"]

# Parts of a worker's state by name, each pickled: the loader keeps the last of each and reads them
# only when it is asked for its own state.
Snapshot = dict[str, bytes]


class Snapshots:
    """Takes the snapshots of one worker: only what has changed since the last.

    A worker that is a thread has `draws=False`: the global generators are not its own.
    """

    def __init__(self, fetcher: Fetcher, *, draws: bool = True) -> None:
        self._fetcher = fetcher
        self._last = b""
        # Where batches are taken whole no code of the user runs, so nothing is drawn.
        whole = isinstance(fetcher, _MapDatasetFetcher) and fetcher.rows is not None
        self._watch = randomness.Watch() if draws and not whole else None

    def take(self) -> Snapshot | None:
        """Return what the loader has to know after this batch, or None if nothing changed."""
        changed: Snapshot = {}
        if state := self._fetcher.position.state_dict():
            pickled = pickle.dumps(state)
            if pickled != self._last:
                changed["fetcher"] = self._last = pickled
        if self._watch is not None and (drawn := self._watch.changes()) is not None:
            changed["random"] = pickle.dumps(drawn)
        return changed or None


def read_snapshot(snapshot: Snapshot) -> dict[str, Any]:
    """The state of a worker: "fetcher" for its fetcher and "random" for its generators."""
    return {name: pickle.loads(part) for name, part in snapshot.items()}
