"""The state of an optimiser by the names of parameters, and back, in whole or in part."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

from flambeau import Tensor
from flambeau.optim._state import cast_state, state_dict

if TYPE_CHECKING:
    from flambeau.optim.optimizer import Optimizer

__all__ = ["IncompatibleState", "load_named_state_dict", "named_state_dict"]

_Named = Iterable[tuple[str, Tensor]]


class IncompatibleState(NamedTuple):
    """What did not fit: names of parameters, and the two shapes of those that were reshaped."""

    missing: list[str]
    unexpected: list[str]
    reshaped: list[tuple[str, tuple[int, ...], tuple[int, ...]]]


def named_state_dict(optimizer: Optimizer, named: _Named | None) -> dict[str, Any]:
    """PyTorch's state dict with names in the place of numbers, and the shapes of parameters."""
    names = _names(optimizer, named)
    numbered = state_dict(optimizer)
    by_number = [name for group in names for name in group]
    groups = [
        {key: value for key, value in group.items() if key != "param_names"} | {"params": list(own)}
        for group, own in zip(numbered["param_groups"], names, strict=True)
    ]
    state = {
        by_number[key] if isinstance(key, int) else key: value
        for key, value in numbered["state"].items()
    }
    shapes = {
        name: tuple(param.shape)
        for group, own in zip(optimizer.param_groups, names, strict=True)
        for name, param in zip(own, group["params"], strict=True)
    }
    return {"state": state, "param_groups": groups, "shapes": shapes}


def load_named_state_dict(
    optimizer: Optimizer, given: dict[str, Any], named: _Named | None, *, strict: bool
) -> IncompatibleState:
    """Give each parameter the state that its name has, and each group the options of its own."""
    names = _names(optimizer, named)
    saved = _by_name(given)
    params = {
        name: param
        for group, own in zip(optimizer.param_groups, names, strict=True)
        for name, param in zip(own, group["params"], strict=True)
    }
    faults = _compare(params, saved)
    if strict and any(faults):
        raise RuntimeError(_describe(optimizer, faults))
    reshaped = {name for name, _, _ in faults.reshaped}
    holders = {name: group for group in saved["param_groups"] for name in group["params"]}
    state: defaultdict[Any, Any] = defaultdict(dict, optimizer.state)
    for name, value in saved["state"].items():
        if name in params and name not in reshaped:
            state[params[name]] = cast_state(params[name], value, holders[name])
        elif name not in params and name not in holders:
            state[name] = value  # not of a parameter
    groups = [
        _loaded_group(group, own, holders)
        for group, own in zip(optimizer.param_groups, names, strict=True)
    ]
    optimizer.__setstate__({"state": state, "param_groups": groups})
    for hook in optimizer._optimizer_load_state_dict_post_hooks.values():
        hook(optimizer)
    return faults


def _names(optimizer: Optimizer, named: _Named | None) -> list[list[str]]:
    """The names of the parameters of every group."""
    if named is None:
        if all("param_names" in group for group in optimizer.param_groups):
            return [group["param_names"] for group in optimizer.param_groups]
        raise ValueError(
            "the optimizer does not know the names of its parameters: make it of "
            "`model.named_parameters()`, or pass these as `named_parameters`"
        )
    known = {id(param): name for name, param in named}
    params = [param for group in optimizer.param_groups for param in group["params"]]
    nameless = [tuple(param.shape) for param in params if id(param) not in known]
    if nameless:
        raise ValueError(
            f"`named_parameters` does not have {len(nameless)} of the {len(params)} parameters of "
            f"the optimizer; their shapes: {nameless}"
        )
    return [[known[id(param)] for param in group["params"]] for group in optimizer.param_groups]


def _by_name(given: dict[str, Any]) -> dict[str, Any]:
    """A state dict by name, also of PyTorch's that has the names beside the numbers."""
    if "shapes" in given:
        return given
    groups = given["param_groups"]
    if not all("param_names" in group for group in groups):
        raise ValueError(
            "the state dict does not have the names of parameters: it was neither returned by "
            "`named_state_dict` nor by an optimizer that was made of `model.named_parameters()`"
        )
    names = {
        number: name
        for group in groups
        for number, name in zip(group["params"], group["param_names"], strict=True)
    }
    return {
        "state": {names.get(key, key): value for key, value in given["state"].items()},
        "param_groups": [group | {"params": group["param_names"]} for group in groups],
        "shapes": {},
    }


def _compare(params: dict[str, Tensor], saved: dict[str, Any]) -> IncompatibleState:
    listed = [name for group in saved["param_groups"] for name in group["params"]]
    reshaped = []
    for name in listed:
        if name in params:
            expected = tuple(params[name].shape)
            shape = saved["shapes"].get(name) or _shape_of_state(saved["state"].get(name), expected)
            if tuple(shape) != expected:
                reshaped.append((name, expected, tuple(shape)))
    known = set(listed)
    return IncompatibleState(
        [name for name in params if name not in known],
        [name for name in listed if name not in params],
        reshaped,
    )


def _shape_of_state(state: Any, expected: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a parameter as its state shows it; what it should be if it does not show it."""
    tensors = [value for value in (state or {}).values() if isinstance(value, Tensor)]
    return next((tuple(each.shape) for each in tensors if each.dim() > 0), expected)


def _loaded_group(
    group: dict[str, Any], names: list[str], holders: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """A group with the options of the saved group that its parameters were in.

    Where they were in several, it keeps its own.
    """
    found = {id(holders[name]): holders[name] for name in names if name in holders}
    if len(found) != 1:
        return group
    (holder,) = found.values()
    options = {k: v for k, v in holder.items() if k not in ("params", "param_names")}
    return group | deepcopy(options)


def _describe(optimizer: Optimizer, faults: IncompatibleState) -> str:
    lines = [f"Error(s) in loading state by name for {type(optimizer).__name__}:"]
    if faults.missing:
        lines.append(f"Missing parameter(s) in the state dict: {_listed(faults.missing)}.")
    if faults.unexpected:
        lines.append(f"Unexpected parameter(s) in the state dict: {_listed(faults.unexpected)}.")
    for name, expected, shape in faults.reshaped:
        lines.append(f'shape of "{name}": expected {expected}, got {shape} from the state dict.')
    lines.append("Pass strict=False to load what fits.")
    return "\n\t".join(lines)


def _listed(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
