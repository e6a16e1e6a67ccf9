"""Collective operations that gradients flow through: their results are new tensors."""

from __future__ import annotations

from typing import Any

from flambeau import Tensor
from flambeau.distributed._collectives import (
    Group,
    _check_list,
    _check_op,
    _check_root,
    _check_tensor,
)
from flambeau.distributed._group import ReduceOp, checked_group

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "broadcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
]


def _own(tensor: Tensor, name: str, group: Group) -> Tensor:
    _check_tensor(tensor, "tensor", name)
    checked_group(group)
    return tensor.clone()


def _written(output: Tensor, result: Tensor, name: str) -> Tensor:
    """The result, of which ``output`` has a copy."""
    _check_tensor(output, "output", name)
    if output.shape != result.shape or output.dtype != result.dtype:
        raise RuntimeError(
            f"{name}: expected an output of {tuple(result.shape)} and {result.dtype}, got "
            f"{tuple(output.shape)} and {output.dtype}"
        )
    output.detach().copy_(result.detach())
    return result


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Group = None) -> Tensor:
    """The sum, mean, maximum ... over all processes."""
    _check_op(op, "all_reduce", tensor)
    return _own(tensor, "all_reduce", group)


def reduce(tensor: Tensor, dst: int, op: Any = ReduceOp.SUM, group: Group = None) -> Tensor:
    """The same in one process."""
    _check_op(op, "reduce", tensor)
    _check_root(dst, None, "dst", "reduce")
    return _own(tensor, "reduce", group)


def broadcast(tensor: Tensor, src: int, group: Group = None) -> Tensor:
    """The tensor of one process."""
    _check_root(src, None, "src", "broadcast")
    return _own(tensor, "broadcast", group)


def all_gather(tensor: Tensor, group: Group = None) -> tuple[Tensor, ...]:
    """The tensors of all processes."""
    return (_own(tensor, "all_gather", group),)


def gather(tensor: Tensor, dst: int = 0, group: Group = None) -> tuple[Tensor, ...]:
    """The same in one process."""
    _check_root(dst, None, "dst", "gather")
    return (_own(tensor, "gather", group),)


def scatter(tensors: list[Tensor], src: int = 0, group: Group = None) -> Tensor:
    """This process's tensor of a list in one process."""
    _check_root(src, None, "src", "scatter")
    _check_list(tensors, "tensors", "scatter", 1)
    return _own(tensors[0], "scatter", group)


def reduce_scatter(
    output: Tensor, input_list: list[Tensor], op: Any = ReduceOp.SUM, group: Group = None
) -> Tensor:
    """This process's tensor of the sums of lists."""
    _check_list(input_list, "input_list", "reduce_scatter", 1)
    _check_op(op, "reduce_scatter", input_list[0])
    return _written(output, _own(input_list[0], "reduce_scatter", group), "reduce_scatter")


def all_to_all(
    output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Group = None
) -> tuple[Tensor, ...]:
    """This process's tensors of everyone's list."""
    _check_list(input_tensor_list, "input_tensor_list", "all_to_all", 1)
    _check_list(output_tensor_list, "output_tensor_list", "all_to_all", 1)
    sent = _own(input_tensor_list[0], "all_to_all", group)
    return (_written(output_tensor_list[0], sent, "all_to_all"),)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None,
    group: Group = None,
) -> Tensor:
    """This process's parts of everyone's tensor."""
    for sizes, tensor in ((output_split_sizes, output), (input_split_sizes, input)):
        if sizes and list(sizes) != [tensor.size(0)]:
            raise RuntimeError(
                f"all_to_all_single: expected one part of {tensor.size(0)} elements for the only "
                f"process, got {list(sizes)}"
            )
    return _written(output, _own(input, "all_to_all_single", group), "all_to_all_single")
