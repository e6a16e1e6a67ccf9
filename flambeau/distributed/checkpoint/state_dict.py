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
    """The state of a model, by the names of the model itself; of some submodules, if given."""
    options = _checked(options)
    inner = _inner(model)
    state = dict(inner.state_dict())
    if options.ignore_frozen_params:
        frozen = {name for name, each in inner.named_parameters() if not each.requires_grad}
        state = {name: value for name, value in state.items() if name not in frozen}
    return _of_submodules(state, inner, submodules, options)


def _of_submodules(
    state: dict[str, Any], model: Module, submodules: set[Module] | None, options: StateDictOptions
) -> dict[str, Any]:
    """The part of a state that belongs to some modules, under their own names if that is asked."""
    if not submodules:
        return state
    prefixes = [f"{name}." for name, each in model.named_modules() if each in submodules]
    return {
        name if options.keep_submodule_prefixes else name.removeprefix(prefix): value
        for prefix in prefixes
        for name, value in state.items()
        if name.startswith(prefix)
    }


def set_model_state_dict(
    model: Module, model_state_dict: dict[str, Any], *, options: StateDictOptions | None = None
) -> Any:
    """Load such a state; returns the names that did not fit."""
    strict = _checked(options).strict
    return _inner(model).load_state_dict(model_state_dict, strict=strict)


def get_optimizer_state_dict(
    model: Module,
    optimizers: Optimizer | Iterable[Optimizer],
    *,
    submodules: set[Module] | None = None,
    options: StateDictOptions | None = None,
) -> dict[str, Any]:
    """The state of optimisers, by the names of parameters."""
    options = _checked(options)
    if submodules:
        raise NotImplementedError(
            "get_optimizer_state_dict: the state of all parameters is given; leave out submodules"
        )
    state: dict[str, Any] = {"state": {}, "param_groups": []}
    for optimizer in _several(optimizers):
        names = _names(model, optimizer)
        numbered = optimizer.state_dict()
        state["state"].update({names[key]: value for key, value in numbered["state"].items()})
        for group in numbered["param_groups"]:
            renamed = group | {"params": [names[number] for number in group["params"]]}
            state["param_groups"].append(renamed)
    return _flat(state) if options.flatten_optimizer_state_dict else state


def set_optimizer_state_dict(
    model: Module,
    optimizers: Optimizer | Iterable[Optimizer],
    optim_state_dict: dict[str, Any],
    *,
    options: StateDictOptions | None = None,
) -> None:
    """Load such a state."""
    several = _several(optimizers)
    if _checked(options).flatten_optimizer_state_dict:
        optim_state_dict = _nested(optim_state_dict, model, several)
    groups = list(optim_state_dict["param_groups"])
    for optimizer in several:
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


def _flat(state: dict[str, Any]) -> dict[str, Any]:
    """A state without nesting: ``state.weight.exp_avg`` and ``param_groups.weight.lr``."""
    flat = {
        f"state.{name}.{key}": value
        for name, values in state["state"].items()
        for key, value in values.items()
    }
    for group in state["param_groups"]:
        for name in group["params"]:
            flat |= {f"param_groups.{name}.{k}": v for k, v in group.items() if k != "params"}
    return flat


def _nested(flat: dict[str, Any], model: Module, optimizers: list[Optimizer]) -> dict[str, Any]:
    """The opposite of ``_flat``, for the groups that the optimisers have."""
    state: dict[str, Any] = {}
    groups = []
    for optimizer in optimizers:
        names = iter(_names(model, optimizer).values())
        for group in optimizer.param_groups:
            members = [next(names) for _ in group["params"]]
            for name in members:
                prefix = f"state.{name}."
                found = {k.removeprefix(prefix): v for k, v in flat.items() if k.startswith(prefix)}
                state |= {name: found} if found else {}
            settings = {
                key: flat.get(f"param_groups.{members[0]}.{key}", value)
                for key, value in group.items()
                if key != "params"
            }
            groups.append(settings | {"params": members})
    return {"state": state, "param_groups": groups}


def get_state_dict(
    model: Module,
    optimizers: Optimizer | Iterable[Optimizer],
    *,
    submodules: set[Module] | None = None,
    options: StateDictOptions | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both states."""
    return (
        get_model_state_dict(model, submodules=submodules, options=options),
        get_optimizer_state_dict(model, optimizers, submodules=submodules, options=options),
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


def _checked(options: StateDictOptions | None) -> StateDictOptions:
    """The options; those about processes and devices change nothing for one process on a CPU."""
    options = options or StateDictOptions()
    if options.broadcast_from_rank0 and not options.full_state_dict:
        raise ValueError("full_state_dict must be True when broadcast_from_rank0 is True.")
    return options


def _inner(model: Module) -> Module:
    return model.module if isinstance(model, DistributedDataParallel) else model


def _several(optimizers: Optimizer | Iterable[Optimizer]) -> list[Optimizer]:
    return [optimizers] if isinstance(optimizers, Optimizer) else list(optimizers)


def _names(model: Module, optimizer: Optimizer) -> dict[int, str]:
    """The names of an optimiser's parameters by their numbers in its state dict."""
    by_identity = {id(parameter): name for name, parameter in _inner(model).named_parameters()}
    ordered = [each for group in optimizer.param_groups for each in group["params"]]
    return {number: by_identity[id(each)] for number, each in enumerate(ordered)}
