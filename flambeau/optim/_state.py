"""The state of an optimiser as a dictionary in PyTorch's form, and back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from copy import deepcopy
from itertools import chain
from typing import TYPE_CHECKING, Any

import flambeau as fb
from flambeau import Tensor

if TYPE_CHECKING:
    from flambeau.optim.optimizer import Optimizer

__all__ = ["cast_state", "load_state_dict", "state_dict"]


def state_dict(optimizer: Optimizer) -> dict[str, Any]:
    """Number the parameters through all groups; state and groups name them by their numbers."""
    for hook in optimizer._optimizer_state_dict_pre_hooks.values():
        hook(optimizer)
    numbers: dict[int, int] = {}
    groups = []
    first = 0
    for group in optimizer.param_groups:
        packed = {key: value for key, value in group.items() if key != "params"}
        for number, param in enumerate(group["params"], first):
            numbers.setdefault(id(param), number)
        packed["params"] = [numbers[id(param)] for param in group["params"]]
        first += len(group["params"])
        groups.append(packed)
    state = {
        numbers[id(key)] if isinstance(key, Tensor) else key: value
        for key, value in optimizer.state.items()
    }
    result: dict[str, Any] = {"state": state, "param_groups": groups}
    for hook in optimizer._optimizer_state_dict_post_hooks.values():
        changed = hook(optimizer, result)
        if changed is not None:
            result = changed
    return result


def load_state_dict(optimizer: Optimizer, given: dict[str, Any]) -> None:
    """Give each parameter the state that its number has."""
    given = given.copy()
    for hook in optimizer._optimizer_load_state_dict_pre_hooks.values():
        changed = hook(optimizer, given)
        if changed is not None:
            given = changed
    saved = deepcopy(given["param_groups"])
    _check_groups(optimizer.param_groups, saved)
    params = dict(
        zip(
            chain.from_iterable(group["params"] for group in saved),
            chain.from_iterable(group["params"] for group in optimizer.param_groups),
            strict=True,
        )
    )
    state: defaultdict[Any, Any] = defaultdict(dict)
    for key, value in given["state"].items():
        if key in params:
            group = _group_of(key, given["param_groups"])
            state[params[key]] = cast_state(params[key], value, group)
        else:
            state[key] = value
    for group, loaded in zip(optimizer.param_groups, saved, strict=True):
        loaded["params"] = group["params"]
        if "param_names" in group:
            loaded.setdefault("param_names", group["param_names"])
    optimizer.__setstate__({"state": state, "param_groups": saved})
    for hook in optimizer._optimizer_load_state_dict_post_hooks.values():
        hook(optimizer)


def _check_groups(groups: list[dict[str, Any]], saved: list[dict[str, Any]]) -> None:
    if len(groups) != len(saved):
        raise ValueError(
            "loaded state dict has a different number of parameter groups: "
            f"expected {len(groups)}, got {len(saved)}"
        )
    for number, (group, loaded) in enumerate(zip(groups, saved, strict=True)):
        if len(group["params"]) != len(loaded["params"]):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                f"optimizer's group: group {number} has {len(group['params'])} parameters, "
                f"the loaded one {len(loaded['params'])}"
            )


def _group_of(number: Any, groups: list[dict[str, Any]]) -> dict[str, Any]:
    return next(group for group in groups if number in group["params"])


def cast_state(param: Tensor, value: Any, group: dict[str, Any], key: Any = None) -> Any:
    """Copy a state, with tensors in the parameter's type if that is a floating one.

    Numbers of steps keep their type: a float16 cannot count to 3000.
    """
    if isinstance(value, Tensor):
        if key == "step":
            if group.get("capturable") or group.get("fused"):
                return value.to(dtype=fb.float32, device=param.device)
            return value
        if param.is_floating_point():
            return value.to(dtype=param.dtype, device=param.device)
        return value.to(device=param.device)
    if isinstance(value, dict):
        return {name: cast_state(param, each, group, name) for name, each in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        kind: Any = type(value)
        return kind(cast_state(param, each, group) for each in value)
    return value
