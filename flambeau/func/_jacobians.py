"""Jacobians and Hessians."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.func._derivatives import Argnums, check_tensors, jvp, replace, select, vjp_of
from flambeau.func._vmap import map_directions, vmap
from flambeau.utils._pytree import tree_flatten, tree_unflatten

__all__ = ["hessian", "jacfwd", "jacrev"]


def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Function that computes the Jacobian by reverse mode: best for few outputs.

    Args:
        func: Function of tensors.
        argnums: Position of the argument, or a tuple of positions. Default: 0.
        has_aux: Whether `func` returns `(output, aux)`; aux is then returned too. Default: False.
        chunk_size: Number of rows to compute at once. Default: all.

    Example:
        >>> torch.func.jacrev(lambda x: x**2)(torch.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        select(args, argnums)
        output, pull, *aux = vjp_of(func, args, argnums, has_aux)
        outputs, out_spec = tree_flatten(output)
        check_tensors(outputs, "jacrev")

        def rows(*cotangents: Tensor) -> Any:
            return tuple(tree_flatten(pull(tree_unflatten(cotangents, out_spec)))[0])

        inputs, in_spec = tree_flatten(select(args, argnums))
        found = vmap(rows, chunk_size=chunk_size)(*basis_of(outputs))
        sizes = [each.numel() for each in outputs]
        parts = [each.split(sizes) for each in found]
        blocks = [
            [part[i].reshape(y.shape + x.shape) for part, x in zip(parts, inputs, strict=True)]
            for i, y in enumerate(outputs)
        ]
        return _arranged(blocks, out_spec, in_spec, aux)

    return wrapper


def jacfwd(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable[..., Any]:
    """Function that computes the Jacobian by forward mode: best for few inputs.

    Args:
        func: Function of tensors.
        argnums: Position of the argument, or a tuple of positions. Default: 0.
        has_aux: Whether `func` returns `(output, aux)`; aux is then returned too. Default: False.
        randomness: What random operators do, as of `vmap`. Default: `"error"`.

    Example:
        >>> torch.func.jacfwd(lambda x: x**2)(torch.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        chosen = select(args, argnums)
        inputs, in_spec = tree_flatten(chosen)
        kept: list[Any] = []

        def of_chosen(*values: Tensor) -> Any:
            return func(*replace(args, argnums, tree_unflatten(values, in_spec)))

        def column(*directions: Tensor) -> Any:
            value, slope, *aux = jvp(of_chosen, tuple(inputs), directions, has_aux=has_aux)
            kept[:] = [value, aux]
            return tuple(tree_flatten(slope)[0])

        found = map_directions(column, randomness)(*basis_of(inputs))
        value, aux = kept
        outputs, out_spec = tree_flatten(value)
        sizes = [each.numel() for each in inputs]
        blocks = [
            [
                part.movedim(0, -1).reshape(y.shape + x.shape)
                for part, x in zip(each.split(sizes), inputs, strict=True)
            ]
            for each, y in zip(found, outputs, strict=True)
        ]
        return _arranged(blocks, out_spec, in_spec, aux)

    return wrapper


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Function that computes the Hessian, by forward over reverse mode.

    Args:
        func: Function with a scalar result.
        argnums: Position of the argument, or a tuple of positions. Default: 0.

    Example:
        >>> torch.func.hessian(lambda x: (x**3).sum())(torch.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)


def basis_of(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The standard basis of all elements, each vector in the shape of the tensors."""
    count = sum(each.numel() for each in tensors)
    basis = []
    start = 0
    for each in tensors:
        size = math.prod(each.shape)
        part = fb.zeros(count, size, dtype=each.dtype, device=each.device)
        part.diagonal(-start).fill_(1)
        basis.append(part.view(count, *each.shape))
        start += size
    return tuple(basis)


def _arranged(blocks: list[list[Tensor]], out_spec: Any, in_spec: Any, aux: list[Any]) -> Any:
    """The blocks of a Jacobian in the structure of the outputs, each in that of the inputs."""
    rows = [tree_unflatten(row, in_spec) for row in blocks]
    jacobian = tree_unflatten(rows, out_spec)
    return (jacobian, aux[0]) if aux else jacobian
