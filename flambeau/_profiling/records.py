"""What a native session recorded, before anybody has made tables of it."""

from __future__ import annotations

import weakref
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from flambeau import _C

if TYPE_CHECKING:
    from flambeau.nn import Module

__all__ = ["Kind", "Record", "Recording", "Session"]

# Of an operator: shapes with their dtypes, lists of those, numbers, lists of integers, text.
Argument: TypeAlias = Any


class Kind(IntEnum):
    """What a record is about, in the order of csrc/core/profile.h."""

    OPERATOR = 0
    NODE = 1  # the backward of an operator
    EVALUATION = 2  # all that the engine does for a node
    MODULE = 3
    RANGE = 4  # record_function
    MEMORY = 5


class Record(NamedTuple):
    """One event; times are in nanoseconds."""

    kind: int
    name: str
    thread: int
    start: int
    end: int
    parent: int  # its place in the list of records, or -1
    sequence: int  # the number of the node that it is, or has recorded, or 0
    bytes: int  # of memory: taken, or negative: given back
    # Of memory: the address; of a module: which one; of a node: the gradients that it gives; of an
    # operator: whether it failed.
    subject: int
    arguments: list[Argument] | None
    stack: list[str] | None

    @property
    def is_failed(self) -> bool:
        """Whether an operator ended with an error."""
        return self.kind == Kind.OPERATOR and self.subject == 1

    def gives_gradient_of(self, argument: int) -> bool:
        """Of a node: whether it computes the gradient of an argument of its operator."""
        return bool(self.subject >> argument & 1)


class Recording(NamedTuple):
    """All records of a session, those of each thread in the order of their start."""

    records: list[Record]
    modules: list[Module]
    began: int
    ended: int

    def forwards(self) -> dict[int, int]:
        """The place of the operator that recorded the node of a number."""
        return {
            record.sequence: place
            for place, record in enumerate(self.records)
            if record.kind == Kind.OPERATOR and record.sequence
        }


class Session:
    """A native session: records from when it is made until `stop`."""

    def __init__(
        self,
        *,
        arguments: bool = False,
        memory: bool = False,
        stacks: bool = False,
        modules: bool = False,
    ) -> None:
        wants = (
            arguments * _C._PROFILE_ARGUMENTS
            | memory * _C._PROFILE_MEMORY
            | stacks * _C._PROFILE_STACKS
            | modules * _C._PROFILE_MODULES
        )
        self._began = _C._profile_now()
        self._number = _C._profile_start(wants)
        # A session that nobody can stop any more must not go on.
        self._end = weakref.finalize(self, _C._profile_stop, self._number)

    def read(self) -> Recording:
        """What was recorded so far."""
        now = _C._profile_now()
        records = [_closed(Record._make(event), now) for event in _C._profile_read(self._number)]
        return Recording(records, _C._profile_modules(), self._began, now)

    def stop(self) -> Recording:
        """End the session, and return what it recorded."""
        recording = self.read()
        self._end()
        return recording


def _closed(record: Record, now: int) -> Record:
    """A range that is still open ends now."""
    return record if record.end else record._replace(end=now)
