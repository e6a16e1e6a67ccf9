"""Running a graph backwards."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor

__all__ = ["backward", "grad"]


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Add the gradients of tensors to the `.grad` of the leaves that they were computed from.

    Args:
        tensors: Tensor, or sequence of tensors, to differentiate.
        grad_tensors: Gradient of each. Default: 1 for tensors of one element.
        retain_graph: Whether the graph can be used again. Default: `create_graph`.
        create_graph: Whether the gradients can be differentiated themselves. Default: False.
        grad_variables: Deprecated; use `grad_tensors`.
        inputs: Leaves to compute gradients of. Default: all.

    Example:
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> torch.autograd.backward((x**2).sum())
        >>> x.grad
        tensor([2., 4.])

    See also:
        `Tensor.backward`, `torch.autograd.grad`.
    """
    if grad_variables is not None:
        warnings.warn(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.",
            FutureWarning,
            stacklevel=2,
        )
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                "`backward()`. Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    wanted = _as_tuple(inputs)
    if inputs is not None and not wanted:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    roots = _as_tuple(tensors)
    _C._run_backward(
        roots,
        _root_grads(roots, _as_tuple(grad_tensors, len(roots))),
        create_graph if retain_graph is None else retain_graph,
        create_graph,
        wanted,
        True,
        True,
    )


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """Return gradients of outputs with respect to inputs, without touching `.grad`.

    Args:
        outputs: Tensor, or sequence of tensors, to differentiate.
        inputs: Tensor, or sequence of tensors, to differentiate with respect to.
        grad_outputs: Gradient of each output. Default: 1 for outputs of one element.
        retain_graph: Whether the graph can be used again. Default: `create_graph`.
        create_graph: Whether the gradients can be differentiated themselves. Default: False.
        only_inputs: Deprecated; always True.
        allow_unused: Whether the gradient of an input that the outputs do not depend on is None
            instead of an error. Default: `materialize_grads`.
        is_grads_batched: Whether the first dimension of `grad_outputs` counts gradients.
            Default: False.
        materialize_grads: Whether such gradients are zeros instead of None. Default: False.

    Returns:
        A tuple of gradients, one for each input.

    Raises:
        RuntimeError: An output does not require gradients, or does not depend on an input.

    Example:
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> torch.autograd.grad((x**3).sum(), x)
        (tensor([ 3., 12.]),)
        >>> (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
        >>> torch.autograd.grad(g.sum(), x)
        (tensor([ 6., 12.]),)

    See also:
        `Tensor.backward`, `torch.func.grad`, `autograd.functional`.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, "
            "but got: allow_unused=False."
        )
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To "
            "accumulate gradient for other parts of the graph, please use "
            "torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    roots = _as_tuple(outputs)
    wanted = _as_tuple(inputs)
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    given = _as_tuple(grad_outputs, len(roots))
    keep = create_graph if retain_graph is None else retain_graph
    unused = bool(materialize_grads if allow_unused is None else allow_unused or materialize_grads)
    if is_grads_batched:
        found = _batched_grad(roots, wanted, given, keep, create_graph, unused)
    else:
        grads = _root_grads(roots, given)
        found = _C._run_backward(roots, grads, keep, create_graph, wanted, unused, False)
    if materialize_grads:
        found = tuple(
            fb.zeros_like(x, requires_grad=create_graph) if g is None else g
            for g, x in zip(found, wanted, strict=True)
        )
    return dict(zip(inputs, found, strict=True)) if isinstance(inputs, Mapping) else found


def _batched_grad(
    roots: tuple[Any, ...],
    wanted: tuple[Any, ...],
    given: tuple[Any, ...],
    keep: bool,
    create_graph: bool,
    unused: bool,
) -> tuple[Any, ...]:
    """One backward for all gradients of the batch."""
    used: list[bool] = []

    def run(*batched: Tensor) -> tuple[Tensor, ...]:
        rest = iter(batched)
        grads = _root_grads(roots, tuple(None if g is None else next(rest) for g in given))
        found = _C._run_backward(roots, grads, keep, create_graph, wanted, unused, False)
        used[:] = [g is not None for g in found]
        return tuple(g for g in found if g is not None)

    results = iter(fb.func.vmap(run)(*(g for g in given if g is not None)))
    return tuple(next(results) if is_used else None for is_used in used)


def _as_tuple(value: Any, length: int = 0) -> tuple[Any, ...]:
    if value is None:
        return (None,) * length
    if isinstance(value, Tensor) or hasattr(value, "output_nr"):  # a tensor, or a GradientEdge
        return (value,)
    return tuple(value.values() if isinstance(value, Mapping) else value)


def _origin(root: Tensor) -> str:
    """What computed a tensor, and where."""
    return "" if root.grad_fn is None else f" ({root.grad_fn._described})"


def _root_grads(roots: Sequence[Any], given: Sequence[Any]) -> tuple[Tensor, ...]:
    """The gradients that backward starts with: those given, or ones for single elements."""
    if len(roots) != len(given):
        raise RuntimeError(f"got {len(roots)} tensors and {len(given)} gradients")
    grads = []
    for i, (root, value) in enumerate(zip(roots, given, strict=True)):
        if value is None:
            if not isinstance(root, Tensor):
                raise RuntimeError("a GradientEdge needs its gradient given")
            if root.requires_grad and root.numel() != 1:
                raise RuntimeError(
                    "grad can be implicitly created only for scalar outputs: output "
                    f"{i} has shape {tuple(root.shape)}{_origin(root)}; give its gradient, or "
                    "sum() it first"
                )
            if root.requires_grad and not root.is_floating_point():
                raise RuntimeError(
                    "grad can be implicitly created only for real scalar outputs but got "
                    f"{root.dtype}"
                )
            grads.append(fb.ones_like(root, memory_format=fb.preserve_format))
            continue
        if not isinstance(value, Tensor):
            raise TypeError(
                "gradients can be either Tensors or None, but got " + type(value).__name__
            )
        if isinstance(root, Tensor) and value.shape != root.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{i}] has a shape of {tuple(value.shape)} and "
                f"output[{i}] has a shape of {tuple(root.shape)}{_origin(root)}."
            )
        if isinstance(root, Tensor) and value.is_complex() != root.is_complex():
            raise RuntimeError(
                "For complex Tensors, both grad_output and output are required to have the same "
                f"dtype. Mismatch in dtype: grad_output[{i}] has a dtype of {value.dtype} and "
                f"output[{i}] has a dtype of {root.dtype}."
            )
        grads.append(value)
    return tuple(grads)
