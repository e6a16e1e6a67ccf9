"""An optimiser for a while with other parameters and another state than its own."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from flambeau import Tensor
from flambeau.optim.optimizer import Optimizer

__all__ = ["swap_in_optimizer_params_and_state"]


@contextlib.contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer,
    swapin_parameters: dict[str, Tensor],
    swapin_optim_state: dict[str, Any],
) -> Iterator[None]:
    """Within the block the optimiser acts on the given parameters, with the given state.

    Parameters come in the order of the optimiser's own, the state as `state_dict` has it. Tensors
    are changed in place; what else the optimiser does is forgotten at the end of the block.
    """
    _check_state(optimizer, swapin_optim_state)
    state, groups = swapin_optim_state["state"], swapin_optim_state["param_groups"]
    parameters = _by_number(list(swapin_parameters.values()), groups)
    _check(
        state.keys() <= parameters.keys(),
        f"the state belongs to no parameter: {sorted(state.keys() - parameters.keys(), key=str)}",
    )
    own_state = optimizer.state
    own_groups = [dict(group) for group in optimizer.param_groups]
    try:
        for group, given in zip(optimizer.param_groups, groups, strict=True):
            group.update(given, params=[parameters[number] for number in given["params"]])
        optimizer.state = defaultdict(dict)
        for number, parameter in parameters.items():
            optimizer.state[parameter] = dict(state.get(number, {}))
        yield
    finally:
        for group, own in zip(optimizer.param_groups, own_groups, strict=True):
            group.clear()
            group.update(own)
        optimizer.state = own_state


def _check(holds: bool, message: str) -> None:
    if not holds:
        raise RuntimeError(f"swap_in_optimizer_params_and_state: {message}")


def _check_state(optimizer: Optimizer, given: Any) -> None:
    """Refuse what is no state dict of an optimiser with the same groups."""
    _check(bool(optimizer.state), "the optimizer has no state yet; let it make a step first")
    _check(isinstance(given, dict), f"expected a state dict, but got a {type(given).__name__}")
    state, groups = given.get("state"), given.get("param_groups")
    _check(
        isinstance(state, dict) and isinstance(groups, list),
        "expected a state dict with a dict 'state' and a list 'param_groups'",
    )
    _check(
        all(isinstance(number, int) and isinstance(each, dict) for number, each in state.items()),
        "expected in 'state' a dict for the number of each parameter",
    )
    _check(
        len(groups) == len(optimizer.param_groups),
        f"the optimizer has {len(optimizer.param_groups)} parameter groups, but "
        f"'param_groups' {len(groups)}",
    )
    for group, own in zip(groups, optimizer.param_groups, strict=True):
        _check_group(group, own)


def _check_group(group: Any, own: dict[str, Any]) -> None:
    numbers: Any = group.get("params") if isinstance(group, dict) else None
    _check(
        isinstance(numbers, list) and all(isinstance(number, int) for number in numbers),
        "expected in 'param_groups' dicts with a list of numbers under 'params'",
    )
    _check(
        len(numbers) == len(own["params"]),
        f"a group of the optimizer has {len(own['params'])} parameters, but {len(numbers)} "
        "are given",
    )
    _check(
        group.keys() == own.keys(),
        f"the options of a group differ in {sorted(group.keys() ^ own.keys())}",
    )


def _by_number(parameters: list[Tensor], groups: list[dict[str, Any]]) -> dict[int, Tensor]:
    numbers = [number for group in groups for number in group["params"]]
    _check(
        len(numbers) <= len(parameters),
        f"the optimizer has {len(numbers)} parameters, but {len(parameters)} are given",
    )
    return dict(zip(numbers, parameters, strict=False))
