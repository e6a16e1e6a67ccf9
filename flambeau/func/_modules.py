"""Modules as functions of their parameters."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor

__all__ = ["functional_call", "stack_module_state"]

_MISSING = object()


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other tensors in place of its parameters and buffers.

    Args:
        module: The module; it stays as it is.
        parameter_and_buffer_dicts: Tensors by path, or a sequence of such dicts.
        args: Argument, or tuple of arguments, of the call. Default: none.
        kwargs: Keyword arguments of the call. Default: none.
        tie_weights: Whether a tensor with several names is exchanged under all of them.
            Default: True.
        strict: Whether every parameter and buffer must be given. Default: False.

    Example:
        >>> layer = nn.Linear(2, 1, bias=False)
        >>> torch.func.functional_call(layer, {"weight": torch.ones(1, 2)}, torch.ones(2))
        tensor([2.])

    See also:
        `torch.func.stack_module_state`.
    """
    given = _merged(parameter_and_buffer_dicts)
    values = _with_ties(module, given) if tie_weights else given
    if strict:
        _check_names(module, values)
    positional = () if args is None else args if isinstance(args, tuple) else (args,)
    with _exchanged(module, values):
        return module(*positional, **(kwargs or {}))


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Stack the parameters and buffers of several models of one kind.

    Args:
        models: The models.

    Returns:
        Two dicts by path: parameters, and buffers, each with a new first dimension.

    Example:
        >>> params, buffers = torch.func.stack_module_state([nn.Linear(2, 1) for _ in range(3)])
        >>> params["weight"].shape
        torch.Size([3, 1, 2])
    """
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if any(m.training != models[0].training for m in models):
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    params = [dict(m.named_parameters()) for m in models]
    buffers = [dict(m.named_buffers()) for m in models]
    return (
        {k: _stacked([p[k] for p in params]) for k in params[0]},
        {k: _stacked([b[k] for b in buffers]) for k in buffers[0]},
    )


def _stacked(tensors: list[Tensor]) -> Tensor:
    needs_grad = tensors[0].requires_grad
    if any(t.requires_grad != needs_grad for t in tensors):
        raise RuntimeError(
            "Expected parameters from different models to have the same .requires_grad setting"
        )
    return fb.stack([t.detach() for t in tensors]).requires_grad_(needs_grad)


def _merged(dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence) or not all(isinstance(d, dict) for d in dicts):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(dicts)}"
        )
    merged: dict[str, Tensor] = {}
    for each in dicts:
        repeated = sorted(merged.keys() & each.keys())
        if repeated:
            raise ValueError(f"{repeated} appear in multiple dictionaries; behavior is ambiguous.")
        merged |= each
    return merged


def _named(module: Any) -> Iterator[tuple[str, Tensor]]:
    """Every parameter and buffer, under all of its names."""
    for kind in ("_parameters", "_buffers"):
        for name, value in getattr(module, kind, {}).items():
            if value is not None:
                yield name, value
    for child_name, child in getattr(module, "_modules", {}).items():
        if child is not None:
            for name, value in _named(child):
                yield f"{child_name}.{name}", value


def _with_ties(module: Any, given: dict[str, Tensor]) -> dict[str, Tensor]:
    names: dict[int, list[str]] = {}
    for name, value in _named(module):
        names.setdefault(id(value), []).append(name)
    values = dict(given)
    for tied in names.values():
        new = [given[name] for name in tied if name in given]
        if any(value is not new[0] for value in new):
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(tied)}, which are tied. "
                "Consider using tie_weights=False"
            )
        if new:
            values.update(dict.fromkeys(tied, new[0]))
    return values


def _check_names(module: Any, values: dict[str, Tensor]) -> None:
    known = {name for name, _ in _named(module)}
    unexpected, missing = sorted(values.keys() - known), sorted(known - values.keys())
    complaints = [f"Unexpected key(s): {', '.join(map(repr, unexpected))}."] if unexpected else []
    complaints += [f"Missing key(s): {', '.join(map(repr, missing))}."] if missing else []
    if complaints:
        raise RuntimeError(
            f"Error(s) in reparametrizing for {type(module).__name__}:\n\t"
            + "\n\t".join(complaints)
        )


@contextlib.contextmanager
def _exchanged(module: Any, values: dict[str, Tensor]) -> Iterator[None]:
    """The module with other tensors, until the block is left."""
    before: list[tuple[dict[str, Any], str, Any]] = []
    try:
        for name, value in values.items():
            home, short = _home_of(module, name)
            before.append((home, short, home.get(short, _MISSING)))
            home[short] = value
        yield
    finally:
        for home, short, value in reversed(before):
            if value is _MISSING:
                del home[short]
            else:
                home[short] = value


def _home_of(module: Any, name: str) -> tuple[dict[str, Any], str]:
    """The dictionary that holds a parameter or buffer, and its name there.

    A name that the module does not know is an attribute for the time of the call.
    """
    *path, short = name.split(".")
    owner = module
    for part in path:
        if part not in owner._modules:
            raise AttributeError(f"{type(owner).__name__} has no attribute `{part}`")
        owner = owner._modules[part]
    for kind in ("_parameters", "_buffers"):
        if short in getattr(owner, kind, {}):
            return getattr(owner, kind), short
    attributes: dict[str, Any] = owner.__dict__
    return attributes, short
