"""State dicts of models and optimisers with the names that a single process would use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from flambeau.nn import Module
from flambeau.nn.parallel import DistributedDataParallel
from flambeau.optim import Optimizer

__all__ = [
    "StateDictOptions",
    "get_model_state_dict",
    "get_optimizer_state_dict",
    "get_state_dict",
    "set_model_state_dict",
    "set_optimizer_state_dict",
    "set_state_dict",
]


@dataclass
class StateDictOptions:
    """What a state dict holds, and how it is loaded."""

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"


def get_model_state_dict(
    model: Module, *, submodules: set[Module] | None = None, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """The state of a model, by the names of the model itself."""
    inner = _inner(model)
    state = dict(inner.state_dict())
    if options is not None and options.ignore_frozen_params:
        frozen = {name for name, each in inner.named_parameters() if not each.requires_grad}
        state = {name: value for name, value in state.items() if name not in frozen}
    return state


def set_model_state_dict(
    model: Module, model_state_dict: dict[str, Any], *, options: StateDictOptions | None = None
) -> Any:
    """Load such a state; returns the names that did not fit."""
    strict = options is None or options.strict
    return _inner(model).load_state_dict(model_state_dict, strict=strict)


def get_optimizer_state_dict(
    model: Module,
    optimizers: Optimizer | Iterable[Optimizer],
    *,
    submodules: set[Module] | None = None,
    options: StateDictOptions | None = None,
) -> dict[str, Any]:
    """The state of optimisers, by the names of parameters."""
    state: dict[str, Any] = {"state": {}, "param_groups": []}
    for optimizer in _several(optimizers):
        names = _names(model, optimizer)
        numbered = optimizer.state_dict()
        state["state"].update({names[key]: value for key, value in numbered["state"].items()})
        for group in numbered["param_groups"]:
            renamed = group | {"params": [names[number] for number in group["params"]]}
            state["param_groups"].append(renamed)
    return state


def set_optimizer_state_dict(
    model: Module,
    optimizers: Optimizer | Iterable[Optimizer],
    optim_state_dict: dict[str, Any],
    *,
    options: StateDictOptions | None = None,
) -> None:
    """Load such a state."""
    groups = list(optim_state_dict["param_groups"])
    for optimizer in _several(optimizers):
        numbers = {name: number for number, name in _names(model, optimizer).items()}
        own, groups = groups[: len(optimizer.param_groups)], groups[len(optimizer.param_groups) :]
        optimizer.load_state_dict(
            {
                "state": {
                    numbers[name]: value
                    for name, value in optim_state_dict["state"].items()
                    if name in numbers
                },
                "param_groups": [
                    group | {"params": [numbers[name] for name in group["params"]]} for group in own
                ],
            }
        )


def get_state_dict(
    model: Module, optimizers: Optimizer | Iterable[Optimizer], **options: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both states."""
    return (
        get_model_state_dict(model, **options),
        get_optimizer_state_dict(model, optimizers, **options),
    )


def set_state_dict(
    model: Module,
    optimizers: Optimizer | Iterable[Optimizer],
    *,
    model_state_dict: dict[str, Any],
    optim_state_dict: dict[str, Any],
    options: StateDictOptions | None = None,
) -> Any:
    """Load both states; returns the names that did not fit."""
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return set_model_state_dict(model, model_state_dict, options=options)


def _inner(model: Module) -> Module:
    return model.module if isinstance(model, DistributedDataParallel) else model


def _several(optimizers: Optimizer | Iterable[Optimizer]) -> list[Optimizer]:
    return [optimizers] if isinstance(optimizers, Optimizer) else list(optimizers)


def _names(model: Module, optimizer: Optimizer) -> dict[int, str]:
    """The names of an optimiser's parameters by their numbers in its state dict."""
    by_identity = {id(parameter): name for name, parameter in _inner(model).named_parameters()}
    ordered = [each for group in optimizer.param_groups for each in group["params"]]
    return {number: by_identity[id(each)] for number, each in enumerate(ordered)}
