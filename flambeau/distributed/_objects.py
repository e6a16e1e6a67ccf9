"""Collective operations on objects of Python. Copies are made by pickling, as between processes."""

from __future__ import annotations

import pickle
from typing import Any

import flambeau as fb
from flambeau.distributed._collectives import Group, _check_root, _no_peer
from flambeau.distributed._group import checked_group

__all__: list[str] = []


def _copied(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def all_gather_object(object_list: list[Any], obj: Any, group: Group = None) -> None:
    """Fill a list with the objects of all processes."""
    checked_group(group)
    object_list[0] = _copied(obj)


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Group = None,
    group_dst: int | None = None,
) -> None:
    """Fill a list in one process with the objects of all."""
    checked_group(group)
    _check_root(0 if dst is None and group_dst is None else dst, group_dst, "dst", "gather_object")
    if not object_gather_list:
        raise ValueError("gather_object: expected object_gather_list in the process that gathers")
    object_gather_list[0] = _copied(obj)


def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Group = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    """Give every process the objects of one."""
    checked_group(group)
    root = 0 if src is None and group_src is None else src
    _check_root(root, group_src, "src", "broadcast_object_list")
    if device is not None:
        fb.empty(0, device=device)  # refuses one that there is not
    pickle.dumps(object_list)  # what cannot travel is refused here too


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: Group = None,
    group_src: int | None = None,
) -> None:
    """Give every process one object of a list in one process."""
    checked_group(group)
    root = 0 if src is None and group_src is None else src
    _check_root(root, group_src, "src", "scatter_object_list")
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError("scatter_object_list: expected an output list of at least one element")
    if not scatter_object_input_list or len(scatter_object_input_list) != 1:
        raise ValueError("scatter_object_list: expected as many objects as there are processes")
    scatter_object_output_list[0] = _copied(scatter_object_input_list[0])


def send_object_list(
    object_list: list[Any],
    dst: int | None = None,
    group: Group = None,
    device: Any = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """Send objects to another process."""
    _no_peer(dst if group_dst is None else group_dst, "send_object_list", group)


def recv_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Group = None,
    device: Any = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> int:
    """Receive objects of another process."""
    _no_peer(src if group_src is None else group_src, "recv_object_list", group)
