"""Process groups of one process, and what they are made of."""

from __future__ import annotations

import datetime
import enum
from typing import Any

from flambeau.futures import Future

__all__: list[str] = []

default_pg_timeout: datetime.timedelta = datetime.timedelta(minutes=30)


class ReduceOp(enum.IntEnum):
    """How the tensors of all processes become one."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8

    @property
    def op(self) -> ReduceOp:
        """The operation itself, for what is written for PyTorch's wrapper around it."""
        return self


# PyTorch's name for the operations without their wrapper.
ReduceOp.RedOpType = ReduceOp  # type: ignore[attr-defined]


class Backend(str):
    """The name of a library for communication, in small letters."""

    __slots__ = ()

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    XCCL = "xccl"
    UCC = "ucc"
    MPI = "mpi"
    FAKE = "fake"
    backend_list: list[str] = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, FAKE]  # noqa: RUF012
    default_device_backend_map: dict[str, str] = {  # noqa: RUF012
        "cpu": GLOO,
        "cuda": NCCL,
        "xpu": XCCL,
        "mps": GLOO,
    }

    def __new__(cls, name: str) -> Any:
        if not isinstance(name, str):
            raise ValueError(f"Backend: expected a string, got {type(name).__name__}")
        return str.__new__(cls, name.lower())


def checked_backend(name: str | None) -> Backend:
    """A backend by its name, or by names for kinds of devices (``cpu:gloo,cuda:nccl``)."""
    word: Backend = Backend(name or Backend.UNDEFINED)
    for part in word.split(","):
        if part.rpartition(":")[2] not in Backend.backend_list:
            known = ", ".join(Backend.backend_list)
            raise AssertionError(f"init_process_group: expected a backend of {known}, got {name!r}")
    return word


class Work:
    """A collective operation that was started. In one process it is done when it returns."""

    def __init__(self, result: Any = None) -> None:
        self._result = result

    def wait(self, timeout: Any = None) -> bool:
        """Wait until it is done."""
        return True

    def is_completed(self) -> bool:
        """Whether it is done."""
        return True

    def is_success(self) -> bool:
        """Whether it went well."""
        return True

    def exception(self) -> None:
        """What went wrong: nothing."""

    def result(self) -> Any:
        """The tensors it has filled."""
        return self._result

    def get_future(self) -> Future[Any]:
        """A future of them."""
        future: Future[Any] = Future()
        future.set_result(self._result)
        return future


class ProcessGroup:
    """Processes that talk to each other: this one."""

    def __init__(self, backend: Backend, name: str, description: str = "") -> None:
        self._backend = backend
        self.group_name = name
        self.group_desc: str = description or "undefined"

    def size(self) -> int:
        """How many processes it has."""
        return 1

    def rank(self) -> int:
        """The number of this process in it."""
        return 0

    def name(self) -> str:
        """The library that it communicates by."""
        return str(self._backend)


class _World:
    """The groups of this process."""

    default: ProcessGroup | None = None
    groups: list[ProcessGroup] = []  # noqa: RUF012
    made = 0


def new_group_object(backend: Backend, description: str = "") -> ProcessGroup:
    """A group that the process keeps until it is destroyed."""
    made = ProcessGroup(backend, str(_World.made), description)
    _World.made += 1
    _World.groups.append(made)
    return made


def is_initialized() -> bool:
    """Return whether this process has a process group.

    Example:
        >>> torch.distributed.is_initialized()
        False

    See also:
        `distributed.init_process_group`.
    """
    return _World.default is not None


def default_group() -> ProcessGroup:
    """The group of all processes."""
    if _World.default is None:
        raise ValueError(
            "Default process group has not been initialized, please make sure to call "
            "init_process_group."
        )
    return _World.default


def set_default_group(group: ProcessGroup | None) -> None:
    """Make a group the one of all processes."""
    _World.default = group


def checked_group(group: ProcessGroup | None) -> ProcessGroup:
    """A group, or that of all processes."""
    if group is None:
        return default_group()
    if group not in _World.groups:
        raise ValueError("The group has been destroyed, or was not made by new_group")
    return group


def forget_groups(group: ProcessGroup | None = None) -> None:
    """Destroy a group; that of all processes with all others."""
    if _World.default is None or (group is not None and group not in _World.groups):
        raise AssertionError("destroy_process_group: there is no such process group")
    if group is None or group is _World.default:
        _World.groups.clear()
        _World.default = None
    else:
        _World.groups.remove(group)


def group_count() -> int:
    """How many groups the process has."""
    return len(_World.groups)


class _GroupMeta(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        return _World.default


class group(metaclass=_GroupMeta):
    """``group.WORLD``: the group of all processes."""


class GroupMember(metaclass=_GroupMeta):
    """The same, and the answer of a group that the process does not belong to."""

    NON_GROUP_MEMBER = -100
