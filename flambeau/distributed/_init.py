"""Starting and ending the group of all processes."""

from __future__ import annotations

import datetime
import os
from typing import Any

from flambeau.distributed import _group
from flambeau.distributed._group import Backend, ProcessGroup, checked_backend, checked_group

__all__: list[str] = []

_SCHEMES = ("env", "file", "tcp")


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: datetime.timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
    _ranks: list[int] | None = None,
) -> None:
    """Create the group of all processes that train together.

    Groups of one process are supported so far.

    Args:
        backend: Library to communicate by, such as `"gloo"`. Default: by device.
        init_method: Where processes meet: `"env://"` (the default), which reads RANK and
            WORLD_SIZE, or a URL.
        timeout: How long to wait for others. Default: 30 minutes.
        world_size: Number of processes. Default: by the environment.
        rank: Number of this process. Default: by the environment.
        store: Store to meet in, instead of `init_method`. Default: None.
        group_name: Name of the group. Default: empty.
        pg_options: Options of the library. Default: None.
        device_id: Device of this process. Default: None.

    Raises:
        ValueError: There is a group already, or rank and world_size do not fit.
        NotImplementedError: `world_size` is larger than 1.

    Example:
        >>> import flambeau.distributed as dist
        >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        >>> dist.get_rank(), dist.get_world_size()
        (0, 1)
        >>> dist.destroy_process_group()

    See also:
        `distributed.destroy_process_group`, `nn.parallel.DistributedDataParallel`.
    """
    if _group.is_initialized():
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise AssertionError("init_process_group: init_method and store exclude each other")
    _check_timeout(timeout, "init_process_group")
    name = checked_backend(backend)
    if store is None:
        world_size, rank = _meeting_place(init_method or "env://", world_size, rank)
    _check_counts(world_size, rank)
    _group.set_default_group(_group.new_group_object(name, "default_pg"))


def _check_timeout(timeout: Any, name: str) -> None:
    """Nobody is waited for, but a program should hear of a number of seconds here, too."""
    if timeout is not None and not isinstance(timeout, datetime.timedelta):
        raise TypeError(
            f"{name}: expected timeout to be a datetime.timedelta, got {type(timeout).__name__}"
        )


def _meeting_place(url: str, world_size: int, rank: int) -> tuple[int, int]:
    """How many processes there are and which one this is; what is not given, by the environment."""
    scheme = url.partition("://")[0]
    if scheme not in _SCHEMES:
        raise RuntimeError(
            f"init_process_group: expected an init_method of env://, file:// or tcp://, got {url!r}"
        )
    if scheme == "env":
        rank = _from_environment("RANK", rank)
        world_size = _from_environment("WORLD_SIZE", world_size)
        if "MASTER_ADDR" not in os.environ or "MASTER_PORT" not in os.environ:
            raise ValueError(
                "init_process_group: env:// needs the environment variables MASTER_ADDR and "
                "MASTER_PORT; any will do for one process"
            )
    return world_size, rank


def _from_environment(variable: str, given: int) -> int:
    if given >= 0:
        return given
    if variable not in os.environ:
        raise ValueError(
            f"init_process_group: env:// needs the environment variable {variable}, which is not "
            "set"
        )
    return int(os.environ[variable])


def _check_counts(world_size: int, rank: int) -> None:
    if world_size < 1 or not 0 <= rank < world_size:
        raise ValueError(
            "init_process_group: expected a rank from 0 to world_size - 1, got "
            f"rank={rank}, world_size={world_size}"
        )
    if world_size > 1:
        raise NotImplementedError(
            f"init_process_group: {world_size} processes that train together are not supported "
            "yet; start one process (WORLD_SIZE=1), which uses all cores of the machine"
        )


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """End a process group; without an argument, all of them.

    Args:
        group: The group. Default: all.

    Example:
        >>> import flambeau.distributed as dist
        >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        >>> dist.destroy_process_group()
        >>> dist.is_initialized()
        False
    """
    _group.forget_groups(group)


def new_group(
    ranks: list[int] | None = None,
    timeout: datetime.timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
    sort_ranks: bool = True,
) -> ProcessGroup | int:
    """A group of some processes; an answer that is no group, if this one is not among them."""
    parent = _group.default_group()
    _check_timeout(timeout, "new_group")
    members = [0] if ranks is None else list(ranks)
    if len(members) > 1:
        raise ValueError(
            "the new group's world size should be less or equal to the world size set by "
            "init_process_group"
        )
    if any(rank != 0 for rank in members):
        raise ValueError(f"new_group: expected ranks below 1, got {members}")
    if not members:
        return _group.GroupMember.NON_GROUP_MEMBER
    name = parent._backend if backend is None else checked_backend(backend)
    return _group.new_group_object(name, group_desc or "")


def new_subgroups(
    group_size: int | None = None,
    group: ProcessGroup | None = None,
    timeout: datetime.timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """Groups of the same size: the one of this process, and all of them."""
    checked_group(group)
    if group_size not in (None, 1):
        raise ValueError(f"new_subgroups: expected a group_size of 1, got {group_size}")
    made = new_group([0], timeout, backend, pg_options, group_desc=group_desc)
    return made, [made]


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: list[list[int]],
    timeout: datetime.timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """Groups of these processes: the one of this process, and all of them."""
    made = [
        new_group(ranks, timeout, backend, pg_options, group_desc=group_desc)
        for ranks in ranks_per_subgroup_list
    ]
    return (made[0] if made else None), made


# --- questions


def get_rank(group: Any = None) -> int:
    """Return the number of this process in a group.

    Args:
        group: The group. Default: that of all processes.

    Returns:
        The number, counted from 0; -1 outside of the group.

    Example:
        >>> import flambeau.distributed as dist
        >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        >>> dist.get_rank()
        0
        >>> dist.destroy_process_group()
    """
    if group == _group.GroupMember.NON_GROUP_MEMBER:
        return -1
    return checked_group(group).rank()


def get_world_size(group: Any = None) -> int:
    """Return the number of processes of a group.

    Args:
        group: The group. Default: that of all processes.

    Returns:
        The number; -1 outside of the group.

    Example:
        >>> import flambeau.distributed as dist
        >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        >>> dist.get_world_size()
        1
        >>> dist.destroy_process_group()
    """
    if group == _group.GroupMember.NON_GROUP_MEMBER:
        return -1
    return checked_group(group).size()


def get_backend(group: ProcessGroup | None = None) -> Backend:
    """The name of the library that a group communicates by."""
    return checked_group(group)._backend


def get_backend_config(group: ProcessGroup | None = None) -> str:
    """The same for each kind of device."""
    name = get_backend(group)
    return name if ":" in name else f"cpu:{name},cuda:{name}"


def get_default_backend_for_device(device: Any) -> str:
    """The name of the library that suits a device."""
    kind = str(device).partition(":")[0]
    if kind not in Backend.default_device_backend_map:
        raise ValueError(f"get_default_backend_for_device: there is none for {device!r}")
    return Backend.default_device_backend_map[kind]


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """The numbers of the processes of a group."""
    checked_group(group)
    return [0]


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The number of a process among all, by that in a group."""
    return _same_rank(group, group_rank, "get_global_rank")


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The number of a process in a group, by that among all."""
    return _same_rank(group, global_rank, "get_group_rank")


def _same_rank(group: ProcessGroup, rank: int, name: str) -> int:
    checked_group(group)
    if rank != 0:
        raise ValueError(f"{name}: rank {rank} is not part of the group")
    return 0


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """The number of this process on its machine, by the environment variable LOCAL_RANK."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is None:
        raise RuntimeError(
            "get_node_local_rank: LOCAL_RANK is not in the environment; give fallback_rank"
        )
    return int(fallback_rank)


def get_pg_count() -> int:
    """How many groups there are."""
    return _group.group_count()


def is_available() -> bool:
    """Return whether `distributed` can be used.

    Example:
        >>> torch.distributed.is_available()
        True
    """
    return True


def is_torchelastic_launched() -> bool:
    """Whether a launcher that restarts processes has started this one."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def is_gloo_available() -> bool:
    """Whether groups can be made by this name: it is the one for the CPU."""
    return True


def is_nccl_available() -> bool:
    """Whether NVIDIA's library for GPUs is there."""
    return False


def is_mpi_available() -> bool:
    """Whether MPI is there."""
    return False


def is_ucc_available() -> bool:
    """Whether UCC is there."""
    return False


def is_xccl_available() -> bool:
    """Whether Intel's library for GPUs is there."""
    return False


def is_backend_available(backend: str) -> bool:
    """Whether a library is there."""
    return backend.lower() == Backend.GLOO
