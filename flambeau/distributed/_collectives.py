"""Collective operations on tensors. In a group of one process everything is already everywhere.

Arguments are checked as in a larger group, so that a program that runs here is right there too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import flambeau as fb
from flambeau import Tensor
from flambeau.distributed._group import ProcessGroup, ReduceOp, Work, checked_group

__all__: list[str] = []

Group = ProcessGroup | None


def _check_tensor(value: Any, argument: str, name: str) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}: expected {argument} to be a tensor, got {type(value).__name__}")


def _check_list(value: Any, argument: str, name: str, count: int | None = None) -> None:
    if not isinstance(value, (list, tuple)) or not all(isinstance(e, Tensor) for e in value):
        raise TypeError(f"{name}: expected {argument} to be a list of tensors")
    if count is not None and len(value) != count:
        raise RuntimeError(f"{name}: expected {argument} to hold {count} tensors, got {len(value)}")


def _check_root(rank: int | None, group_rank: int | None, argument: str, name: str) -> None:
    if rank is not None and group_rank is not None:
        raise ValueError(f"{name}: {argument} and group_{argument} exclude each other")
    root = group_rank if rank is None else rank
    if root is None:
        raise ValueError(f"{name}: expected {argument} or group_{argument}")
    if root != 0:
        raise RuntimeError(f"{name}: there is no rank {root} in a group of one process")


def _copy(target: Tensor, source: Tensor, name: str) -> None:
    if target.numel() != source.numel() or target.dtype != source.dtype:
        raise RuntimeError(
            f"{name}: expected tensors of the same size and dtype, got {tuple(target.shape)} "
            f"{target.dtype} and {tuple(source.shape)} {source.dtype}"
        )
    with fb.no_grad():
        target.copy_(source.reshape(target.shape))


_OF_BITS = (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR)


def _check_op(op: Any, name: str, *tensors: Tensor) -> None:
    """Refuse what is no operation; all of them leave a single tensor as it is."""
    if not isinstance(op, ReduceOp):
        raise TypeError(f"{name}: expected op to be a ReduceOp, got {type(op).__name__}")
    for tensor in tensors:
        if op in _OF_BITS and isinstance(tensor, Tensor) and tensor.is_floating_point():
            raise RuntimeError(
                f"{name}: operations on bits need integers, got a tensor of {tensor.dtype}"
            )


def _done(async_op: bool, *result: Tensor) -> Work | None:
    return Work(list(result)) if async_op else None


def barrier(
    group: Group = None, async_op: bool = False, device_ids: Any = None, timeout: Any = None
) -> Work | None:
    """Wait until all processes have arrived here.

    Args:
        group: The processes. Default: all.
        async_op: Whether to return a handle at once, whose `wait()` waits. Default: False.
        device_ids: GPUs to use. Default: None.
        timeout: How long to wait. Default: that of the group.

    Example:
        >>> import flambeau.distributed as dist
        >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        >>> dist.barrier()
        >>> dist.destroy_process_group()
    """
    checked_group(group)
    return _done(async_op)


def monitored_barrier(
    group: Group = None, timeout: Any = None, wait_all_ranks: bool = False
) -> None:
    """The same, with a report of those who do not come."""
    checked_group(group)


def all_reduce(
    tensor: Tensor, op: Any = ReduceOp.SUM, group: Group = None, async_op: bool = False
) -> Work | None:
    """Combine a tensor of all processes, in place and in all of them.

    Args:
        tensor: The tensor of this process; it becomes the result.
        op: How: `ReduceOp.SUM` (the default), `AVG`, `PRODUCT`, `MIN` or `MAX`.
        group: The processes. Default: all.
        async_op: Whether to return a handle at once, whose `wait()` waits. Default: False.

    Example:
        >>> import flambeau.distributed as dist
        >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        >>> x = torch.tensor([1.0, 2.0])
        >>> dist.all_reduce(x, op=dist.ReduceOp.SUM)
        >>> x
        tensor([1., 2.])
        >>> dist.destroy_process_group()
    """
    _check_op(op, "all_reduce", tensor)
    _check_tensor(tensor, "tensor", "all_reduce")
    checked_group(group)
    return _done(async_op, tensor)


def all_reduce_coalesced(
    tensors: list[Tensor], op: Any = ReduceOp.SUM, group: Group = None, async_op: bool = False
) -> Work | None:
    """The same for many tensors."""
    _check_op(op, "all_reduce_coalesced")
    _check_list(tensors, "tensors", "all_reduce_coalesced")
    checked_group(group)
    return _done(async_op, *tensors)


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: Any = ReduceOp.SUM,
    group: Group = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Make the ``tensor`` of one process the sum, mean, maximum ... of all."""
    _check_op(op, "reduce", tensor)
    _check_tensor(tensor, "tensor", "reduce")
    checked_group(group)
    _check_root(dst, group_dst, "dst", "reduce")
    return _done(async_op, tensor)


def broadcast(
    tensor: Tensor,
    src: int | None = None,
    group: Group = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Copy a tensor of one process to all, in place.

    Args:
        tensor: What is sent, or overwritten.
        src: Number of the process that sends.
        group: The processes. Default: all.
        async_op: Whether to return a handle at once, whose `wait()` waits. Default: False.
        group_src: Its number in the group, instead of `src`.

    Example:
        >>> import flambeau.distributed as dist
        >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        >>> x = torch.tensor([1.0, 2.0])
        >>> dist.broadcast(x, src=0)
        >>> x
        tensor([1., 2.])
        >>> dist.destroy_process_group()
    """
    _check_tensor(tensor, "tensor", "broadcast")
    checked_group(group)
    _check_root(src, group_src, "src", "broadcast")
    return _done(async_op, tensor)


def all_gather(
    tensor_list: list[Tensor], tensor: Tensor, group: Group = None, async_op: bool = False
) -> Work | None:
    """Gather a tensor of every process in a list, in all of them.

    Args:
        tensor_list: Tensors to overwrite, one for each process.
        tensor: The tensor of this process.
        group: The processes. Default: all.
        async_op: Whether to return a handle at once, whose `wait()` waits. Default: False.

    Example:
        >>> import flambeau.distributed as dist
        >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        >>> gathered = [torch.zeros(2)]
        >>> dist.all_gather(gathered, torch.tensor([1.0, 2.0]))
        >>> gathered
        [tensor([1., 2.])]
        >>> dist.destroy_process_group()
    """
    _check_tensor(tensor, "tensor", "all_gather")
    checked_group(group)
    _check_list(tensor_list, "tensor_list", "all_gather", 1)
    _copy(tensor_list[0], tensor, "all_gather")
    return _done(async_op, *tensor_list)


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Group = None, async_op: bool = False
) -> Work | None:
    """Fill one tensor with those of all processes."""
    return _whole(output_tensor, input_tensor, group, async_op, "all_gather_into_tensor")


def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None = None,
    dst: int | None = None,
    group: Group = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Fill a list in one process with the tensors of all."""
    _check_tensor(tensor, "tensor", "gather")
    checked_group(group)
    _check_root(0 if dst is None and group_dst is None else dst, group_dst, "dst", "gather")
    if not gather_list:
        raise ValueError("gather: expected gather_list in the process that gathers")
    _check_list(gather_list, "gather_list", "gather", 1)
    _copy(gather_list[0], tensor, "gather")
    return _done(async_op, *gather_list)


def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None = None,
    src: int | None = None,
    group: Group = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Give every process one tensor of a list in one process."""
    _check_tensor(tensor, "tensor", "scatter")
    checked_group(group)
    _check_root(0 if src is None and group_src is None else src, group_src, "src", "scatter")
    if not scatter_list:
        raise ValueError("scatter: expected scatter_list in the process that scatters")
    _check_list(scatter_list, "scatter_list", "scatter", 1)
    _copy(tensor, scatter_list[0], "scatter")
    return _done(async_op, tensor)


def reduce_scatter(
    output: Tensor,
    input_list: list[Tensor],
    op: Any = ReduceOp.SUM,
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """Give every process the sum, mean, maximum ... of one tensor of everyone's list."""
    _check_op(op, "reduce_scatter")
    _check_tensor(output, "output", "reduce_scatter")
    checked_group(group)
    _check_list(input_list, "input_list", "reduce_scatter", 1)
    _copy(output, input_list[0], "reduce_scatter")
    return _done(async_op, output)


def reduce_scatter_tensor(
    output: Tensor,
    input: Tensor,
    op: Any = ReduceOp.SUM,
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """Give every process a part of the sum, mean, maximum ... of everyone's tensor."""
    _check_op(op, "reduce_scatter_tensor")
    return _whole(output, input, group, async_op, "reduce_scatter_tensor")


def all_to_all(
    output_tensor_list: list[Tensor],
    input_tensor_list: list[Tensor],
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """Give every process one tensor of everyone's list."""
    checked_group(group)
    _check_list(output_tensor_list, "output_tensor_list", "all_to_all", 1)
    _check_list(input_tensor_list, "input_tensor_list", "all_to_all", 1)
    _copy(output_tensor_list[0], input_tensor_list[0], "all_to_all")
    return _done(async_op, *output_tensor_list)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None,
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """Give every process a part of everyone's tensor."""
    for sizes, tensor in ((output_split_sizes, output), (input_split_sizes, input)):
        if sizes and (len(sizes) != 1 or sizes[0] != tensor.size(0)):
            raise RuntimeError(
                f"all_to_all_single: expected one part of size {tensor.size(0)}, got {sizes}"
            )
    return _whole(output, input, group, async_op, "all_to_all_single")


def _whole(output: Tensor, input: Tensor, group: Group, async_op: bool, name: str) -> Work | None:
    _check_tensor(output, "the output", name)
    _check_tensor(input, "the input", name)
    checked_group(group)
    _copy(output, input, name)
    return _done(async_op, output)


# --- one process and another: there is no other


def _no_peer(peer: Any, name: str, group: Group) -> NoReturn:
    checked_group(group)
    raise ValueError(f"{name}: there is no other process, got rank {peer}")


def send(
    tensor: Tensor,
    dst: int | None = None,
    group: Group = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> None:
    """Send a tensor to another process."""
    _no_peer(dst if group_dst is None else group_dst, "send", group)


def recv(
    tensor: Tensor,
    src: int | None = None,
    group: Group = None,
    tag: int = 0,
    group_src: int | None = None,
) -> int:
    """Receive a tensor of another process."""
    _no_peer(src if group_src is None else group_src, "recv", group)


def isend(
    tensor: Tensor,
    dst: int | None = None,
    group: Group = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> Work | None:
    """Begin to send a tensor to another process."""
    _no_peer(dst if group_dst is None else group_dst, "isend", group)


def irecv(
    tensor: Tensor,
    src: int | None = None,
    group: Group = None,
    tag: int = 0,
    group_src: int | None = None,
) -> Work | None:
    """Begin to receive a tensor of another process."""
    _no_peer(src if group_src is None else group_src, "irecv", group)


class P2POp(NamedTuple):
    """A call of ``isend`` or ``irecv`` for ``batch_isend_irecv``."""

    op: Callable[..., Any]
    tensor: Tensor
    peer: int | None = None
    group: Group = None
    tag: int = 0
    group_peer: int | None = None


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Begin all of them."""
    return [each.op(each.tensor, each.peer, each.group, each.tag) for each in p2p_op_list]
